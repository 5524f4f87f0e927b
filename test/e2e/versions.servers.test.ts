// Gateways and subgraphs of neighbouring versions run beside each other.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureSigningKey } from '@partner-loyalty/members';
import { importJWK, type JWK, SignJWT } from 'jose';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { checkOutPrevious } from '../support/programs/previous.ts';
import { run } from '../support/servers/process.ts';
import { mailIn } from '../support/service/inprocess.ts';
import { bareEnv, type Env } from '../support/service/loyalty.ts';
import { BUILT_IN, EXCHANGE, magicLink } from '../support/service/mailbox.ts';
import {
  type Checkout,
  type Checkouts,
  type DeployedService,
  startDeployed,
} from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

let previous: Folder;
beforeAll(() => {
  previous = temporaryFolder();
  checkOutPrevious(previous.path);
  writeFileSync(join(previous.path, 'fill.ts'), FILL);
});
afterAll(() => previous.remove());

/** Fills stores by the code of the version before, and prints the keys. */
const FILL = `
  import { openMembersStore } from '@partner-loyalty/members';
  import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
  import { openStandingsStore } from '@partner-loyalty/standings';
  import { openKeyStore } from './gateway/src/stores.ts';
  import { addKey, fillStores } from './test/support/service/testdata.ts';
  const settings = readSettings(process.env, 'all');
  const keys = await openKeyStore(settings);
  const [members, standings] = [await openMembersStore(settings), await openStandingsStore(settings)];
  await keys.setOrigin('operator');
  const added = await fillStores({ keys, members, standings });
  const scopes = ['read', 'enroll', 'ingest'];
  const recorder = await addKey(keys, 'alpha', 'sandbox', { scopes });
  for (const store of [keys, members, standings]) await store.close();
  console.log(JSON.stringify({ ...added, recorder }));
`;

type Previous = Checkout & { keys: { recorder: string }; remove(): void };

/** The version before, on stores of its own: their format is another one. */
async function openPrevious(): Promise<Previous> {
  const { path: root } = previous;
  const folder = temporaryFolder();
  const env: Env = { DATA_DIR: folder.path };
  const variables = Object.entries({ ...bareEnv(), ...env }).filter(([, value]) => value);
  const program = [process.execPath, '--import', 'tsx', join(root, 'fill.ts')];
  const args = ['-C', root, '-i', ...variables.map((pair) => pair.join('=')), ...program];
  const keys = JSON.parse(await run('env', args));
  return { root, env, keys, remove: folder.remove };
}

const PAIRS: [string, (previous: Checkout) => Checkouts][] = [
  ['a gateway of the version before', (gateway) => ({ gateway })],
  ['subgraphs of the version before', (subgraphs) => ({ subgraphs })],
];

describe.each(PAIRS)('%s', (_, checkouts) => {
  let former: Previous;
  let service: DeployedService;
  beforeAll(async () => {
    former = await openPrevious();
    service = await startDeployed('three processes', {}, checkouts(former));
  });
  afterAll(async () => {
    await service.close();
    former.remove();
  });

  const data = async (request: Parameters<DeployedService['send']>[0]) => {
    const { body, text } = await service.send(request);
    expect([text, body.errors]).toEqual([text, undefined]);
    return body.data ?? {};
  };

  test('one operation, and several in a batch, read from both subgraphs', async () => {
    const query = '{ memberByEmail(email: "both@example.com") { memberId firstName tier points } }';
    const member = { memberId: 'm-both', firstName: 'Teal', tier: 'Silver', points: 250 };
    expect(await data({ query })).toEqual({ memberByEmail: member });
    const many = await Promise.all(Array.from({ length: 20 }, () => data({ query })));
    expect(many).toEqual(Array.from({ length: 20 }, () => ({ memberByEmail: member })));
  });

  test('a member reads a profile', async () => {
    const token = await service.provider.issue('m-both');
    const query = '{ memberProfile(id: "m-both") { email partnerStandings { partnerId } } }';
    expect(await data({ query, token })).toMatchObject({
      memberProfile: { partnerStandings: [{ partnerId: 'alpha' }, { partnerId: 'beta' }] },
    });
  });

  test('a partner enrolls, and records what standings asks members about', async () => {
    const scopes = ['read', 'enroll', 'ingest'] as const;
    const key =
      checkouts(former).gateway === undefined
        ? await addKey(service.stack.stores.keys, 'alpha', 'sandbox', { scopes })
        : former.keys.recorder;
    const enrolled = await data({
      query: 'mutation { enrollMember(input: { email: "n@example.com" }) { member { memberId } } }',
      key,
    });
    // Cast: the schema guarantees it if there is no error.
    const { member } = enrolled.enrollMember as { member: { memberId: string } };
    const activity = { ...member, activityId: 'recorded-1', points: 120, occurredAt: new Date() };
    const query = `mutation ($activities: [ActivityInput!]!) {
      recordActivities(activities: $activities) { outcome } }`;
    expect(await data({ query, variables: { activities: [activity] }, key })).toEqual({
      recordActivities: [{ outcome: 'RECORDED' }],
    });
    const read = '{ memberByEmail(email: "n@example.com") { tier points } }';
    expect(await data({ query: read, key })).toEqual({
      memberByEmail: { tier: 'Silver', points: 120 },
    });
  });

  test('no process refuses or misses a response', async () => {
    const { gateway, members, standings } = service.stack;
    const outputs = () => [gateway, members, standings].map((running) => running?.output() ?? '');
    // A process writes its lines with a delay, in order.
    await until(() => outputs().every((output) => output.includes('"msg":"request"')));
    expect(outputs().join('')).not.toMatch(/a request was refused|a subgraph did not answer/);
  });
});

