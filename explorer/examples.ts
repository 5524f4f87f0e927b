// The operations that the explorer offers to begin with.
import { type GraphQLSchema, parse, print, validate } from 'graphql';
import type { Credential } from './credential.ts';

export type Example = { title: string; query: string; variables: Record<string, unknown> };

const EMAIL = 'Teal.Heron@example.com';

const PARTNER: Example[] = [
  example(
    'A member by email',
    `query MemberByEmail($email: String!) {
    memberByEmail(email: $email) { memberId email firstName lastName tier points }
  }`,
    { email: EMAIL },
  ),
  example(
    'Standing and activities',
    `
  query Standing($email: String!, $first: Int = 5) {
    memberByEmail(email: $email) {
      standing {
        partnerName tier tierValidUntil points nextTier pointsToNextTier yearEnd
        previousYear { tier points }
      }
      activities(first: $first) {
        edges { node { occurredAt points stays } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }`,
    { email: EMAIL },
  ),
  example(
    'Many members at once',
    `
  query Lookups($keys: [MemberKey!]!) {
    memberLookups(keys: $keys) { status member { memberId tier points } }
  }`,
    { keys: [{ email: EMAIL }, { externalId: 'nobody-has-this' }] },
  ),
  example(
    'Your tiers',
    `query Program {
    program { membershipYearStart timeZone tierValidity tiers { name points } }
  }`,
  ),
  example(
    'Members who changed',
    `
  query Members($updatedSince: DateTime, $after: String, $first: Int = 20) {
    members(updatedSince: $updatedSince, after: $after, first: $first, status: null) {
      edges { memberId status updatedAt node { tier points } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
    { updatedSince: '2026-01-01T00:00:00Z' },
  ),
  example(
    'Enroll a member',
    `mutation Enroll($input: EnrollMemberInput!) {
    enrollMember(input: $input) { created member { memberId tier points } }
  }`,
    {
      input: { email: 'ada@example.com', externalId: '4711', firstName: 'Ada' },
    },
  ),
  example(
    'Mail a sign-in link',
    `mutation SignIn($email: String!) {
    requestMagicLink(email: $email) { accepted }
  }`,
    { email: EMAIL },
  ),
];

const memberExamples = (id: string): Example[] => [
  example(
    'Your profile',
    `query Profile($id: ID!) {
    memberProfile(id: $id) {
      memberId email firstName lastName
      membershipYearStats { akinPoints totalStays }
      partnerStandings { partnerId tier points }
    }
  }`,
    { id },
  ),
  example(
    'Standings and activities',
    `query Standings($id: ID!) {
    memberProfile(id: $id) {
      standings { partnerName tier tierValidUntil points nextTier pointsToNextTier }
      activities(first: 5) { edges { node { partnerId occurredAt points } } }
    }
  }`,
    { id },
  ),
];

/** The query is shown as the explorer formats those of its callers. */
function example(title: string, text: string, variables: Example['variables'] = {}): Example {
  return { title, query: print(parse(text)), variables };
}

/** Those that fit the schema, which may have changed since they were written. */
export function examplesFor(
  kind: Credential['kind'],
  memberId: string,
  schema: GraphQLSchema | undefined,
): Example[] {
  const examples = kind === 'partner' ? PARTNER : memberExamples(memberId);
  return examples.filter(
    ({ query }) => schema === undefined || validate(schema, parse(query)).length === 0,
  );
}
