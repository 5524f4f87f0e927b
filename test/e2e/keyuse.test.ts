// What `keys list` shows of the requests that a gateway answered.
import { temporaryFolder } from '../support/folder.ts';
import { startInProcess } from '../support/service/inprocess.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { callMcp } from '../support/service/mcp.ts';
import { addKey } from '../support/service/testdata.ts';

test('the last use of a key, and its requests and refusals of a day, once the gateway ends', async () => {
  const { path: DATA_DIR, remove } = temporaryFolder();
  const service = await startInProcess({ env: { DATA_DIR, TRUSTED_PROXIES: '127.0.0.1' } });
  const { send, stores } = service;
  const key = await addKey(stores.keys, 'gamma', 'sandbox', {
    scopes: ['read'],
    allow: ['127.0.0.1/32'],
  });
  const before = new Date();
  const query = '{ memberByEmail(email: "both@example.com") { memberId } }';
  for (let n = 0; n < 3; n += 1) await send({ key, query });
  await send({ key, query: 'mutation { endEnrollment(memberId: "x") { memberId } }' });
  await send({ key, body: '{' });
  await send({ key, query, headers: { 'x-forwarded-for': '192.0.2.1' } });
  await send({ query, token: 'x' });
  const ofMcp = await addKey(stores.keys, 'gamma', 'sandbox', { endpoint: 'mcp' });
  await callMcp(service.url, ofMcp, 'find_member', { memberId: 'm-both' });
  await callMcp(service.url, ofMcp, 'no_such_tool', {});
  await service.close();

  const [unused, used, assistant] = await loyaltyJson({ DATA_DIR }, 'keys', 'list', 'gamma');
  expect(unused).toMatchObject({ requests: 0, refusals: 0 });
  expect(unused).not.toHaveProperty('lastUsedAt');
  expect(used).toMatchObject({ requests: 6, refusals: 3 });
  expect(assistant).toMatchObject({ for: 'mcp', requests: 2, refusals: 1 });
  const lastUsedAt = String(used?.lastUsedAt);
  expect(lastUsedAt).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00\.000Z$/);
  expect(Date.parse(lastUsedAt)).toBeGreaterThan(before.getTime() - 60_000);
  remove();
});
