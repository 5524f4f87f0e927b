// Every deployment answers the same requests with the same bytes.

import type { ServerProcess } from '../support/servers/process.ts';
import type { ApiRequest, ApiResponse } from '../support/service/client.ts';
import { leaksIn } from '../support/service/client.ts';
import {
  DEPLOYMENT_NAMES,
  type DeployedService,
  type Deployment,
  startDeployed,
} from '../support/service/stack.ts';
import { address } from '../support/service/testdata.ts';

const HEADERS = [
  'content-type',
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-policy',
  'allow',
  'cache-control',
];

const READ = '{ memberId email firstName lastName tier points }';
const BY_EXTERNAL_ID = `query ($id: String!) { memberByExternalId(externalId: $id) ${READ} }`;
const LOOK_UPS = `query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { status member {
  externalId tier points standing { partnerName nextTier yearEnd previousYear { points } }
  activities(first: 1) { edges { node { activityId points } } pageInfo { hasNextPage } } } } }`;
const KEYS = [
  { memberId: 'm-both' },
  { email: 'nobody@example.com' },
  { externalId: 'alpha-2' },
  { email: 'no address' },
  { memberId: 'm-beta' },
  { email: 'BOTH.earlier@example.net', memberId: null },
];
const PROFILE = `query ($id: ID!) { memberProfile(id: $id) { email firstName membershipYearStats { akinPoints }
  partnerStandings { partnerId tier points } standings { partnerName points }
  activities(first: 2) { edges { node { partnerId points } } } } }`;
const RECORD = `mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { activityId outcome argument } }`;
const activity = (activityId: string, memberId: string, points: unknown = 5) => ({
  ...{ activityId, memberId, points, occurredAt: '2019-05-04T18:30:00Z' },
});

type Callers = Pick<DeployedService, 'keys' | 'provider'>;

/** What every deployment answers in the same way, in this order. None creates a member. */
const REQUESTS: [string, ApiRequest | ((as: Callers) => Promise<ApiRequest> | ApiRequest)][] = [
  [
    'ten look-ups, some of which fail',
    {
      query: `{ a: memberByEmail(email: "both@example.com") ${READ} b: memberByEmail(email: "unknown@example.com") ${READ}
        c: memberByExternalId(externalId: "shared-1") ${READ} d: memberByExternalId(externalId: "") ${READ}
        e: memberByEmail(email: "alpha.only@example.com") { tier } f: memberById(memberId: "m-beta") { memberId }
        g: node(id: "m-both") { __typename id ... on PartnerMemberRead { tier } } h: node(id: "m-beta") { id }
        i: __typename j: memberByEmail(email: "BOTH.EARLIER@EXAMPLE.NET") { one: tier two: tier email } }`,
    },
  ],
  ['look-ups by keys of every kind', { query: LOOK_UPS, variables: { keys: KEYS } }],
  ['too many look-ups', { query: LOOK_UPS, variables: { keys: Array(101).fill(KEYS[0]) } }],
  [
    'a page of activities beside one that is refused',
    {
      query: `{ a: memberById(memberId: "m-both") { activities { edges { node { activityId } } } }
        b: memberById(memberId: "m-both") { points activities(after: "none") { edges { cursor } } } }`,
    },
  ],
  [
    'fragments, conditions, aliases and a default',
    {
      query: `query ($email: String! = "both@example.com", $yes: Boolean!, $no: Boolean = false) {
        ...Look  again: memberByEmail(email: $email) { ...Who @include(if: $yes) ... @skip(if: $no) { points } tier @include(if: $no) } }
        fragment Look on Query { first: memberByEmail(email: $email) { ...Who tier } __type(name: "Query") { name } }
        fragment Who on PartnerMemberRead { who: memberId email }`,
      variables: { yes: true },
    },
  ],
  [
    'an external ID with characters of many kinds',
    { query: BY_EXTERNAL_ID, variables: { id: 'ü "漢字" \\ 😀 </script> __proto__ $where' } },
  ],
  [
    'several mutations in one request, executed in order',
    ({ keys }) => ({
      query: `mutation { a: enrollMember(input: { email: "alpha.only@example.com", externalId: "g-1" }) { created member { memberId points } }
        b: enrollMember(input: { email: "both@example.com", externalId: "g-1" }) { created }
        c: endEnrollment(memberId: "m-alpha") { memberId }
        d: enrollMember(input: { email: "Both.Earlier@example.net", externalId: "g-1" }) { created member ${READ} }
        e: changeExternalId(memberId: "m-both", externalId: "gamma-4") { points }
        f: changeExternalId(memberId: "m-both", externalId: null) { externalId } }`,
      key: keys.gamma,
    }),
  ],
  [
    'the member as that partner sees it',
    ({ keys }) => ({ query: `{ memberById(memberId: "m-both") ${READ} }`, key: keys.gamma }),
  ],
  [
    'a profile',
    async ({ provider }) => ({
      query: PROFILE,
      variables: { id: 'm-both' },
      token: await provider.issue('m-both'),
    }),
  ],
  [
    'a profile with a token that a partner holds',
    async ({ provider }) => ({
      query: PROFILE,
      variables: { id: 'm-both' },
      token: await provider.issue('m-both', { azp: 'beta' }),
    }),
  ],
  [
    'recording activities with every outcome',
    {
      query: RECORD,
      variables: {
        activities: [
          activity('t-1', 'm-both'),
          activity('t-1', 'm-both'),
          activity('t-1', 'm-both', 6),
          activity('t-2', 'm-both', 1_000_000_001),
          activity('t-3', 'm-beta'),
          activity('t-4', 'm-ended'),
          activity('t-5', '\u0000'),
        ],
      },
    },
  ],
  [
    'what was recorded, and the program',
    {
      query:
        '{ memberById(memberId: "m-both") { points activities { edges { node { activityId points } } } } program { timeZone tiers { name } } }',
    },
  ],
  [
    'points that are no number',
    { query: RECORD, variables: { activities: [activity('t-5', 'm-both', 'many')] } },
  ],
  ['a body that is not JSON', { body: '{' }],
  ['no key', { query: BY_EXTERNAL_ID, key: '' }],
];

