// The operations of the mix: five reads and two mutations, with how often each of them is sent.
import {
  type ExpectedMember,
  emailOf,
  expectedMember,
  memberIdOf,
  PLACEHOLDER,
} from './population.ts';

/** Members have smaller numbers; those from this on do not exist. */
export const UNKNOWN = 9_000_000;

export type Operation = {
  name: string;
  query: string;
  /** How many of 100 reads, or of 100 mutations. */
  weight: number;
  /** How many members it is about. */
  count: number;
  variables(members: readonly number[]): Record<string, unknown>;
};

/** A read, whose look-ups have these names in the answer and select these fields. */
export type Read = Operation & {
  names: readonly string[];
  fields: readonly (keyof ExpectedMember)[];
};

const ALL_FIELDS = ['memberId', 'email', 'firstName', 'lastName', 'tier', 'points'] as const;
const TEN = Array.from({ length: 10 }, (_, index) => `a${index}`);

const ONE: Pick<Read, 'names' | 'count' | 'variables'> = {
  names: ['memberByEmail'],
  count: 1,
  variables: ([member = 0]) => ({ email: emailOf(member) }),
};

export const READS: readonly Read[] = [
  {
    ...ONE,
    name: 'Alone',
    weight: 40,
    query: one('Alone', ALL_FIELDS.join(' ')),
    fields: ALL_FIELDS,
  },
  {
    ...ONE,
    name: 'Standing',
    weight: 20,
    query: one('Standing', 'tier points'),
    fields: ['tier', 'points'],
  },
  {
    ...ONE,
    name: 'Identity',
    weight: 20,
    query: one('Identity', 'memberId firstName lastName'),
    fields: ['memberId', 'firstName', 'lastName'],
  },
  {
    name: 'Two',
    weight: 15,
    count: 2,
    query:
      'query Two($first: String!, $second: String!) { first: memberByEmail(email: $first) { ...Read } second: memberByEmail(email: $second) { ...Read } } fragment Read on PartnerMemberRead { memberId email tier points }',
    names: ['first', 'second'],
    fields: ['memberId', 'email', 'tier', 'points'],
    variables: ([first = 0, second = 0]) => ({ first: emailOf(first), second: emailOf(second) }),
  },
  {
    name: 'Ten',
    weight: 5,
    count: 10,
    query: `query Ten(${TEN.map((name) => `$${name}: String!`).join(' ')}) { ${TEN.map(
      (name) => `${name}: memberByEmail(email: $${name}) { ${ALL_FIELDS.join(' ')} }`,
    ).join(' ')} }`,
    names: TEN,
    fields: ALL_FIELDS,
    variables: (members) =>
      Object.fromEntries(TEN.map((name, index) => [name, emailOf(members[index] ?? 0)])),
  },
];

export const MUTATIONS: readonly Operation[] = [
  {
    // Again, which changes nothing: partners repeat what they are not sure of.
    name: 'Enroll',
    weight: 50,
    count: 1,
    query:
      'mutation Enroll($input: EnrollMemberInput!) { enrollMember(input: $input) { created member { memberId tier points } } }',
    variables: ([member = 0]) => ({ input: { email: emailOf(member) } }),
  },
  {
    // The generator puts another number in each time, so that each is a write.
    name: 'Change',
    weight: 50,
    count: 1,
    query:
      'mutation Change($memberId: ID!, $externalId: String) { changeExternalId(memberId: $memberId, externalId: $externalId) { memberId externalId } }',
    variables: ([member = 0]) => ({
      memberId: memberIdOf(member),
      externalId: `y-${PLACEHOLDER}`,
    }),
  },
];

/** What a read about these members must answer. */
export function expectedData({ names, fields }: Read, members: readonly number[]) {
  return Object.fromEntries(
    names.map((name, index) => [name, expectedFields(members[index] ?? 0, fields)]),
  );
}

function expectedFields(member: number, fields: Read['fields']) {
  if (member >= UNKNOWN) return null;
  const all = expectedMember(member);
  return Object.fromEntries(fields.map((field) => [field, all[field]]));
}

function one(name: string, fields: string): string {
  return `query ${name}($email: String!) { memberByEmail(email: $email) { ${fields} } }`;
}
