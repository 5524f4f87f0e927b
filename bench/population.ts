// The members every variant answers about: computed from a number, so that a store, a file and an expected answer always agree.

/** The fixed part of what is asked; `NUMBER` stands where a member's number goes. */
export const NUMBER = '#######';
export const PARTNER = 'bench';

export const PROGRAM = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [
    { name: 'Blue', points: 0 },
    { name: 'Silver', points: 1_000 },
    { name: 'Gold', points: 5_000 },
    { name: 'Platinum', points: 15_000 },
  ],
};

/** `memberByEmail` with all six fields: a members fetch, then a standings fetch. */
export const HOT_QUERY =
  'query($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';

export type Answer = {
  memberId: string;
  email: string;
  firstName: string;
  lastName: string;
  tier: string;
  points: number;
};

/** A member's number as it stands in ids and addresses: always 7 digits, so that every request has the same length. */
export const digits = (index: number): string => String(index).padStart(NUMBER.length, '0');
export const memberIdOf = (index: number): string => `m-${digits(index)}`;
export const emailOf = (index: number): string => `member${digits(index)}@bench.example`;
export const externalIdOf = (index: number): string => `x-${digits(index)}`;
export const pointsOf = (index: number): number => (index * 37) % 20_000;

/** The right answer about a member. */
export function answerOf(index: number): Answer {
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

/** A look-up of several members in one document, as aliases `a0`, `a1`, ... */
export function aliasedQuery(count: number): string {
  const names = Array.from({ length: count }, (_, index) => index);
  const variables = names.map((index) => `$e${index}: String!`).join(' ');
  const fields = names.map(
    (index) =>
      `a${index}: memberByEmail(email: $e${index}) { memberId email firstName lastName tier points }`,
  );
  return `query(${variables}) { ${fields.join(' ')} }`;
}
