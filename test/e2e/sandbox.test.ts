// The controls of a sandbox: another time, and faults at will; in production they do nothing.
import { newKey } from '@partner-loyalty/gateway';
import { type ApiRequest, BUDGET_HEADERS } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { callMcp } from '../support/service/mcp.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { addKey, address } from '../support/service/testdata.ts';

const QUERY = `{ memberById(memberId: "m-past") { tier points standing {
  asOf yearStart yearEnd stays nextTier pointsToNextTier previousYear { points tier } } } }`;
const RECORD = `mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { outcome } }`;
const NOW = new Date('2026-06-01T00:00:00Z');

const at = (time: string): ApiRequest => ({ headers: { 'x-sandbox-now': time } });
const fault = (name: string): ApiRequest => ({
  query: '{ __typename }',
  headers: { 'x-sandbox-fault': name },
});

describe('a sandbox', () => {
  let service: InProcessService;
  beforeAll(async () => {
    service = await startInProcess({ now: () => NOW });
    const { members, standings } = service.stores;
    const enrollments = [{ partnerId: 'alpha' }];
    await members.importMembers([
      {
        memberId: 'm-past',
        address: address('past@example.com'),
        previousAddresses: [],
        enrollments,
      },
    ]);
    const activity = (activityId: string, points: number, occurredAt: string) => ({
      activityId,
      partnerId: 'alpha',
      memberId: 'm-past',
      points,
      stays: 1,
      occurredAt: new Date(occurredAt),
      year: `${occurredAt.slice(0, 4)}-01-01`,
    });
    await standings.record([
      activity('past-1', 1_200, '2025-05-05T00:00:00Z'),
      activity('past-2', 90, '2026-02-01T00:00:00Z'),
      activity('past-3', 20, '2026-03-01T12:00:00Z'),
      activity('past-4', -5, '2026-04-01T00:00:00Z'),
    ]);
  });
  afterAll(() => service.close());

  const read = async (time?: string) => {
    const { body } = await service.send({ query: QUERY, ...(time && at(time)) });
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data?.memberById;
  };

  test.each([
    ['before the later ones of this year', '2026-03-01T11:59:59.999Z', 'Blue', 90],
    ['at the very moment of one', '2026-03-01T13:00:00+01:00', 'Silver', 110],
    ['of last year', '2025-06-01T00:00:00Z', 'Gold', 1_200],
    ['of last year, before any', '2025-01-01T00:00:00Z', 'Blue', 0],
    ['of next year', '2027-01-01T00:00:00Z', 'Blue', 0],
  ])('reads standings as of a time %s', async (_, time, tier, points) => {
    const year = time.slice(0, 4);
    expect(await read(time)).toMatchObject({
      tier,
      points,
      standing: {
        asOf: new Date(time).toISOString(),
        yearStart: `${year}-01-01T00:00:00.000Z`,
        yearEnd: `${Number(year) + 1}-01-01T00:00:00.000Z`,
      },
    });
  });

  test('reads the year before as of then, and as it is without the header', async () => {
    expect(await read('2027-05-05T00:00:00Z')).toMatchObject({
      standing: { previousYear: { points: 105, tier: 'Silver' } },
    });
    expect(await read()).toMatchObject({
      points: 105,
      standing: { asOf: NOW.toISOString(), previousYear: { points: 1_200, tier: 'Gold' } },
    });
  });

  test.each(['yesterday', '2026-01-01', '2026-13-01T00:00:00Z', '2026-01-01T00:00:00', ''])(
    '400 BAD_REQUEST for the time %j, which costs 1',
    async (time) => {
      const response = await service.send({ query: QUERY, ...at(time) });
      expect([response.status, response.code]).toEqual([400, 'BAD_REQUEST']);
      expect(response.headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
    },
  );

  test('400 BAD_REQUEST with a mutation, which changes nothing, and at /mcp', async () => {
    const key = await addKey(service.stores.keys, 'alpha', 'sandbox', { scopes: ['ingest'] });
    const occurredAt = NOW.toISOString();
    const activities = [{ activityId: 'then', memberId: 'm-past', points: 1, occurredAt }];
    const sent = { query: RECORD, variables: { activities }, key };
    const refused = await service.send({ ...sent, ...at(occurredAt) });
    expect([refused.status, refused.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await service.send(sent)).body.data).toEqual({
      recordActivities: [{ outcome: 'RECORDED' }],
    });
    const mcp = await service.send({ path: '/mcp', key: '', ...at(occurredAt) });
    expect(mcp.status).toBe(400);
  });
});

describe('a fault at will', () => {
  let service: InProcessService;
  beforeAll(async () => {
    service = await startInProcess();
  });
  afterAll(() => service.close());

  test.each([
    ['rate-limited', 429, 'RATE_LIMITED'],
    ['unavailable', 503, 'SERVICE_UNAVAILABLE'],
    ['error', 500, 'INTERNAL_SERVER_ERROR'],
  ])('%s is %i, and costs 1, whatever the document', async (name, status, code) => {
    const key = await addKey(service.stores.keys, 'gamma');
    const response = await service.send({ ...fault(name), body: '{', key });
    expect([response.status, response.code]).toEqual([status, code]);
    for (const header of BUDGET_HEADERS) expect(response.headers.has(header)).toBe(true);
    expect(response.headers.has('retry-after')).toBe(status !== 500);
    if (name === 'rate-limited') expect(response.headers.get('ratelimit-remaining')).toBe('0');
    const next = await service.send({ query: '{ __typename }', key });
    expect([next.status, next.headers.get('ratelimit-remaining')]).toEqual([200, '598']);
  });

  test('timeout closes the connection without a response, and serves other requests', async () => {
    const failed = service.send(fault('timeout')).catch((error: unknown) => error);
    expect((await service.send({ query: '{ __typename }' })).status).toBe(200);
    expect(await failed).toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } });
  });

  test('no partner wakes whoever is on call: faults are not among the failed requests', async () => {
    for (const name of ['unavailable', 'error']) await service.send(fault(name));
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    expect(metrics).toContain('loyalty_request_duration_seconds_count{status="503"');
    expect(metrics).not.toMatch(/^loyalty_request_duration_seconds_count{status="50.+ [1-9]/m);
  });

  test('400 BAD_REQUEST for an unknown one', async () => {
    const { status, code } = await service.send(fault('meltdown'));
    expect([status, code]).toEqual([400, 'BAD_REQUEST']);
  });

  test.each(['unavailable', 'meltdown'])('401 without a credential, for %s', async (name) => {
    expect((await service.send({ ...fault(name), key: '' })).code).toBe('UNAUTHENTICATED');
  });
});