/**
 * By deployment and request. Queries are sent three times, since cached documents take another
 * path.
 */
const responses = new Map<Deployment, ApiResponse[][]>();

type PageReads = { members: string[]; standings: string[] };
/** What a page of 100 look-ups reads from MongoDB. */
let pageReads: PageReads | undefined;

beforeAll(async () => {
  for (const name of DEPLOYMENT_NAMES) while (!responses.has(name)) await observe(name);
}, 240_000);

/** Asks a deployment, unless its Redis was late: then its gateway counted on its own meanwhile. */
async function observe(name: Deployment): Promise<void> {
  const service = await startDeployed(name, {
    RATE_LIMIT_BUDGET: '10000',
    RATE_LIMIT_WINDOW_SECONDS: '600',
    // The driver of MongoDB writes its commands to standard error.
    MONGODB_LOG_COMMAND: 'debug',
  });
  try {
    const all = await sendAll(service);
    const metrics = await fetch(`${service.stack.gateway.adminUrl}/metrics`);
    if (/outcome="insurance"} [^0]/.test(await metrics.text())) return;
    responses.set(name, all);
    if (name === 'three processes on MongoDB and Redis') pageReads = await readsOfPage(service);
  } finally {
    await service.close();
  }
}

async function sendAll(service: DeployedService): Promise<ApiResponse[][]> {
  const all: ApiResponse[][] = [];
  for (const [index, [, request]] of REQUESTS.entries()) {
    const own = typeof request === 'function' ? await request(service) : request;
    const sent = { ...own, requestId: `case-${index}` };
    const isMutation = String(sent.query).startsWith('mutation');
    const received: ApiResponse[] = [];
    for (const _ of isMutation ? [1] : [1, 2, 3]) received.push(await service.send(sent));
    all.push(received);
  }
  return all;
}

async function readsOfPage({ send, stack }: DeployedService): Promise<PageReads> {
  const page = Array.from({ length: 100 }, (_, index) => `page-${index}`);
  await stack.stores.members.importMembers(
    ['the-last', ...page].map((memberId) => ({
      memberId,
      address: address(`${memberId}@example.com`),
      previousAddresses: [],
      enrollments: [{ partnerId: 'alpha' }],
    })),
  );
  const query = `query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) {
    member { memberId email firstName lastName tier points externalId enrolledAt } } }`;
  const lookUp = (memberIds: string[]) =>
    send({
      query,
      variables: { keys: memberIds.map((memberId) => ({ email: `${memberId}@example.com` })) },
    });
  const { body } = await lookUp(page);
  const found = page.map((memberId) => ({
    member: expect.objectContaining({ memberId, tier: 'Blue' }),
  }));
  expect(body).toEqual({ data: { memberLookups: found } });
  await lookUp(['the-last']);
  // Commands are logged in their order, so those of the page are there before the last one.
  const readsIn = async (running: ServerProcess | undefined, ofPage: RegExp) => {
    const logged = await running?.wrote(/Command started.*"find".*the-last/);
    const lines = logged?.input.split('\n') ?? [];
    return lines.filter((line) => line.includes('Command started') && ofPage.test(line));
  };
  return {
    // Not those for events.
    members: await readsIn(stack.members, /"find".*page-\d+@/),
    standings: await readsIn(stack.standings, /"find".*page-\d/),
  };
}

/** What the client receives, except the seconds left in the window. */
function visible({ status, text, headers }: ApiResponse) {
  return [status, text, ...HEADERS.map((name) => headers.get(name))];
}

test.each(REQUESTS.map(([name], index) => [name, index] as const))(
  '%s: the same bytes each time, from each deployment',
  (_, index) => {
    const [first = [], ...others] = DEPLOYMENT_NAMES.map((name) => responses.get(name)?.[index]);
    for (const { status, text } of first) {
      expect(status).toBeLessThan(500);
      expect([text, leaksIn(text)]).toEqual([first[0]?.text, []]);
    }
    expect(first).not.toEqual([]);
    for (const other of others) expect(other?.map(visible)).toEqual(first.map(visible));
  },
);

test('a page of 100 look-ups is one read of members and one of standings on MongoDB', () => {
  expect(pageReads?.members).toEqual([expect.stringContaining('"find":"members.keys"')]);
  expect(pageReads?.standings).toEqual([expect.stringContaining('"find":"standings.standings"')]);
});
