// The package of the OpenID Provider is loaded by processes that sign members in, and not before.
import { issueIdToken } from '@partner-loyalty/members';
import { INSPECT, type Inspector, inspect } from '../support/servers/inspector.ts';
import { BUILT_IN } from '../support/service/mailbox.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';

const PROFILE = '{ memberProfile(id: "m-both") { email } }';

let service: DeployedService;
let inspectors: Inspector[];

async function start(deployment: 'one process' | 'three processes', env = {}): Promise<void> {
  service = await startDeployed(deployment, { NODE_OPTIONS: INSPECT, ...env });
  const { gateway, members } = service.stack;
  inspectors = [await inspect(gateway), ...(members ? [await inspect(members)] : [])];
}
afterEach(async () => {
  for (const inspector of inspectors) inspector.close();
  await service.close();
});

/** Whether each process has loaded it: the gateway or the one process, then members. */
async function loaded(): Promise<boolean[]> {
  const sources = await Promise.all(inspectors.map((inspector) => inspector.sources()));
  expect(sources.every((files) => files.some((file) => file.endsWith('lifecycle.ts')))).toBe(true);
  return sources.map((files) => files.some((file) => file.includes('/oidc-provider/')));
}

const get = async (path: string) => (await fetch(service.stack.gateway.url + path)).status;

test.each([
  ['one process', [false], [true]],
  ['three processes', [false, false], [false, true]],
] as const)(
  '%s: neither the start nor a bearer token nor discovery loads it, the first page does',
  async (deployment, before, after) => {
    await start(deployment, BUILT_IN);
    const { members } = service.stack.stores;
    const issuer = (await members.signingKeys.issuer()) ?? '';
    const claims = { memberId: 'm-both', email: 'both@example.com' };
    const { idToken } = await issueIdToken(members, claims, issuer, new Date());
    expect((await service.send({ query: PROFILE, token: idToken })).code).toBeUndefined();
    expect(await get('/.well-known/openid-configuration')).toBe(200);
    expect(await loaded()).toEqual(before);
    expect(await get('/sign-in')).toBe(200);
    expect(await loaded()).toEqual(after);
  },
);

test('a process whose members sign in with another provider never loads it', async () => {
  await start('one process');
  const token = await service.provider.issue('m-both');
  expect((await service.send({ query: PROFILE, token })).code).toBeUndefined();
  const paths = ['/sign-in', '/account', '/oauth/authorize', '/.well-known/openid-configuration'];
  for (const path of paths) expect(await get(path)).not.toBe(500);
  expect(await loaded()).toEqual([false]);
});
