// What a process loads when it starts, and what it loads only when a request needs it.
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

/** Whether each process has loaded the OpenID Provider: the gateway or the one, then members. */
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
  '%s: neither start, bearer token nor discovery loads the OpenID Provider, its first page does',
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

/** What only some requests, settings or commands need: parts of the paths of files. */
const LATER = [
  ...['/undici/', '/nodemailer/', '/ioredis/', '/mongodb/', '/oidc-provider/'],
  ...['/@modelcontextprotocol/', '/@opentelemetry/sdk-trace-base/'],
];
const PAGES = [
  ...['/site/src/pages.ts', '/site/src/docs/', '/site/src/explorer/'],
  ...['/console/src/console.ts', '/console/src/sections.ts'],
  ...['/registry/src/endpoint.ts', '/registry/src/publish/'],
];

test('one process: neither the start nor a query loads what others need', async () => {
  await start('one process', BUILT_IN);
  const query = '{ memberByEmail(email: "both@example.com") { tier } }';
  expect((await service.send({ query })).code).toBeUndefined();
  const found = async () => {
    const sources = (await inspectors[0]?.sources()) ?? [];
    return [...LATER, ...PAGES].filter((part) => sources.some((file) => file.includes(part)));
  };
  expect(await found()).toEqual([]);
  await fetch(service.stack.gateway.url, { headers: { accept: 'text/html' } });
  expect(await found()).toContain('/site/src/pages.ts');
});

const RUNS_TYPESCRIPT = Number(process.versions.node.split('.')[0]) >= 24;

/** In a bundle. With 10 MB of code, an idle process took 128 MB of memory; with 2.5 MB, 103. */
const MAX_CODE_BYTES = 3_500_000;

(RUNS_TYPESCRIPT ? test.skip : test)('one process: the code of the start is small', async () => {
  await start('one process', BUILT_IN);
  expect(await inspectors[0]?.codeBytes()).toBeLessThan(MAX_CODE_BYTES);
});
