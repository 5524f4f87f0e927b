// The demo's partners, members and activities: the same at every start but for the dates, which lie in the current and the last membership year.
import type { MemberImport } from '@partner-loyalty/members';
import { type DatedActivity, type Program, yearOf } from '@partner-loyalty/standings';

export type DemoPartner = { partnerId: string; name: string; program: Program };
export type DemoData = {
  partners: DemoPartner[];
  members: MemberImport[];
  activities: DatedActivity[];
};

export const DEMO_PARTNERS: readonly DemoPartner[] = [
  {
    partnerId: 'demo-hotels',
    name: 'Demo Hotels',
    program: {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: [
        { name: 'Blue', points: 0 },
        { name: 'Silver', points: 1_000 },
        { name: 'Gold', points: 5_000 },
        { name: 'Platinum', points: 15_000 },
      ],
    },
  },
  {
    partnerId: 'demo-trains',
    name: 'Demo Trains',
    program: {
      membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
      tiers: [
        { name: 'Basic', points: 0 },
        { name: 'Plus', points: 2_500 },
        { name: 'Prime', points: 10_000 },
      ],
    },
  },
  {
    partnerId: 'demo-coffee',
    name: 'Demo Coffee',
    program: {
      membershipYear: { start: '10-15', timeZone: 'America/New_York' },
      tiers: [
        { name: 'Bean', points: 0 },
        { name: 'Roast', points: 800 },
        { name: 'Crema', points: 3_000 },
      ],
    },
  },
];

/** The member that the printed curl asks for: Gold with the first partner, 5,200 points. */
export const DEMO_MEMBER = {
  memberId: 'demo-001',
  email: 'Teal.Heron@example.com',
  earlierEmail: 'heron.teal@example.net',
  points: [4_000, 1_500, -300],
};

const COLOURS =
  'Teal Indigo Crimson Ochre Azure Umber Cobalt Maroon Magenta Cyan Beige Mauve Russet Khaki Lilac Turquoise Copper Silver Lime Orange'.split(
    ' ',
  );
const BIRDS = 'Heron Osprey Plover Godwit Avocet Bittern Dunlin Curlew Gannet Puffin'.split(' ');
const DOMAINS = ['example.com', 'example.net', 'example.org'];
const DAY_MS = 86_400_000;

/** 3 partners, 200 members and their activities as of `now`. Two calls differ in nothing but the activities' times. */
export function demoData(now: Date): DemoData {
  const random = generator(20_260_701);
  const members = BIRDS.flatMap((bird, row) =>
    COLOURS.map((colour, column) => member(row * COLOURS.length + column, colour, bird, random)),
  );
  const activities = DEMO_PARTNERS.flatMap((partner) =>
    activitiesOf(partner, members, now, random),
  );
  return { partners: [...DEMO_PARTNERS], members, activities };
}

function member(index: number, colour: string, bird: string, random: () => number): MemberImport {
  if (index === 0) return demoMember();
  const name = `${colour}.${bird}`;
  const domain = pick(DOMAINS, random);
  const earlier = [
    `${bird}.${colour}@${pick(DOMAINS, random)}`.toLowerCase(),
    `${colour}-${bird}@${domain}`.toLowerCase(),
  ];
  return {
    memberId: `demo-${String(index + 1).padStart(3, '0')}`,
    address: address(`${random() < 0.2 ? name : name.toLowerCase()}@${domain}`),
    previousAddresses: earlier.slice(0, Math.max(0, Math.floor(random() * 5) - 2)).map(address),
    firstName: random() < 0.95 ? colour : undefined,
    lastName: random() < 0.9 ? bird : undefined,
    enrollments: enrollments(index, random),
  };
}

function demoMember(): MemberImport {
  return {
    memberId: DEMO_MEMBER.memberId,
    address: address(DEMO_MEMBER.email),
    previousAddresses: [address(DEMO_MEMBER.earlierEmail)],
    firstName: 'Teal',
    lastName: 'Heron',
    enrollments: [
      { partnerId: 'demo-hotels', externalId: '1001', status: 'ACTIVE' },
      { partnerId: 'demo-trains', status: 'ACTIVE' },
      { partnerId: 'demo-coffee', externalId: '1200', status: 'ENDED' },
    ],
  };
}

// External IDs count upwards with the first partner and downwards with the others, so that one ID is two members' under two partners.
function enrollments(index: number, random: () => number): MemberImport['enrollments'] {
  const home = Math.floor(random() * DEMO_PARTNERS.length);
  return DEMO_PARTNERS.flatMap(({ partnerId }, at) => {
    if (at !== home && random() < 0.6) return [];
    const number = at === 0 ? 1_001 + index : 1_200 - index;
    const externalId = random() < 0.8 ? String(number) : undefined;
    return [
      { partnerId, externalId, status: random() < 0.12 ? ('ENDED' as const) : ('ACTIVE' as const) },
    ];
  });
}

function activitiesOf(
  { partnerId, program }: DemoPartner,
  members: MemberImport[],
  now: Date,
  random: () => number,
): DatedActivity[] {
  const thisYear = daysIntoYear(program, now);
  const scale = program.tiers.at(-1)?.points ?? 0;
  return members.flatMap(({ memberId = '', enrollments }) => {
    if (
      memberId.endsWith('8') ||
      !enrollments.some((enrollment) => enrollment.partnerId === partnerId)
    )
      return [];
    const fixed = memberId === DEMO_MEMBER.memberId && partnerId === DEMO_PARTNERS[0]?.partnerId;
    const earned = fixed ? DEMO_MEMBER.points : earnings(scale, random);
    const before = earnings(scale, random);
    const activity = (points: number, index: number, daysAgo: number): DatedActivity => {
      const occurredAt = new Date(now.getTime() - Math.floor(daysAgo * DAY_MS));
      const year = yearOf(program, occurredAt);
      const activityId = `${memberId}-${partnerId}-${year}-${index + 1}`;
      return {
        activityId,
        partnerId,
        memberId,
        points,
        stays: points > 0 ? 1 : 0,
        occurredAt,
        year,
      };
    };
    return [
      ...earned.map((points, index) =>
        activity(points, index, (thisYear * (earned.length - index)) / (earned.length + 1)),
      ),
      ...before.map((points, index) => activity(points, index, thisYear + 1 + random() * 300)),
    ];
  });
}

/** Nothing in one case of five, else up to six activities, the last one now and then a reversal. */
function earnings(scale: number, random: () => number): number[] {
  if (random() < 0.2) return [];
  const points = Array.from(
    { length: 1 + Math.floor(random() * 6) },
    () => 10 * Math.ceil((random() * scale) / 40),
  );
  const [first = 0] = points;
  return random() < 0.15 ? [...points, -first] : points;
}

/** How many whole days back the current membership year still goes. */
function daysIntoYear(program: Program, now: Date): number {
  const year = yearOf(program, now);
  let days = 0;
  while (yearOf(program, new Date(now.getTime() - (days + 1) * DAY_MS)) === year) days += 1;
  return days;
}

function address(typed: string): { typed: string; canonical: string } {
  return { typed, canonical: typed.toLowerCase() };
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)] as T; // An index below the length of a list that is not empty.
}

/** Mulberry32: the same numbers from 0 to 1 for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
