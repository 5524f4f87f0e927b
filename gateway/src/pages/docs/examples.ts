// The examples of the reference, one for each operation: what is sent, and what was answered.
import { parse, print } from 'graphql';
import type { SurfaceName } from '../../schema/surfaces.ts';

export type Example = {
  surface: SurfaceName;
  /** The root field that it shows. */
  field: string;
  query: string;
  variables: Readonly<Record<string, unknown>>;
};

const EMAIL = 'Teal.Heron@example.com';
const MEMBER = '{ memberId email firstName externalId tier points }';
const PAGE = 'pageInfo { hasNextPage endCursor }';
/** Stands for the token of a link that was mailed. */
export const TOKEN = 'ml_TOKEN_OF_THE_LINK';

/** In the order in which they are recorded: an example may need what one before it did. */
export const EXAMPLES: readonly Example[] = [
  ...ofSurface('partner', {
    viewer: [
      'query Viewer { viewer { partnerId partnerName scopes expiresAt budget windowSeconds environment } }',
    ],
    memberByEmail: [
      `query MemberByEmail($email: String!) { memberByEmail(email: $email) ${MEMBER} }`,
      { email: EMAIL },
    ],
    memberByExternalId: [
      `query MemberByExternalId($externalId: String!) {
        memberByExternalId(externalId: $externalId) ${MEMBER}
      }`,
      { externalId: '1001' },
    ],
    memberById: [
      `query MemberById($memberId: ID!) {
        memberById(memberId: $memberId) {
          memberId
          standing { tier tierValidUntil points nextTier pointsToNextTier yearEnd }
          activities(first: 2) { edges { node { activityId points stays occurredAt } } ${PAGE} }
        }
      }`,
      { memberId: 'demo-001' },
    ],
    memberLookups: [
      `query MemberLookups($keys: [MemberKey!]!) {
        memberLookups(keys: $keys) { status member { memberId tier points } }
      }`,
      { keys: [{ email: EMAIL }, { externalId: '1001' }, { memberId: 'unknown' }] },
    ],
    members: [
      `query Members($first: Int, $after: String, $updatedSince: DateTime) {
        members(first: $first, after: $after, updatedSince: $updatedSince, status: null) {
          edges { memberId status updatedAt node { externalId tier points } }
          ${PAGE}
        }
      }`,
      { first: 2, after: null, updatedSince: '2026-01-01T00:00:00Z' },
    ],
    node: [
      `query Node($id: ID!) { node(id: $id) { id ... on PartnerMemberRead { tier points } } }`,
      { id: 'demo-001' },
    ],
    program: [
      'query Program { program { membershipYearStart timeZone tierValidity tiers { name points } } }',
    ],
    enrollMember: [
      `mutation EnrollMember($input: EnrollMemberInput!) {
        enrollMember(input: $input) { created member ${MEMBER} }
      }`,
      { input: { email: 'ada@example.com', externalId: 'guest-4711', firstName: 'Ada' } },
    ],
    inviteMember: [
      'mutation InviteMember($input: EnrollMemberInput!) { inviteMember(input: $input) { accepted } }',
      { input: { email: 'grace@example.com', externalId: 'guest-4712' } },
    ],
    changeExternalId: [
      `mutation ChangeExternalId($memberId: ID!, $externalId: String) {
        changeExternalId(memberId: $memberId, externalId: $externalId) { memberId externalId }
      }`,
      { memberId: 'demo-001', externalId: 'guest-1001' },
    ],
    updateMember: [
      `mutation UpdateMember($memberId: ID!, $input: UpdateMemberInput!) {
        updateMember(memberId: $memberId, input: $input) { memberId firstName lastName }
      }`,
      { memberId: 'demo-001', input: { lastName: 'Heron-Grey' } },
    ],
    recordActivities: [
      `mutation RecordActivities($activities: [ActivityInput!]!) {
        recordActivities(activities: $activities) { activityId outcome argument }
      }`,
      {
        activities: [
          {
            activityId: 'stay-2026-000123',
            memberId: 'demo-003',
            points: 240,
            stays: 1,
            occurredAt: '2026-11-20T11:00:00Z',
          },
        ],
      },
    ],
    endEnrollment: [
      'mutation EndEnrollment($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }',
      { memberId: 'demo-002' },
    ],
    events: [
      `query Events($first: Int, $after: String, $types: [EventType!]) {
        events(first: $first, after: $after, types: $types) {
          edges { node { id type occurredAt memberId externalId points tierBefore tierAfter } }
          ${PAGE}
        }
      }`,
      { first: 2, after: null, types: null },
    ],
    requestMagicLink: [
      'mutation RequestMagicLink($email: String!) { requestMagicLink(email: $email) { accepted } }',
      { email: EMAIL },
    ],
    exchangeMagicLink: [
      `mutation ExchangeMagicLink($token: String!) {
        exchangeMagicLink(token: $token) { memberId idToken expiresAt }
      }`,
      { token: TOKEN },
    ],
  }),
  ...ofSurface('member', {
    memberProfile: [
      `query MemberProfile($id: ID!) {
        memberProfile(id: $id) {
          memberId email firstName
          membershipYearStats { akinPoints totalStays }
          standings { partnerName tier points nextTier pointsToNextTier }
        }
      }`,
      { id: 'demo-001' },
    ],
    requestEmailChange: [
      'mutation RequestEmailChange($email: String!) { requestEmailChange(email: $email) { accepted } }',
      { email: 'teal@example.org' },
    ],
    confirmEmailChange: [
      'mutation ConfirmEmailChange($token: String!) { confirmEmailChange(token: $token) { memberId email } }',
      { token: TOKEN },
    ],
    updateProfile: [
      `mutation UpdateProfile($input: UpdateProfileInput!) {
        updateProfile(input: $input) { memberId firstName lastName }
      }`,
      { input: { firstName: 'Teal', lastName: null } },
    ],
  }),
];

/** One that fails. */
export const ERROR_EXAMPLE: Example = {
  surface: 'partner',
  field: 'error',
  query: print(
    parse('query UnknownMember($email: String!) { memberByEmail(email: $email) { tier } }'),
  ),
  variables: { email: 'nobody@example.com' },
};

/** The key of its response in responses.generated.json. */
export function exampleKey({ surface, field }: Pick<Example, 'surface' | 'field'>): string {
  return `${surface}.${field}`;
}

function ofSurface(
  surface: SurfaceName,
  all: Record<string, [query: string, variables?: Example['variables']]>,
): Example[] {
  return Object.entries(all).map(([field, [query, variables = {}]]) => ({
    surface,
    field,
    query: print(parse(query)),
    variables,
  }));
}
