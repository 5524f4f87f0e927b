// The demo's members, their addresses and their enrollments.
import type { MemberImport } from '@partner-loyalty/members';
import { DEMO_PARTNERS } from './partners.ts';

/** The member of the printed curl command: Gold with the first partner, with 5,200 points. */
export const DEMO_MEMBER = {
  memberId: 'demo-001',
  email: 'Teal.Heron@example.com',
  previousEmail: 'heron.teal@example.net',
  points: [4_000, 1_500, -300],
};

const COLOURS = [
  'Teal Indigo Crimson Ochre Azure Umber Cobalt Maroon Magenta Cyan',
  'Beige Mauve Russet Khaki Lilac Turquoise Copper Silver Lime Orange',
].flatMap((names) => names.split(' '));
const BIRDS = 'Heron Osprey Plover Godwit Avocet Bittern Dunlin Curlew Gannet Puffin'.split(' ');
const DOMAINS = ['example.com', 'example.net', 'example.org'];

/** 200 members, named after each pair of a colour and a bird. */
export function demoMembers(random: () => number): MemberImport[] {
  return BIRDS.flatMap((bird, row) =>
    COLOURS.map((colour, column) => {
      const index = row * COLOURS.length + column;
      return index === 0 ? demoMember() : randomMember(index, colour, bird, random);
    }),
  );
}

function demoMember(): MemberImport {
  return {
    memberId: DEMO_MEMBER.memberId,
    address: address(DEMO_MEMBER.email),
    previousAddresses: [address(DEMO_MEMBER.previousEmail)],
    firstName: 'Teal',
    lastName: 'Heron',
    enrollments: [
      { partnerId: 'demo-hotels', externalId: '1001', status: 'ACTIVE' },
      { partnerId: 'demo-trains', status: 'ACTIVE' },
      { partnerId: 'demo-coffee', externalId: '1200', status: 'ENDED' },
    ],
  };
}

function randomMember(
  index: number,
  colour: string,
  bird: string,
  random: () => number,
): MemberImport {
  const name = `${colour}.${bird}`;
  const domain = pick(DOMAINS, random);
  const previous = [
    `${bird}.${colour}@${pick(DOMAINS, random)}`.toLowerCase(),
    `${colour}-${bird}@${domain}`.toLowerCase(),
  ];
  return {
    memberId: `demo-${String(index + 1).padStart(3, '0')}`,
    address: address(`${random() < 0.2 ? name : name.toLowerCase()}@${domain}`),
    previousAddresses: previous.slice(0, Math.max(0, Math.floor(random() * 5) - 2)).map(address),
    ...(random() < 0.95 && { firstName: colour }),
    ...(random() < 0.9 && { lastName: bird }),
    enrollments: randomEnrollments(index, random),
  };
}

/**
 * External IDs count upwards with the first partner and downwards with the others, so that one ID
 * belongs to two members with two partners.
 */
function randomEnrollments(index: number, random: () => number): MemberImport['enrollments'] {
  const home = Math.floor(random() * DEMO_PARTNERS.length);
  return DEMO_PARTNERS.flatMap(({ partnerId }, at) => {
    if (at !== home && random() < 0.6) return [];
    const number = at === 0 ? 1_001 + index : 1_200 - index;
    return [
      {
        partnerId,
        ...(random() < 0.8 && { externalId: String(number) }),
        status: random() < 0.12 ? ('ENDED' as const) : ('ACTIVE' as const),
      },
    ];
  });
}

function address(typed: string): MemberImport['address'] {
  return { typed, canonical: typed.toLowerCase() };
}

/** Returns numbers from 0 to 1, the same for the same seed (Mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)] as T; // Cast: the index is below the length.
}
