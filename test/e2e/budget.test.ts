// Budgets: what the headers say, and who pays.
import type { ApiResponse } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';

const QUERY = '{ a: __typename b: __typename c: __typename }';
const remaining = ({ headers }: ApiResponse) => headers.get('ratelimit-remaining');

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess({ env: { RATE_LIMIT_BUDGET: '40' } });
});
afterAll(() => service.close());

test('the headers report a cost in both generations', async () => {
  const { headers } = await service.send({ query: QUERY });
  const reset = headers.get('ratelimit-reset');
  expect(Number(reset)).toBeGreaterThan(55);
  expect(Number(reset)).toBeLessThanOrEqual(60);
  expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
    '40',
    '37',
  ]);
  expect(headers.get('ratelimit')).toBe(`"key";r=37;t=${reset}`);
  expect(headers.get('ratelimit-policy')).toBe('"key";q=40;w=60');
});

test('429 and no data when a request costs more than is left, which it leaves but for 1', async () => {
  const key = await addPartner(service.stores.keys, { partnerId: 'fresh', budget: 5 });
  expect(remaining(await service.send({ query: QUERY, key }))).toBe('2');
  const refused = await service.send({ query: QUERY, key });
  expect([refused.status, refused.code, refused.body.data]).toEqual([
    429,
    'RATE_LIMITED',
    undefined,
  ]);
  expect(remaining(refused)).toBe('1');
});

test('what cannot be read costs 1', async () => {
  const key = await addPartner(service.stores.keys, { partnerId: 'other' });
  for (const [index, body] of ['{', 'x'.repeat(70_000)].entries())
    expect(remaining(await service.send({ body, key }))).toBe(`${39 - index}`);
});

test('a partner may have its own budget for each of its keys, and a member has 120 over all tokens', async () => {
  const { keys, provider } = service;
  const other = await addKey(service.stores.keys, 'frugal');
  for (const key of [keys.frugal, other])
    expect((await service.send({ query: QUERY, key })).headers.get('ratelimit')).toMatch(/r=2;/);
  for (const [jti, left] of [
    ['one', 117],
    ['another', 114],
  ] as const) {
    const token = await provider.issue('m-both', { jti });
    const { headers } = await service.send({ query: QUERY, token });
    expect(headers.get('ratelimit-policy')).toBe('"member";q=120;w=60');
    expect(headers.get('ratelimit')).toContain(`"member";r=${left};`);
  }
});