describe('the built-in provider, with a gateway of the version before', () => {
  let former: Previous;
  let service: DeployedService;
  beforeAll(async () => {
    former = await openPrevious();
    const env = { ...BUILT_IN, SANDBOX_URL: 'http://127.0.0.1:1' };
    service = await startDeployed('three processes', env, { gateway: former });
    // As a process of this version does at its start.
    await ensureSigningKey(service.stack.stores.members.signingKeys);
  });
  afterAll(async () => {
    await service.close();
    former.remove();
  });

  const read = async (token: string) => {
    const { body } = await service.send({
      query: '{ memberProfile(id: "m-both") { email } }',
      token,
    });
    return body.data?.memberProfile;
  };

  test('the token of an app shows no more than the version before does', async () => {
    const { signingKeys } = service.stack.stores.members;
    const current = (await signingKeys.keys()).find(({ state }) => state === 'current');
    if (current?.state !== 'current') throw new Error('there is no signing key');
    const key = await importJWK(current.privateKey as JWK, 'RS256'); // Cast: it is not sealed here.
    const { SANDBOX_URL: issuer = '' } = service.stack.env;
    const tokenWith = (scope: string) =>
      new SignJWT({ scope, client_id: 'app', partner_id: 'alpha', sid: 's' })
        .setProtectedHeader({ alg: 'RS256', kid: current.kid, typ: 'at+jwt' })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setSubject('m-both')
        .setIssuedAt()
        .setExpirationTime('10m')
        .sign(key);
    const query =
      '{ memberProfile(id: "m-both") { email firstName partnerStandings { partnerId } } }';
    const asked = async (scope: string) =>
      (await service.send({ query, token: await tokenWith(scope) })).body;
    const all = {
      memberProfile: {
        email: 'Both@Example.com',
        firstName: 'Teal',
        partnerStandings: [{ partnerId: 'alpha' }],
      },
    };
    // Many at a time go in arrays, of which none must refuse or widen another.
    const both = Array.from({ length: 10 }, () => ['openid', 'openid profile email']).flat();
    const shown = await Promise.all(
      both.map(async (scope) => [scope, await asked(scope)] as const),
    );
    for (const [scope, body] of shown)
      if (scope !== 'openid') expect(body).toEqual({ data: all });
      else {
        expect(body).toMatchObject({ data: { memberProfile: null } });
        expect(JSON.stringify(body)).not.toMatch(/Teal|Both@/);
      }
  });

  test('people sign in through a gateway of the version before', async () => {
    const url = `${service.stack.gateway.url}/sign-in`;
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('id="email"')]);
    const body = new URLSearchParams({ email: 'nobody@example.com' });
    const headers = { 'sec-fetch-site': 'same-origin' };
    const typed = await fetch(url, { method: 'POST', headers, body });
    expect([typed.status, await typed.text()]).toEqual([200, expect.stringContaining('id="code"')]);
  });

  test('tokens are valid that the running subgraphs sign', async () => {
    const mailbox = { mail: () => mailIn(service.stack.env.DATA_DIR ?? ''), send: service.send };
    const token = new URL(await magicLink(mailbox, 'both@example.com')).searchParams.get('token');
    const { body } = await service.send({ query: EXCHANGE, variables: { token } });
    const [, idToken = ''] = /"idToken":"([^"]+)"/.exec(JSON.stringify(body)) ?? [];
    expect(await read(idToken)).toEqual({ email: 'Both@Example.com' });
  });
});
