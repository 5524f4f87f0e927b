// The records of requests that a running service keeps: soon there, there after a kill, no secrets.
import { openUsageStore } from '@partner-loyalty/usage/tables.ts';
import { readSettings } from '../../runtime/src/settings/settings.ts';
import { createClient } from '../support/service/client.ts';
import { loyalty, loyaltyJson } from '../support/service/loyalty.ts';
import { toolCall } from '../support/service/mcp.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

const READ = 'query ($email: String!) { memberByEmail(email: $email) { memberId } }';

describe('three processes on MongoDB and Redis', () => {
  let service: DeployedService;
  beforeAll(async () => {
    service = await startDeployed('three processes on MongoDB and Redis');
  });
  afterAll(() => service.close());

  const recorded = (...args: string[]) =>
    loyaltyJson(service.stack.env, 'requests', 'alpha', ...args);
  const isRecorded = (requestId: string) =>
    until(async () => (await recorded('--request-id', requestId))[0]);

  test('nothing that is secret or of a member is recorded, wherever a caller puts it', async () => {
    const { keys, provider, send, stack } = service;
    const token = await provider.issue('m-both', { azp: 'alpha' });
    const mcpKey = await addKey(stack.stores.keys, 'alpha', 'sandbox', { endpoint: 'mcp' });
    const secrets = [keys.alpha, token, mcpKey, `ml_${'r4nd0m'.repeat(8)}`];
    for (const secret of secrets) {
      const requestId = `order-7.${secret}`.slice(0, 128);
      await send({ query: READ, variables: { email: 'both@example.com' }, requestId });
      const name = secret.replaceAll(/\W/g, '_');
      const query = `query A${name} { memberByEmail(email: "both@example.com") { memberId } }`;
      await send({ query, requestId });
    }
    await send({ query: '{ memberProfile(id: "m-both") { email } }', token });
    const body = JSON.stringify(toolCall('find_member', { email: 'both@example.com' }));
    await send({ path: '/mcp', headers: { 'x-api-key': mcpKey }, body, requestId: 'tool' });
    await send({ query: READ, variables: { email: 'both@example.com' }, requestId: 'last' });
    await isRecorded('last');
    expect((await isRecorded('tool')).keyId).not.toBe((await isRecorded('last')).keyId);

    const all = await recorded();
    expect(all.length).toBeGreaterThanOrEqual(2 * secrets.length + 3);
    const text = JSON.stringify(all).toLowerCase();
    for (const part of [...secrets, 'both@example', 'm-both', 'memberbyemail(', 'pk_test', 'eyj'])
      expect(text).not.toContain(part.toLowerCase());
    const known = [
      'time',
      'requestId',
      'operation',
      'status',
      'codes',
      'cost',
      'durationMs',
      'keyId',
    ];
    for (const one of all)
      expect(Object.keys(one).filter((name) => !known.includes(name))).toEqual([]);
  });

  test('a killed process leaves what was recorded, and others write beside it', async () => {
    const { stack, keys, send } = service;
    const other = await stack.addGateway();
    const sendOther = createClient(other.url, keys.alpha);
    const variables = { email: 'both@example.com' };
    await send({ query: READ, variables, requestId: 'before' });
    await sendOther({ query: '{', requestId: 'beside' });
    await isRecorded('before');
    expect(await isRecorded('beside')).toMatchObject({
      ...{ status: 400, codes: ['GRAPHQL_PARSE_FAILED'], cost: 1 },
    });
    process.kill(stack.gateway.pid, 'SIGKILL');
    await sendOther({ query: `query Later ${READ.slice(6)}`, variables, requestId: 'after' });
    expect(await isRecorded('after')).toMatchObject({ operation: 'Later', status: 200 });
    for (const requestId of ['before', 'beside']) await isRecorded(requestId);
    // And what is recorded last, as the process ends.
    await sendOther({ query: '{ __typename }', requestId: 'end' });
    await other.stop();
    expect(await recorded('--request-id', 'end')).toHaveLength(1);
    const [beta] = await loyaltyJson(stack.env, 'requests', 'beta');
    expect(beta).toBeUndefined();
    const store = await openUsageStore(readSettings(stack.env, 'all'));
    const hours = await store.requestHours('alpha', new Date());
    await store.close();
    const count = hours.reduce((sum, { counts }) => sum + (counts.requests ?? 0), 0);
    expect(await recorded()).toHaveLength(count);
    expect((await loyalty(stack.env, 'verify')).code).toBe(0);
  });
});
