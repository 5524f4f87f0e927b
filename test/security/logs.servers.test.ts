// Logs: they contain no address, name, key, token or variable, whatever happens.

import { LOG_FIELDS } from '@partner-loyalty/runtime/observe/fields.ts';
import { freshMongodbUrl } from '../support/servers/databases.ts';
import { startProxy } from '../support/servers/proxy.ts';
import type { ApiRequest } from '../support/service/client.ts';
import { toolCall } from '../support/service/mcp.ts';
import type { Running } from '../support/service/stack.ts';
import { startDeployed } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';

const READ =
  'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier } }';
const ENROLL = 'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }';

/** What callers send and receive here, none of which may be logged. */
const SECRETS = [
  'both@example.com',
  'Both@Example.com',
  'both.earlier@example.net',
  'Teal',
  'Heron',
  'secret-address',
  'secret-external-id',
  'SecretFirstName',
  'SecretLastName',
  'secret-alias',
  'secretalias',
  'secret-path',
  'secret-search',
  'secret-header',
  'pk_test_',
  'mk_test_',
  'eyJ',
  'Bearer',
];

const SENT: ApiRequest[] = [
  { query: READ, variables: { email: 'both@example.com' } },
  { query: '{ memberByEmail(email: "both.earlier@example.net") { email firstName lastName } }' },
  { query: READ, variables: { email: 'secret-address@example.com' } },
  { query: READ, variables: { email: ['secret-address'] } },
  { query: READ, variables: { email: 'secret-address\u0000' } },
  { query: '{ memberByExternalId(externalId: "secret-external-id") { tier } }' },
  {
    query: ENROLL,
    variables: {
      input: {
        email: 'secret-address@example.com',
        firstName: 'SecretFirstName',
        lastName: 'SecretLastName',
      },
    },
  },
  {
    query: ENROLL,
    variables: { input: { email: 'both@example.com', externalId: 'secret-external-id' } },
  },
  {
    query:
      'query pk_test_SecretKey { memberByEmail(email: "secret-address@example.com") { tier } }',
  },
  {
    query:
      'query SecretOperation { secretalias: memberByEmail(email: "both@example.com") { secretalias: tier } }',
  },
  { query: 'query SecretOperation { secretalias }' },
  { query: '{ secretalias(' },
  { body: '{"query":"secret-alias' },
  { query: READ, key: 'pk_test_secret-header' },
  { query: READ, token: 'eyJzZWNyZXQ.eyJzZWNyZXQ.secret-header' },
  { path: '/secret-path?secret-search', query: READ },
  { path: '/graphql?secret-search', query: '{ __typename }' },
  { method: 'GET', path: '/secret-path' },
  {
    query: '{ __typename }',
    headers: {
      'user-agent': 'secret-header',
      referer: 'http://secret-header/',
      cookie: 'a=secret-header',
    },
  },
];

test('no process logs an address, a name, a key, a token or a variable, in normal operation and outages', async () => {
  const database = freshMongodbUrl();
  const proxy = await startProxy(database.url);
  const service = await startDeployed('three processes on MongoDB and Redis', {
    MONGODB_URL: proxy.url,
  });
  const ids: string[] = [];
  const send = async (request: ApiRequest) => {
    const requestId = `sent-${ids.length}`;
    ids.push(requestId);
    return service.send({ ...request, requestId });
  };
  for (const request of SENT) await send(request);
  const token = await service.provider.issue('m-both');
  const mcpKey = await addKey(service.stack.stores.keys, 'alpha', 'sandbox', { endpoint: 'mcp' });
  for (const args of [
    { email: 'both@example.com' },
    { email: 'secret-address\u0000' },
    { memberId: mcpKey },
  ]) {
    const body = JSON.stringify(toolCall('find_member', args));
    await send({ path: '/mcp', headers: { 'x-api-key': mcpKey }, body });
  }
  await send({ query: '{ memberProfile(id: "m-both") { email firstName } }', token });
  await proxy.disconnect();
  await Promise.all(SENT.slice(0, 8).map(send));
  await proxy.restore();
  const { gateway, members, standings } = service.stack;
  const processes = [gateway, members, standings].filter(
    (running): running is Running => running !== undefined,
  );
  for (const running of processes) await running.stop();

  const logged = processes.map((running) => running.output()).join('\n');
  await service.close();
  await proxy.close();
  await database.drop();

  expectNoSecrets(logged, [token.slice(-40)]);
  // Only the line of the start says where the store is.
  const later = logged.split('\n').filter((line) => !line.includes('"msg":"listening"'));
  expectNoSecrets(later.join('\n'), [new URL(database.url).pathname]);
  for (const requestId of ids) expect(logged).toContain(`"requestId":"${requestId}"`);
  expect(logged).toContain('"code":"SERVICE_UNAVAILABLE"');
});

function expectNoSecrets(logged: string, secrets: string[]): void {
  const written = logged.replaceAll('pk_test_…', ''); // The placeholder of the banner is no key.
  for (const secret of [...SECRETS, ...secrets]) expect(written).not.toContain(secret);
  const known = new Set([...Object.keys(LOG_FIELDS), 'level', 'time', 'pid', 'msg', 'err']);
  const lines = logged.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines)
    expect(Object.keys(JSON.parse(line)).filter((field) => !known.has(field))).toEqual([]);
}
