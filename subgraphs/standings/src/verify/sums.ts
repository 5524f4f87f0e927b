// Whether the standings of members are what their activities add up to.
import { isDeepStrictEqual } from 'node:util';
import { compareTexts, textOf } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { Activity } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import { type MemberStanding, NO_ACTIVITY } from '../rules/standing.ts';
import { yearOf } from '../rules/year.ts';
import { activitiesAt, activitiesOf } from '../store/member.ts';
import {
  MEMBER_ACTIVITIES,
  MEMBERS,
  type MemberRow,
  PROGRAMS,
  standingsIn,
} from '../store/tables.ts';

/** How often what does not add up is read again, since activities may be recorded meanwhile. */
const ATTEMPTS = 5;

/** By the text of the partner and the year. */
type Sums = Map<string, MemberStanding>;

/** Walks over members and their activities side by side: both are in the order of members' IDs. */
export async function checkSums(store: Store, inspection: Inspection): Promise<void> {
  const yearIn = createYears(store);
  const rows = rowsIn(store);
  let next = await rows.next();
  const checkRowsBefore = async (memberId?: string) => {
    for (; !next.done && isBefore(next.value.memberId, memberId); next = await rows.next())
      await check(next.value.memberId, new Map(), next.value.row);
  };
  const check = async (memberId: string, sums: Sums, row?: MemberRow) => {
    if (row?.into !== undefined || problemsOf(sums, row).length > 0)
      await checkNow(store, memberId, yearIn, inspection);
  };
  for await (const { memberId, sums } of sumsIn(store, yearIn, inspection)) {
    await checkRowsBefore(memberId);
    const row = next.done || next.value.memberId !== memberId ? undefined : next.value.row;
    await check(memberId, sums, row);
    if (row !== undefined) next = await rows.next();
  }
  await checkRowsBefore();
}

function isBefore(one: string, other: string | undefined): boolean {
  return other === undefined || compareTexts(textOf([one]), textOf([other])) < 0;
}

async function* rowsIn(store: Store) {
  for await (const page of pagesOf(store, MEMBERS))
    for (const { key, row } of page) yield { memberId: String(key[0]), row };
}

type YearIn = (activity: Activity) => Promise<string>;

/** The membership years of activities. Each program is read once. */
function createYears(store: Store): YearIn {
  const programs = new Map<string, Program | undefined>();
  return async ({ partnerId, occurredAt }) => {
    if (!programs.has(partnerId)) programs.set(partnerId, await store.get(PROGRAMS, [partnerId]));
    return yearOf(programs.get(partnerId), occurredAt);
  };
}

/** What the activities of each member add up to. Reports partners that do not exist. */
async function* sumsIn(store: Store, yearIn: YearIn, { report, hasPartner }: Inspection) {
  let member: { memberId: string; sums: Sums } | undefined;
  for await (const page of pagesOf(store, MEMBER_ACTIVITIES)) {
    const keys = page.map(({ key }) => key);
    for (const activity of await activitiesAt(store, keys)) {
      const { memberId, partnerId } = activity;
      if (member?.memberId !== memberId) {
        if (member !== undefined) yield member;
        member = { memberId, sums: new Map() };
      }
      if (await addTo(member.sums, activity, yearIn))
        if (!(await hasPartner(partnerId)))
          report(
            `member ${memberId}`,
            `an activity is with partner ${partnerId}, which does not exist`,
          );
    }
  }
  if (member !== undefined) yield member;
}

/** Whether it is the first activity with its partner in its year. */
async function addTo(sums: Sums, activity: Activity, yearIn: YearIn): Promise<boolean> {
  const { partnerId, points, stays } = activity;
  const year = await yearIn(activity);
  const text = textOf([partnerId, year]);
  const sum = sums.get(text) ?? NO_ACTIVITY;
  const isFirst = !sums.has(text);
  sums.set(text, { partnerId, year, points: sum.points + points, stays: sum.stays + stays });
  return isFirst;
}

/** Reads a member until nothing has changed in between. */
async function checkNow(
  store: Store,
  memberId: string,
  yearIn: YearIn,
  { report }: Inspection,
): Promise<void> {
  const read = (id: string) => store.view((tx) => tx.peek(MEMBERS, [id]));
  let problems: string[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const row = await read(memberId);
    if (row?.into !== undefined) {
      const isKnown = (await read(row.into))?.merged?.includes(memberId) === true;
      problems = isKnown ? [] : [`is part of member ${row.into}, where it is missing`];
    } else {
      const sums: Sums = new Map();
      for await (const activity of activitiesOf(store, memberId))
        await addTo(sums, activity, yearIn);
      problems = problemsOf(sums, row);
    }
    if (problems.length === 0) return;
    if (attempt > 1 && isDeepStrictEqual(row, await read(memberId))) break;
  }
  for (const problem of problems) report(`member ${memberId}`, problem);
}

function problemsOf(sums: Sums, row: MemberRow | undefined): string[] {
  const stored: Sums = new Map(
    standingsIn(row).map((one) => [textOf([one.partnerId, one.year]), one]),
  );
  return [...new Map([...stored, ...sums])].flatMap(([text, { partnerId, year }]) => {
    const problem = problemOf(sums.get(text), stored.get(text));
    return problem ? `the standing with partner ${partnerId} in ${year} ${problem}` : [];
  });
}

function problemOf(expected?: MemberStanding, found?: MemberStanding): string | undefined {
  if (expected === undefined) return 'has sums, but no activities';
  if (found === undefined) return 'has activities, but no sums';
  if (found.points === expected.points && found.stays === expected.stays) return undefined;
  return (
    `has ${found.points} points and ${found.stays} stays, ` +
    `but its activities add up to ${expected.points} and ${expected.stays}`
  );
}
