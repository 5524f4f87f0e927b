// A suspended partner gets nothing, by its keys and by the tokens it holds, on every gateway.
import { setTimeout } from 'node:timers/promises';
import { BUDGET_HEADERS, budgetHeaders } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess();
});
afterAll(() => service.close());

const READ = '{ memberByEmail(email: "both@example.com") { memberId } }';
const PROFILE = '{ memberProfile(id: "m-both") { memberId partnerStandings { partnerId } } }';
const loyalty = (...args: string[]) =>
  loyaltyJson({ DATA_DIR: service.dataDir }, 'partners', ...args);

test('keys and held tokens are refused within 5 seconds and answered again when it resumes', async () => {
  const { send, stores, provider } = service;
  const keys = [service.keys.beta, await addKey(stores.keys, 'beta')];
  const held = await provider.issue('m-both', { azp: 'beta' });
  const own = await provider.issue('m-both');
  const other = await provider.issue('m-both', { azp: 'alpha' });
  const codes = async () => {
    const answers = [
      ...keys.map((key) => send({ query: READ, key })),
      send({ query: PROFILE, token: held }),
    ];
    return (await Promise.all(answers)).map(({ code }) => code);
  };
  // A few times a second: more would use up the member's budget.
  const untilAll = (expected: string | undefined) =>
    until(async () => {
      await setTimeout(500);
      return (await codes()).every((code) => code === expected);
    });
  const refused = Array(3).fill('PARTNER_SUSPENDED');
  expect(await codes()).toEqual([undefined, undefined, undefined]);

  expect(await loyalty('suspend', 'beta')).toMatchObject([
    { partnerId: 'beta', suspendedAt: expect.any(String) },
  ]);
  await untilAll('PARTNER_SUSPENDED');
  expect(await loyalty('show', 'beta')).toMatchObject([{ state: 'suspended', activeKeys: 2 }]);
  expect(await codes()).toEqual(refused);
  // A new key is found with its partner's state.
  const late = await addKey(stores.keys, 'beta');
  expect(await send({ query: READ, key: late })).toMatchObject({ code: 'PARTNER_SUSPENDED' });
  // Others go on: the member's own page, and another partner of the same member.
  expect(await send({ query: PROFILE, token: own })).toMatchObject({
    status: 200,
    body: { data: { memberProfile: { partnerStandings: [expect.anything(), expect.anything()] } } },
  });
  expect(await send({ query: PROFILE, token: other })).toMatchObject({ status: 200 });
  expect(await send({ query: READ })).toMatchObject({ status: 200 });

  await loyalty('resume', 'beta');
  await untilAll(undefined);
  expect((await loyalty('show', 'beta'))[0]).not.toHaveProperty('suspendedAt');
});

test('each refusal costs 1, with budget headers, also once the budget is spent', async () => {
  const { send, stores, calls } = service;
  const key = await addPartner(stores.keys, { partnerId: 'left', budget: 3 });
  await stores.keys.changePartner('left', { suspendedAt: new Date() });
  const before = calls.length;
  const remaining: unknown[] = [];
  for (const request of [
    { query: '{ a: __typename b: __typename c: __typename }' },
    { body: '{' },
    { body: 'x'.repeat(4_000_000) },
    { query: READ },
    { query: '{ __schema { queryType { name } } }' },
  ]) {
    const response = await send({ ...request, key });
    expect(response).toMatchObject({ status: 403, code: 'PARTNER_SUSPENDED' });
    expect(budgetHeaders(response)).toEqual(BUDGET_HEADERS);
    remaining.push(response.headers.get('ratelimit-remaining'));
  }
  expect(remaining).toEqual(['2', '1', '0', '0', '0']);
  expect(calls.slice(before)).toEqual([]);
});

test('a suspension says nothing to whoever has no valid key', async () => {
  const { send, stores } = service;
  await addPartner(stores.keys, { partnerId: 'gone' });
  await stores.keys.changePartner('gone', { suspendedAt: new Date() });
  const revoked = await addKey(stores.keys, 'gone');
  for (const { keyId } of await stores.keys.keys('gone'))
    await stores.keys.revokeKey(keyId, new Date());
  expect(await send({ query: READ, key: revoked })).toMatchObject({ code: 'UNAUTHENTICATED' });
  const elsewhere = await addKey(stores.keys, 'gone', 'sandbox', { allow: ['192.0.2.1/32'] });
  expect(await send({ query: READ, key: elsewhere })).toMatchObject({ code: 'UNAUTHENTICATED' });
});
