// The benchmark's members, computed from their numbers for stores, files and expected answers.

export const PARTNER = 'bench';

/** Stands for a member's number in a request template. */
export const PLACEHOLDER = '#######';

/** How many members the subgraphs in memory have. */
export const MEMORY_MEMBERS = 100_000;

export const PROGRAM = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [
    { name: 'Blue', points: 0 },
    { name: 'Silver', points: 1_000 },
    { name: 'Gold', points: 5_000 },
    { name: 'Platinum', points: 15_000 },
  ],
};

/** `memberByEmail` with all six fields: a fetch from members, then one from standings. */
export const LOOKUP_QUERY =
  'query($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';

export type ExpectedMember = {
  memberId: string;
  email: string;
  firstName: string;
  lastName: string;
  tier: string;
  points: number;
};

/** A member's number in IDs and addresses, always of 7 digits: all requests are equally long. */
export const memberNumber = (index: number): string =>
  String(index).padStart(PLACEHOLDER.length, '0');
export const memberIdOf = (index: number): string => `m-${memberNumber(index)}`;
export const emailOf = (index: number): string => `member${memberNumber(index)}@bench.example`;
/** The partners of runs with several; the first one is that of all other runs. */
export const partnerIdOf = (index: number): string =>
  index === 0 ? PARTNER : `${PARTNER}-${index}`;
export const externalIdOf = (index: number): string => `x-${memberNumber(index)}`;
export const pointsOf = (index: number): number => (index * 37) % 20_000;

/** The member that a look-up must answer. */
export function expectedMember(index: number): ExpectedMember {
  const points = pointsOf(index);
  const tier = PROGRAM.tiers.findLast((each) => each.points <= points)?.name ?? '';
  return {
    memberId: memberIdOf(index),
    email: emailOf(index),
    firstName: `First${index}`,
    lastName: `Last${index}`,
    tier,
    points,
  };
}
