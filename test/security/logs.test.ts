// What the processes write: one JSON line for each thing that happens, and never an address, a name, a key, a token or a variable.
import { LOG_FIELDS } from '@partner-loyalty/runtime';
import { freshMongodbUrl } from '../support/servers/databases.ts';
import { layWire } from '../support/servers/proxy.ts';
import type { Ask } from '../support/service/client.ts';
import { startFilled } from '../support/service/deployed.ts';
import type { Running } from '../support/service/stack.ts';
import { addPartner, PARTNERS } from '../support/service/testdata.ts';

const READ =
  'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier } }';
const ENROLL = 'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }';

/** What callers send and read here, none of which may be written down. */
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
  'SecretOperation',
  'secret-path',
  'secret-search',
  'secret-header',
  'pk_test_',
  'eyJ',
  'Bearer',
];

const ASKED: Ask[] = [
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

test('no line of any process holds an address, a name, a key, a token or a variable, in good times and bad', async () => {
  const database = freshMongodbUrl();
  const wire = await layWire(database.url);
  const service = await startFilled('apart, on MongoDB and Redis', { MONGODB_URL: wire.url });
  const ids: string[] = [];
  const ask = async (what: Ask) => {
    const requestId = `asked-${ids.length}`;
    ids.push(requestId);
    return service.ask({ ...what, requestId });
  };
  for (const what of ASKED) await ask(what);
  const token = await service.provider.issue('m-both');
  await ask({ query: '{ memberProfile(id: "m-both") { email firstName } }', token });
  await wire.cut();
  await Promise.all(ASKED.slice(0, 8).map(ask));
  await wire.mend();
  const { gateway, members, standings } = service.stack;
  const processes = [gateway, members, standings].filter(
    (running): running is Running => running !== undefined,
  );
  for (const running of processes) await running.stop();

  const written = processes.map((running) => running.output()).join('\n');
  await service.close();
  await wire.close();
  await database.drop();

  expectDiscreet(written, [token.slice(-40), new URL(database.url).pathname]);
  for (const requestId of ids) expect(written).toContain(`"requestId":"${requestId}"`);
  expect(written).toContain('"code":"SERVICE_UNAVAILABLE"');
}, 60_000);

test('an error nobody foresaw is written down without what it was about', async () => {
  const service = await startFilled('in one process');
  const { stores, gateway } = service.stack;
  const key = await addPartner(stores.keys, { partnerId: 'broken' });
  const program = {
    membershipYear: { start: '01-01', timeZone: 'secret-program' },
    tiers: PARTNERS.alpha.program.tiers,
  };
  await stores.standings.putProgram('broken', program);
  await service.ask({ query: ENROLL, variables: { input: { email: 'both@example.com' } }, key });
  expect(
    (await service.ask({ query: READ, variables: { email: 'both@example.com' }, key })).code,
  ).toBe('INTERNAL_SERVER_ERROR');
  await gateway.stop();
  const written = gateway.output();
  await service.close();

  expectDiscreet(written, ['secret-program']);
  expect(written).toMatch(/"level":"error".*"frames":\["at /);
});

function expectDiscreet(written: string, secrets: string[]): void {
  for (const secret of [...SECRETS, ...secrets]) expect(written).not.toContain(secret);
  const known = new Set([...Object.keys(LOG_FIELDS), 'level', 'time', 'pid', 'msg', 'err']);
  const lines = written.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines)
    expect(Object.keys(JSON.parse(line)).filter((field) => !known.has(field))).toEqual([]);
}