test('the time reaches a subgraph in another process', async () => {
  const service: DeployedService = await startDeployed('three processes');
  try {
    const query = '{ memberByEmail(email: "both@example.com") { standing { asOf } } }';
    const { body } = await service.send({ query, ...at('2030-01-01T00:00:00Z') });
    expect(body.data).toEqual({
      memberByEmail: { standing: { asOf: '2030-01-01T00:00:00.000Z' } },
    });
  } finally {
    await service.close();
  }
});

test('in production, live keys alone are accepted, and neither header does anything', async () => {
  const env = { ENVIRONMENT: 'production', SANDBOX_URL: 'https://sandbox.example/base/' };
  const service = await startInProcess({ env });
  try {
    const test = await service.send({ query: QUERY, key: newKey('sandbox') });
    expect([test.status, test.code]).toEqual([403, 'KEY_ENVIRONMENT_MISMATCH']);
    expect(test.body.correctEndpoint).toBe('https://sandbox.example/base/graphql');
    const atMcp = await callMcp(service.url, newKey('sandbox', 'mcp'), 'find_member', {});
    expect(atMcp.body.error?.data.correctEndpoint).toBe('https://sandbox.example/base/mcp');
    const key = await addKey(service.stores.keys, 'alpha', 'production');
    const inbox = '{ sandboxMails(email: "a@inbox.test") { subject } }';
    expect((await service.send({ query: inbox, key })).code).toBe('FORBIDDEN');
    const query = '{ memberByEmail(email: "both@example.com") { standing { asOf } } }';
    const headers = { 'x-sandbox-now': '2030-01-01T00:00:00Z', 'x-sandbox-fault': 'error' };
    const { status, text } = await service.send({ query, key, headers });
    expect([status, text.includes('2030')]).toEqual([200, false]);
  } finally {
    await service.close();
  }
});
