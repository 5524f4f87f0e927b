// What callers of the service ask end to end, in this order: the same table for every shape in which it is deployed.
import type { Ask } from '../service/client.ts';
import type { Started } from '../service/deployed.ts';

export type Case = {
  name: string;
  ask: (service: Pick<Started, 'keys' | 'provider'>) => Ask | Promise<Ask>;
};

const READ = '{ memberId email firstName lastName tier points }';
const BY_EMAIL = `query ($email: String!) { memberByEmail(email: $email) ${READ} }`;
const BY_EXTERNAL_ID = `query ($externalId: String!) { memberByExternalId(externalId: $externalId) ${READ} }`;
const ENROLL = `mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created member ${READ} } }`;
const END = 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }';
const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  memberId email firstName lastName membershipYearStats { akinPoints totalStays } partnerStandings { partnerId tier points } } }`;

const asked = (
  name: string,
  query: string,
  variables: Record<string, unknown> = {},
  more: Ask = {},
): Case => ({
  name,
  ask: () => ({ query, variables, ...more }),
});
const asPartner = (
  name: string,
  partner: 'beta' | 'gamma',
  query: string,
  variables: Record<string, unknown>,
): Case => ({
  name,
  ask: ({ keys }) => ({ query, variables, key: keys[partner] }),
});
const asMember = (
  name: string,
  member: string,
  query: string,
  variables: Record<string, unknown> = {},
  claims = {},
): Case => ({
  name,
  ask: async ({ provider }) => ({ query, variables, token: await provider.issue(member, claims) }),
});

/** In the order in which they are asked: later ones see what earlier ones changed. None of them makes a new member, whose id would be random. */
export const CASES: Case[] = [
  asked('a member by address', BY_EMAIL, { email: 'both@example.com' }),
  asked('a member by an earlier address, in capitals', BY_EMAIL, {
    email: 'BOTH.EARLIER@EXAMPLE.NET',
  }),
  asked('a member by external ID', BY_EXTERNAL_ID, { externalId: 'alpha-2' }),
  asPartner('the same external ID with another partner', 'beta', BY_EXTERNAL_ID, {
    externalId: 'shared-1',
  }),
  asPartner('a member of a partner without a program', 'gamma', BY_EMAIL, {
    email: 'ended@example.com',
  }),
  asked('an unknown member', BY_EMAIL, { email: 'unknown@example.com' }),
  asked('a member of another partner', BY_EMAIL, { email: 'beta.only@example.com' }),
  asked('an ended enrollment', BY_EMAIL, { email: 'ended@example.com' }),
  asked('what is no address', BY_EMAIL, { email: 'nobody' }),
  asked(
    'what the members subgraph alone knows',
    '{ memberByEmail(email: "both@example.com") { email firstName } }',
  ),
  asked(
    'what the standings subgraph alone knows',
    '{ memberByEmail(email: "both@example.com") { points } }',
  ),
  asked('nothing but the id', '{ memberByEmail(email: "both@example.com") { memberId } }'),
  asked(
    'nothing but the type',
    '{ memberByEmail(email: "both@example.com") { __typename } __typename }',
  ),
  asked(
    'ten look-ups, of which some fail',
    `{ a: memberByEmail(email: "both@example.com") ${READ} b: memberByEmail(email: "unknown@example.com") ${READ}
       c: memberByExternalId(externalId: "shared-1") ${READ} d: memberByExternalId(externalId: "") ${READ}
       e: memberByEmail(email: "alpha.only@example.com") { tier } f: memberByEmail(email: "alpha.only@example.com") { memberId }
       g: memberByExternalId(externalId: "beta-7") { points } h: memberByEmail(email: "both.earlier@example.net") { email points }
       i: __typename j: memberByEmail(email: "both@example.com") { one: tier two: tier three: points } }`,
  ),
  asked(
    'fragments, conditions and aliases',
    `query ($email: String!, $yes: Boolean!, $no: Boolean = false) {
       ...Look  again: memberByEmail(email: $email) { ...Who @include(if: $yes) ... @skip(if: $no) { points } tier @include(if: $no) } }
     fragment Look on Query { first: memberByEmail(email: $email) { ...Who tier } }
     fragment Who on PartnerMemberRead { who: memberId email }`,
    { email: 'both@example.com', yes: true },
  ),
  asked(
    'everything skipped',
    '{ memberByEmail(email: "both@example.com") @skip(if: true) { tier } }',
  ),
  asked(
    'a default',
    'query ($email: String! = "both@example.com") { memberByEmail(email: $email) { points } }',
  ),
  asked(
    'a read beside introspection',
    '{ __type(name: "Query") { name } memberByEmail(email: "both@example.com") { points } }',
  ),
  asked(
    'one of two operations',
    `query A { __typename } query B { memberByEmail(email: "both@example.com") { tier } }`,
    {},
    { operationName: 'B' },
  ),
  asked('text of every kind', BY_EXTERNAL_ID, {
    externalId: 'ü "漢字" \\ 😀 </script> __proto__ $where',
  }),
  asked('an over-long address', BY_EMAIL, { email: `${'x'.repeat(300)}@example.com` }),
  asked('a variable of the wrong type', BY_EMAIL, { email: ['both@example.com'] }),
  asked('a misspelt field', '{ memberByEmail(email: "both@example.com") { teir } }'),
  asked('a syntax error', '{ memberByEmail('),
  asked('too many look-ups', `{ ${Array.from({ length: 11 }, (_, n) => `a${n}: __typename`)} }`),
  asPartner('enrolling a member who is there', 'gamma', ENROLL, {
    input: { email: 'Both.Earlier@example.net', externalId: 'g-1', firstName: 'Other' },
  }),
  asPartner('enrolling again', 'gamma', ENROLL, { input: { email: 'both@example.com' } }),
  asPartner('a conflict of external IDs', 'gamma', ENROLL, {
    input: { email: 'alpha.only@example.com', externalId: 'g-1' },
  }),
  asPartner('the member enrolled', 'gamma', BY_EXTERNAL_ID, { externalId: 'g-1' }),
  asMember('a profile', 'm-both', PROFILE, { id: 'm-both' }),
  asMember(
    'a profile for the eyes of a partner',
    'm-both',
    PROFILE,
    { id: 'm-both' },
    { azp: 'beta' },
  ),
  asMember("another member's profile", 'm-both', PROFILE, { id: 'm-beta' }),
  asMember('a profile without standings', 'm-nobody', PROFILE, { id: 'm-nobody' }),
  asMember(
    'a part of a profile',
    'm-both',
    '{ memberProfile(id: "m-both") { partnerStandings { points } again: partnerStandings { tier } } }',
  ),
  asMember('a look-up by a member', 'm-both', BY_EMAIL, { email: 'both@example.com' }),
  asPartner('ending', 'gamma', END, { memberId: 'm-both' }),
  asPartner('ending again', 'gamma', END, { memberId: 'm-both' }),
  asPartner('the member no longer enrolled', 'gamma', BY_EXTERNAL_ID, { externalId: 'g-1' }),
  asPartner(
    'several changes in one request, one after the other',
    'gamma',
    `mutation { a: enrollMember(input: { email: "alpha.only@example.com", externalId: "g-1" }) { created member { memberId points } }
       b: enrollMember(input: { email: "both@example.com", externalId: "g-1" }) { created }
       c: endEnrollment(memberId: "m-alpha") { memberId }
       d: enrollMember(input: { email: "both@example.com", externalId: "g-1" }) { created member { memberId tier } }
       e: endEnrollment(memberId: "m-both") { memberId }  f: endEnrollment(memberId: "m-both") { memberId } }`,
    {},
  ),
  asked('a body that is none', '', {}, { body: '{' }),
  asked('no key', BY_EMAIL, { email: 'both@example.com' }, { key: '' }),
  asked('a path that is none', BY_EMAIL, {}, { path: '/members' }),
];
