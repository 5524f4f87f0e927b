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
export function demoMembers(): MemberImport[] {
  return BIRDS.flatMap((bird, row) =>
    COLOURS.map((colour, column) => {
      const index = row * COLOURS.length + column;
      return index === 0 ? demoMember() : otherMember(index, colour, bird);
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

function otherMember(index: number, colour: string, bird: string): MemberImport {
  const name = `${colour}.${bird}`;
  const domain = DOMAINS[index % 3];
  const previous = [`${bird}.${colour}@${DOMAINS[index % 2]}`, `${colour}-${bird}@${domain}`];
  return {
    memberId: `demo-${String(index + 1).padStart(3, '0')}`,
    address: address(`${index % 5 === 0 ? name : name.toLowerCase()}@${domain}`),
    previousAddresses: previous
      .slice(0, Math.max(0, (index % 5) - 2))
      .map((each) => address(each.toLowerCase())),
    ...(index % 20 !== 7 && { firstName: colour }),
    ...(index % 10 !== 3 && { lastName: bird }),
    enrollments: enrollmentsOf(index),
  };
}

/**
 * External IDs count upwards with the first partner and downwards with the others, so that one ID
 * belongs to two members with two partners.
 */
function enrollmentsOf(index: number): MemberImport['enrollments'] {
  return DEMO_PARTNERS.flatMap(({ partnerId }, at) => {
    if (index % 3 !== at && (index + at) % 5 > 1) return [];
    const number = at === 0 ? 1_001 + index : 1_200 - index;
    return [
      {
        partnerId,
        ...((index + at) % 6 > 0 && { externalId: String(number) }),
        status: (index + at) % 8 > 0 ? ('ACTIVE' as const) : ('ENDED' as const),
      },
    ];
  });
}

function address(typed: string): MemberImport['address'] {
  return { typed, canonical: typed.toLowerCase() };
}
