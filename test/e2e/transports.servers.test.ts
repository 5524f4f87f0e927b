// Every deployment answers the same requests with the same bytes.

import { REQUESTS } from '../support/cases/requests.ts';
import type { ServerProcess } from '../support/servers/process.ts';
import type { ApiResponse } from '../support/service/client.ts';
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

/**
 * By deployment and request. Queries are sent three times, since cached documents take another
 * path.
 */
const responses = new Map<Deployment, ApiResponse[][]>();

type PageReads = { members: string[]; standings: string[] };
/** What a page of 100 look-ups reads from MongoDB. */
let pageReads: PageReads | undefined;

beforeAll(async () => {
  for (const name of DEPLOYMENT_NAMES) {
    const service = await startDeployed(name, {
      RATE_LIMIT_BUDGET: '10000',
      // The driver of MongoDB writes its commands to standard error.
      MONGODB_LOG_COMMAND: 'debug',
    });
    try {
      responses.set(name, await sendAll(service));
      if (name === 'three processes on MongoDB and Redis') pageReads = await readsOfPage(service);
    } finally {
      await service.close();
    }
  }
}, 240_000);

async function sendAll(service: DeployedService): Promise<ApiResponse[][]> {
  const all: ApiResponse[][] = [];
  for (const [index, { request }] of REQUESTS.entries()) {
    const sent = { ...(await request(service)), requestId: `case-${index}` };
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

describe.each(REQUESTS.map(({ name }, index) => ({ name, index })))('$name', ({ index }) => {
  const [first] = DEPLOYMENT_NAMES;
  const reference = () => first && responses.get(first)?.[index];

  test.each(DEPLOYMENT_NAMES)('has the same bytes with %s', (name) => {
    expect(reference()).toBeDefined();
    expect(responses.get(name)?.[index]?.map(visible)).toEqual(reference()?.map(visible));
  });

  test('is no server error, and is the same each time', () => {
    for (const response of reference() ?? []) {
      expect(response.status).toBeLessThan(500);
      expect(response.text).toBe(reference()?.[0]?.text);
      expect(leaksIn(response.text)).toEqual([]);
    }
  });
});

test('a page of 100 look-ups is one read of members and one of standings on MongoDB', () => {
  expect(pageReads?.members).toEqual([expect.stringContaining('"find":"members.keys"')]);
  expect(pageReads?.standings).toEqual([expect.stringContaining('"find":"standings.standings"')]);
});
