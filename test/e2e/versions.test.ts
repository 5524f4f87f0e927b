// Gateways and subgraphs of neighbouring versions run beside each other, on the same stores.
import { ensureSigningKey } from '@partner-loyalty/members';
import { decodeProtectedHeader, importJWK, type JWK, SignJWT } from 'jose';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { checkOutPrevious } from '../support/programs/previous.ts';
import { programArgs, ROOT } from '../support/programs/programs.ts';
import { run } from '../support/servers/process.ts';
import { mailIn } from '../support/service/inprocess.ts';
import { bareEnv } from '../support/service/loyalty.ts';
import { BUILT_IN, EXCHANGE, magicLink } from '../support/service/mailbox.ts';
import { type DeployedService, type Deployment, startDeployed } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

let previous: Folder;
beforeAll(() => {
  previous = temporaryFolder();
  checkOutPrevious(previous.path);
});
afterAll(() => previous.remove());

const PAIRS: [string, Deployment, () => { gateway?: string; subgraphs?: string }][] = [
  ['a gateway of the version before', 'three processes', () => ({ gateway: previous.path })],
  ['subgraphs of the version before', 'three processes', () => ({ subgraphs: previous.path })],
  [
    'a gateway of the version before',
    'three processes on MongoDB and Redis',
    () => ({ gateway: previous.path }),
  ],
  [
    'subgraphs of the version before',
    'three processes on MongoDB and Redis',
    () => ({ subgraphs: previous.path }),
  ],
];

describe.each(PAIRS)('%s, in %s', (_, deployment, checkouts) => {
  let service: DeployedService;
  beforeAll(async () => {
    service = await startDeployed(deployment, {}, checkouts());
  });
  afterAll(() => service.close());

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
    const key = await addKey(service.stack.stores.keys, 'alpha', 'sandbox', { scopes });
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

describe.each(PAIRS.slice(0, 2))('the built-in provider, with %s', (_, deployment, checkouts) => {
  let service: DeployedService;
  beforeAll(async () => {
    const env = { ...BUILT_IN, SANDBOX_URL: 'http://127.0.0.1:1' };
    service = await startDeployed(deployment, env, checkouts());
    // As a process of this version does at its start.
    await ensureSigningKey(service.stack.stores.members.signingKeys);
  });
  afterAll(() => service.close());

  const issueWith = async (root: string) => {
    const env = Object.entries({ ...bareEnv(), ...service.stack.env }).filter(([, value]) => value);
    const command = [process.execPath, ...programArgs('bin/loyalty.ts', root)];
    const args = ['-C', root, '-i', ...env.map((pair) => pair.join('=')), ...command];
    return (await run('env', [...args, 'tokens', 'issue', 'm-both'])).trim();
  };
  const read = async (token: string) => {
    const { body } = await service.send({
      query: '{ memberProfile(id: "m-both") { email } }',
      token,
    });
    return body.data?.memberProfile;
  };

  test('tokens are valid that the version before signs on the same stores', async () => {
    const token = await issueWith(previous.path);
    expect(decodeProtectedHeader(token).alg).toBe('RS256');
    expect(await read(token)).toEqual({ email: 'Both@Example.com' });
  });

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
    if (checkouts().subgraphs !== undefined) return expect(page.status).toBeGreaterThanOrEqual(500);
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
    const { subgraphs = ROOT } = checkouts();
    const signed = await issueWith(subgraphs);
    expect(decodeProtectedHeader(idToken).alg).toBe(decodeProtectedHeader(signed).alg);
  });
});
