// Guesses at credentials are counted wherever they are sent, before any work is spent on them.
import { issueKey, newKey } from '@partner-loyalty/gateway';
import { BUDGET_HEADERS } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => service.close());

const from = (address: string) => ({ 'x-forwarded-for': address });

test.each([
  ['on another path', { path: '/other' }],
  ['with another method', { method: 'PUT' }],
  ['beside a bearer token', { token: 'x' }],
  ['with a body that is not JSON', { body: '{' }],
  ['with introspection', { query: '{ __schema { queryType { name } } }' }],
])('600 unknown keys %s: 60 are read, then 429', async (where, ask) => {
  const address = `198.51.100.${where.length}`;
  const statuses: number[] = [];
  for (let n = 0; n < 70; n += 1) {
    const key = newKey('sandbox');
    const { status, headers } = await service.send({ ...ask, key, headers: from(address) });
    statuses.push(status);
    // Only a valid key gets these: the difference must not be free to ask for.
    for (const name of BUDGET_HEADERS) expect(headers.has(name)).toBe(false);
  }
  expect(statuses.slice(0, 60)).not.toContain(429);
  expect(statuses.slice(60)).toEqual(Array(10).fill(429));
});

test('a valid key from the same address is served, and its budget shows on every path', async () => {
  const headers = from('198.51.100.200');
  for (let n = 0; n < 65; n += 1)
    await service.send({ path: '/other', key: newKey('sandbox'), headers });
  const { status, headers: sent } = await service.send({ path: '/other', headers });
  expect(status).toBe(404);
  for (const name of BUDGET_HEADERS) expect(sent.has(name)).toBe(true);
  const ambiguous = await service.send({ key: service.keys.alpha, token: 'x', headers });
  expect([ambiguous.status, ambiguous.headers.has('ratelimit-limit')]).toEqual([400, true]);
});

test('a key of the other environment is named on the endpoint alone, and costs no guess', async () => {
  const { key } = issueKey('production', 'alpha', new Date());
  const { status } = await service.send({ key, query: '{ __typename }' });
  expect(status).toBe(403);
});

test('401 names both headers in the same words, whatever was wrong', async () => {
  const answers = await Promise.all([
    service.send({ key: '', headers: { 'x-partner-api-key': undefined, ...from('203.0.113.1') } }),
    service.send({ key: 'nonsense', query: '{ __typename }', headers: from('203.0.113.2') }),
    service.send({ key: newKey('sandbox'), query: '{ __typename }', headers: from('203.0.113.3') }),
    service.send({ token: 'x', query: '{ __typename }', headers: from('203.0.113.4') }),
  ]);
  const refused = answers.filter(({ status }) => status === 401);
  expect(refused.length).toBeGreaterThanOrEqual(3);
  const messages = new Set(refused.map(({ body }) => body.errors?.[0]?.message));
  expect(messages.size).toBe(1);
  for (const text of messages) expect(text).toMatch(/x-partner-api-key.*authorization: Bearer/);
  for (const { headers } of refused) expect(headers.get('www-authenticate')).toBe('Bearer');
});

test('an authorization of many spaces is read in linear time', async () => {
  const spaces = (count: number) => `Bearer ${' '.repeat(count)}\tx`;
  const { status } = await service.send({
    query: '{ __typename }',
    key: '',
    headers: {
      'x-partner-api-key': undefined,
      authorization: spaces(12_000),
      ...from('203.0.113.9'),
    },
  });
  expect(status).toBe(401);
});
