// The demo's activities, in the current membership year and the one before.
import type { MemberImport } from '@partner-loyalty/members';
import { type DatedActivity, type Program, yearOf } from '@partner-loyalty/standings';
import { DEMO_MEMBER } from './members.ts';
import { DEMO_PARTNERS, type DemoPartner } from './partners.ts';

const DAY_MS = 86_400_000;

/** The activities of the members with the partners that they are or were enrolled with. */
export function demoActivities(members: readonly MemberImport[], now: Date): DatedActivity[] {
  return DEMO_PARTNERS.flatMap((partner) => {
    const daysThisYear = daysIntoYear(partner.program, now);
    return members
      .filter((member) => isActive(member, partner))
      .flatMap(({ memberId = '' }) => activitiesOf(memberId, partner, now, daysThisYear));
  });
}

/** Members whose ID ends in 8 have no activity. */
function isActive({ memberId = '', enrollments }: MemberImport, { partnerId }: DemoPartner) {
  return (
    !memberId.endsWith('8') && enrollments.some((enrollment) => enrollment.partnerId === partnerId)
  );
}

function activitiesOf(
  memberId: string,
  { partnerId, program }: DemoPartner,
  now: Date,
  daysThisYear: number,
): DatedActivity[] {
  const activity = (points: number, index: number, daysAgo: number): DatedActivity => {
    const occurredAt = new Date(now.getTime() - Math.floor(daysAgo * DAY_MS));
    const year = yearOf(program, occurredAt);
    const activityId = `${memberId}-${partnerId}-${year}-${index + 1}`;
    const stays = points > 0 ? 1 : 0;
    return { activityId, partnerId, memberId, points, stays, occurredAt, year };
  };
  const topTier = program.tiers.at(-1)?.points ?? 0;
  const isDemoMember =
    memberId === DEMO_MEMBER.memberId && partnerId === DEMO_PARTNERS[0]?.partnerId;
  const number = Number(memberId.slice(-3));
  const thisYear = isDemoMember ? DEMO_MEMBER.points : somePoints(number, topTier);
  const lastYear = somePoints(number + 4, topTier);
  return [
    ...thisYear.map((points, index) =>
      activity(points, index, (daysThisYear * (thisYear.length - index)) / (thisYear.length + 1)),
    ),
    ...lastYear.map((points, index) => activity(points, index, daysThisYear + 1 + 50 * index)),
  ];
}

/** The points of up to 6 activities; some end with a reversal. */
function somePoints(number: number, topTier: number): number[] {
  const points = Array.from(
    { length: number % 7 },
    (_, index) => 10 * (1 + ((37 * number + 53 * index) % (topTier / 20))),
  );
  const [first] = points;
  return first !== undefined && number % 6 === 0 ? [...points, -first] : points;
}

/** How many whole days ago the current membership year began. */
function daysIntoYear(program: Program, now: Date): number {
  const year = yearOf(program, now);
  let days = 0;
  while (yearOf(program, new Date(now.getTime() - (days + 1) * DAY_MS)) === year) days += 1;
  return days;
}
