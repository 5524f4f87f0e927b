// Requests that every deployment of the service must answer in the same way, in this order.
import type { ApiRequest } from '../service/client.ts';
import type { DeployedService } from '../service/stack.ts';

export type NamedRequest = {
  name: string;
  request: (
    service: Pick<DeployedService, 'keys' | 'provider'>,
  ) => ApiRequest | Promise<ApiRequest>;
};

const READ = '{ memberId email firstName lastName tier points }';
const BY_EMAIL = `query ($email: String!) { memberByEmail(email: $email) ${READ} }`;
const BY_EXTERNAL_ID = `query ($externalId: String!) { memberByExternalId(externalId: $externalId) ${READ} }`;
const ENROLL = `mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created member ${READ} } }`;
const END = 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }';
const CHANGE = `mutation ($memberId: ID!, $externalId: String) { changeExternalId(memberId: $memberId, externalId: $externalId) { externalId points } }`;
const HISTORY = `{ memberProfile(id: "m-both") { standings { partnerName partnerId points tier nextTier yearEnd } activities(first: 2) { edges { node { partnerId points } } pageInfo { hasNextPage } } } }`;
const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  memberId email firstName lastName membershipYearStats { akinPoints totalStays } partnerStandings { partnerId tier points } } }`;

const LOOK_UPS = `query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { status member { externalId tier points memberId } } }`;
const KEYS = [
  { memberId: 'm-both' },
  { email: 'nobody@example.com' },
  { externalId: 'alpha-2' },
  { email: 'no address' },
  { memberId: 'm-beta' },
  { email: 'BOTH.earlier@example.net', memberId: null },
  { externalId: 'beta-7' },
  { memberId: 'm-both' },
];

const RECORD = `mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { activityId outcome argument } }`;
const activity = (activityId: string, memberId: string, points: unknown = 5) => ({
  activityId,
  memberId,
  points,
  occurredAt: '2019-05-04T18:30:00Z',
});

const ACTIVITIES = `edges { node { activityId partnerId points stays membershipYear } } pageInfo { hasNextPage hasPreviousPage }`;

const asAlpha = (
  name: string,
  query: string,
  variables: Record<string, unknown> = {},
  more: ApiRequest = {},
): NamedRequest => ({
  name,
  request: () => ({ query, variables, ...more }),
});
const asPartner = (
  name: string,
  partner: 'beta' | 'gamma',
  query: string,
  variables: Record<string, unknown>,
): NamedRequest => ({
  name,
  request: ({ keys }) => ({ query, variables, key: keys[partner] }),
});
const asMember = (
  name: string,
  member: string,
  query: string,
  variables: Record<string, unknown> = {},
  claims = {},
): NamedRequest => ({
  name,
  request: async ({ provider }) => ({
    query,
    variables,
    token: await provider.issue(member, claims),
  }),
});

/**
 * Later requests depend on the changes of earlier ones. None creates a member, since its id would
 * be random.
 */
export const REQUESTS: NamedRequest[] = [
  asAlpha('a member by address', BY_EMAIL, { email: 'both@example.com' }),
  asAlpha('a member by an earlier address, in capitals', BY_EMAIL, {
    email: 'BOTH.EARLIER@EXAMPLE.NET',
  }),
  asAlpha('a member by external ID', BY_EXTERNAL_ID, { externalId: 'alpha-2' }),
  asPartner('the same external ID with another partner', 'beta', BY_EXTERNAL_ID, {
    externalId: 'shared-1',
  }),
  asPartner('a member of a partner without a program', 'gamma', BY_EMAIL, {
    email: 'ended@example.com',
  }),
  asAlpha('an unknown member', BY_EMAIL, { email: 'unknown@example.com' }),
  asAlpha('a member of another partner', BY_EMAIL, { email: 'beta.only@example.com' }),
  asAlpha('an ended enrollment', BY_EMAIL, { email: 'ended@example.com' }),
  asAlpha('a string that is not an address', BY_EMAIL, { email: 'nobody' }),
  asAlpha(
    'fields of the members subgraph only',
    '{ memberByEmail(email: "both@example.com") { email firstName } }',
  ),
  asAlpha(
    'fields of the standings subgraph only',
    '{ memberByEmail(email: "both@example.com") { points } }',
  ),
  asAlpha('only the id', '{ memberByEmail(email: "both@example.com") { memberId } }'),
  asAlpha(
    'only the type name',
    '{ memberByEmail(email: "both@example.com") { __typename } __typename }',
  ),
  asAlpha(
    'ten look-ups, some of which fail',
    `{ a: memberByEmail(email: "both@example.com") ${READ} b: memberByEmail(email: "unknown@example.com") ${READ}
       c: memberByExternalId(externalId: "shared-1") ${READ} d: memberByExternalId(externalId: "") ${READ}
       e: memberByEmail(email: "alpha.only@example.com") { tier } f: memberByEmail(email: "alpha.only@example.com") { memberId }
       g: memberByExternalId(externalId: "beta-7") { points } h: memberByEmail(email: "both.earlier@example.net") { email points }
       i: __typename j: memberByEmail(email: "both@example.com") { one: tier two: tier three: points } }`,
  ),
  asAlpha('a member by ID', `{ memberById(memberId: "m-both") ${READ} }`),
  asAlpha('a member of another partner by ID', `{ memberById(memberId: "m-beta") ${READ} }`),
  asAlpha('an external ID', '{ memberByEmail(email: "both@example.com") { externalId } }'),
  asAlpha('look-ups by keys of every kind, some of which find nobody', LOOK_UPS, { keys: KEYS }),
  asAlpha(
    'look-ups by literal keys',
    `{ memberLookups(keys: [{ email: "both@example.com" }, { memberId: "m-beta" }, { externalId: "alpha-2" }]) { member ${READ} } }`,
  ),
  asAlpha(
    'nodes of which one is not enrolled',
    `{ a: node(id: "m-both") { __typename id ... on PartnerMemberRead { memberId tier standing { points } } }
       b: node(id: "m-beta") { id ... on PartnerMemberRead { points } } }`,
  ),
  asAlpha(
    'look-ups by keys of which some are variables',
    `query ($email: String) { memberLookups(keys: [{ email: $email }, { memberId: "m-alpha" }]) { member ${READ} } }`,
    { email: 'both@example.com' },
  ),
  asAlpha(
    'look-ups by one key that is no list',
    `{ memberLookups(keys: { memberId: "m-both" }) { member ${READ} } }`,
  ),
  asAlpha(
    'standings and activities of several members',
    `query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member {
       standing { partnerId partnerName tier points stays nextTier pointsToNextTier yearStart yearEnd tierFrom tierValidUntil previousYear { points } } activities(first: 1) { ${ACTIVITIES} } } } }`,
    { keys: KEYS },
  ),
  asAlpha(
    'a page of activities beside one that is refused',
    `{ a: memberById(memberId: "m-both") { activities { ${ACTIVITIES} } }
       b: memberById(memberId: "m-both") { points activities(after: "none") { ${ACTIVITIES} } } }`,
  ),
  asAlpha('look-ups by a malformed key', LOOK_UPS, { keys: [...KEYS, {}] }),
  asAlpha('too many look-ups in a list', LOOK_UPS, { keys: Array(101).fill(KEYS[0]) }),
  asAlpha(
    'fragments, conditions and aliases',
    `query ($email: String!, $yes: Boolean!, $no: Boolean = false) {
       ...Look  again: memberByEmail(email: $email) { ...Who @include(if: $yes) ... @skip(if: $no) { points } tier @include(if: $no) } }
     fragment Look on Query { first: memberByEmail(email: $email) { ...Who tier } }
     fragment Who on PartnerMemberRead { who: memberId email }`,
    { email: 'both@example.com', yes: true },
  ),
  asAlpha(
    'a look-up that is skipped',
    '{ memberByEmail(email: "both@example.com") @skip(if: true) { tier } }',
  ),
  asAlpha(
    'a variable with a default',
    'query ($email: String! = "both@example.com") { memberByEmail(email: $email) { points } }',
  ),
  asAlpha(
    'a look-up and introspection in one operation',
    '{ __type(name: "Query") { name } memberByEmail(email: "both@example.com") { points } }',
  ),
  asAlpha(
    'one of two operations, by name',
    `query A { __typename } query B { memberByEmail(email: "both@example.com") { tier } }`,
    {},
    { operationName: 'B' },
  ),
  asAlpha('an external ID with characters of many kinds', BY_EXTERNAL_ID, {
    externalId: 'ü "漢字" \\ 😀 </script> __proto__ $where',
  }),
  asAlpha('an over-long address', BY_EMAIL, { email: `${'x'.repeat(300)}@example.com` }),
  asAlpha('a variable of the wrong type', BY_EMAIL, { email: ['both@example.com'] }),
  asAlpha('a misspelt field', '{ memberByEmail(email: "both@example.com") { teir } }'),
  asAlpha('a syntax error', '{ memberByEmail('),
  asAlpha('too many look-ups', `{ ${Array.from({ length: 11 }, (_, n) => `a${n}: __typename`)} }`),
  asPartner('enrolling an existing member', 'gamma', ENROLL, {
    input: { email: 'Both.Earlier@example.net', externalId: 'g-1', firstName: 'Other' },
  }),
  asPartner('enrolling again', 'gamma', ENROLL, { input: { email: 'both@example.com' } }),
  asPartner('an external ID that another member has', 'gamma', ENROLL, {
    input: { email: 'alpha.only@example.com', externalId: 'g-1' },
  }),
  asPartner('the enrolled member by external ID', 'gamma', BY_EXTERNAL_ID, { externalId: 'g-1' }),
  asMember('a profile', 'm-both', PROFILE, { id: 'm-both' }),
  asMember(
    'a profile with a token that a partner exchanged',
    'm-both',
    PROFILE,
    { id: 'm-both' },
    { azp: 'beta' },
  ),
  asMember('standings and activities', 'm-both', HISTORY),
  asMember('these with a token that a partner exchanged', 'm-both', HISTORY, {}, { azp: 'beta' }),
  asMember("another member's profile", 'm-both', PROFILE, { id: 'm-beta' }),
  asMember('a profile of a member without enrollments', 'm-nobody', PROFILE, { id: 'm-nobody' }),
  asMember(
    'some fields of a profile',
    'm-both',
    '{ memberProfile(id: "m-both") { partnerStandings { points } again: partnerStandings { tier } } }',
  ),
  asMember('a look-up with an ID token', 'm-both', BY_EMAIL, { email: 'both@example.com' }),
  asPartner('changing an external ID', 'gamma', CHANGE, { memberId: 'm-both', externalId: 'g-2' }),
  asPartner('the member by the former external ID', 'gamma', BY_EXTERNAL_ID, { externalId: 'g-1' }),
  asPartner('the member by the new external ID', 'gamma', BY_EXTERNAL_ID, { externalId: 'g-2' }),
  asPartner('an external ID of another member', 'gamma', CHANGE, {
    memberId: 'm-both',
    externalId: 'gamma-4',
  }),
  asPartner('taking an external ID away', 'gamma', CHANGE, { memberId: 'm-both' }),
  asPartner('changing it back', 'gamma', CHANGE, { memberId: 'm-both', externalId: 'g-1' }),
  asPartner('ending an enrollment', 'gamma', END, { memberId: 'm-both' }),
  asPartner('ending it again', 'gamma', END, { memberId: 'm-both' }),
  asPartner('the member whose enrollment has ended', 'gamma', BY_EXTERNAL_ID, {
    externalId: 'g-1',
  }),
  asPartner(
    'several mutations in one request, executed in order',
    'gamma',
    `mutation { a: enrollMember(input: { email: "alpha.only@example.com", externalId: "g-1" }) { created member { memberId points } }
       b: enrollMember(input: { email: "both@example.com", externalId: "g-1" }) { created }
       c: endEnrollment(memberId: "m-alpha") { memberId }
       d: enrollMember(input: { email: "both@example.com", externalId: "g-1" }) { created member { memberId tier } }
       e: endEnrollment(memberId: "m-both") { memberId }  f: endEnrollment(memberId: "m-both") { memberId } }`,
    {},
  ),
  asAlpha('recording activities with every outcome', RECORD, {
    activities: [
      activity('t-1', 'm-both'),
      activity('t-1', 'm-both'),
      activity('t-1', 'm-both', 6),
      activity('t-2', 'm-both', 1_000_000_001),
      activity('t-3', 'm-beta'),
      activity('t-4', 'm-ended'),
      activity('t-5', '\u0000'),
    ],
  }),
  asAlpha('recording them again', RECORD, {
    activities: [activity('t-1', 'm-both'), activity('t-4', 'm-ended')],
  }),
  asPartner('recording under the ID of another partner', 'beta', RECORD, {
    activities: [activity('t-1', 'm-both', 9)],
  }),
  asAlpha(
    'what was recorded',
    `{ memberById(memberId: "m-both") { points activities { ${ACTIVITIES} } } }`,
  ),
  asAlpha('recording a malformed activity', RECORD, { activities: [activity('', 'm-both')] }),
  asAlpha(
    'the program',
    '{ program { membershipYearStart timeZone tierValidity tiers { name points } } }',
  ),
  asAlpha('recording points that are no number', RECORD, {
    activities: [activity('t-5', 'm-both', 'many')],
  }),
  asAlpha('recording too many activities', RECORD, {
    activities: Array(101).fill(activity('t-6', 'm-both')),
  }),
  asAlpha('a body that is not JSON', '', {}, { body: '{' }),
  asAlpha('no key', BY_EMAIL, { email: 'both@example.com' }, { key: '' }),
  asAlpha('an unknown path', BY_EMAIL, {}, { path: '/members' }),
];
