// An app in a real browser, with the unmodified oidc-client-ts: from discovery to signing out.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { App } from '@partner-loyalty/members';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { createIdentity } from '../../extensions/provider/src/members/handle.ts';
import { accessibilityFaults, startBrowser } from '../support/servers/browser.ts';
import { freePort } from '../support/servers/process.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { BUILT_IN, newMember, nextEmail } from '../support/service/mailbox.ts';
import { until } from '../support/until.ts';

const LIBRARY = join(
  import.meta.dirname,
  '../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js',
);

let browser: Browser;
let service: InProcessService;
let issuer: string;
/** The app's pages: any path is the same empty page with the library. */
let pages: Server;
let home: string;
let contexts: BrowserContext[] = [];

beforeAll(async () => {
  browser = await startBrowser();
  const port = await freePort();
  issuer = `http://127.0.0.1:${port}`;
  service = await startInProcess({ env: { ...BUILT_IN, PORT: `${port}`, SANDBOX_URL: issuer } });
  const library = readFileSync(LIBRARY);
  pages = createServer((request, response) => {
    const isLibrary = request.url === '/library.js';
    response.setHeader('content-type', isLibrary ? 'text/javascript' : 'text/html');
    response.end(
      isLibrary ? library : '<!doctype html><title>App</title><script src="/library.js"></script>',
    );
  }).listen(0, 'localhost');
  await once(pages, 'listening');
  // Cast: a server that listens on a port has an address with a port.
  home = `http://localhost:${(pages.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const context of contexts) await context.close();
  contexts = [];
});
afterAll(async () => {
  await browser?.close();
  pages?.closeAllConnections();
  pages?.close();
  await service?.close();
});

let made = 0;

/** Registers an app of alpha at `home`, which is public unless `app` says otherwise. */
async function register(app: Partial<App> = {}): Promise<string> {
  made += 1;
  const clientId = `app-${made}`;
  await service.stores.members.apps.add({
    clientId,
    partnerId: 'alpha',
    name: 'Alpha Rooms',
    redirectUris: [`${home}/callback`],
    origins: [home],
    createdAt: Date.now(),
    ...app,
  });
  return clientId;
}

async function open(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  contexts.push(context);
  return context.newPage();
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const press = (page: Page, name: string) =>
  Promise.all([
    page.waitForEvent('domcontentloaded'),
    page.getByRole('button', { name, exact: true }).first().click(),
  ]);
const codeIn = (mail: string) => /\b[B-Z]{4}-[B-Z]{4}\b/.exec(mail)?.[0] ?? 'no code';

/** Runs `code` on a page of the app, in which `manager` is a UserManager of the library. */
async function inApp<T>(page: Page, clientId: string, code: string): Promise<T> {
  const settings = {
    authority: issuer,
    client_id: clientId,
    redirect_uri: `${home}/callback`,
    post_logout_redirect_uri: `${home}/callback`,
    scope: 'openid profile email offline_access',
    loadUserInfo: true,
    automaticSilentRenew: false,
  };
  return page.evaluate(`(async () => {
    const manager = new oidc.UserManager(${JSON.stringify(settings)});
    ${code}
  })()`);
}

/** From the app to a page of the service; `call` is what the library is asked for. */
async function depart(page: Page, clientId: string, call: string): Promise<void> {
  await page.goto(home);
  await Promise.all([
    page.waitForURL((url) => url.href.startsWith(issuer)),
    inApp(page, clientId, `void manager.${call}`),
  ]);
}

/** Types the address, and resolves with the mail. */
async function typeAddress(page: Page, email: string): Promise<string> {
  await page.locator('input[type=email]').fill(email);
  return nextEmail(service, email, () => press(page, 'Continue'));
}

async function typeCode(page: Page, code: string): Promise<void> {
  await page.locator('input[autocomplete=one-time-code]').fill(code);
  await press(page, 'Sign in');
}

type User = {
  profile: Record<string, unknown>;
  access_token: string;
  id_token: string;
  refresh_token: string;
  state: unknown;
};
/** Takes the code that the browser was sent back to the app with. */
async function user(page: Page, clientId: string): Promise<User> {
  await page.waitForURL((url) => url.href.startsWith(`${home}/callback`));
  return inApp(
    page,
    clientId,
    'const user = await manager.signinCallback(); return JSON.parse(JSON.stringify(user));',
  );
}

/** What a page of the app gets from the API with a token. */
const fromApi = (page: Page, token: string, query: string) =>
  page.evaluate<{ data?: Record<string, unknown>; errors?: { extensions: { code: string } }[] }>(
    `fetch(${JSON.stringify(`${issuer}/graphql`)}, {
      method: 'POST',
      headers: { authorization: 'Bearer ' + ${JSON.stringify(token)}, 'content-type': 'application/json' },
      body: JSON.stringify({ query: ${JSON.stringify(query)} }),
    }).then((response) => response.json())`,
  );
const codeOf = async (...args: Parameters<typeof fromApi>) =>
  (await fromApi(...args)).errors?.[0]?.extensions.code;

test('an app signs a member in, reads, refreshes and signs out', async () => {
  const { memberId, email } = await newMember(service, { firstName: 'Teal', lastName: 'Heron' });
  const clientId = await register();
  const page = await open({ viewport: { width: 360, height: 640 } });
  await depart(page, clientId, 'signinRedirect({ state: "kept" })');
  expect(await page.getByRole('main').innerText()).toContain('Alpha Rooms');
  expect(await accessibilityFaults(page)).toEqual([]);
  const mail = await typeAddress(page, email);
  expect(await accessibilityFaults(page)).toEqual([]);
  await typeCode(page, codeIn(mail).toLowerCase().replace('-', ' '));
  expect(await heading(page)).toBe('Do you want to use Alpha Rooms?');
  expect(await page.getByRole('main').innerText()).toContain('alpha');
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  await press(page, 'Agree');

  const signedIn = await user(page, clientId);
  expect(signedIn.state).toBe('kept');
  expect(signedIn.profile).toMatchObject({
    ...{ sub: memberId, email, email_verified: true, name: 'Teal Heron' },
    ...{ given_name: 'Teal', family_name: 'Heron' },
  });
  const query = `{ memberProfile(id: "${memberId}") { email partnerStandings { partnerId } } }`;
  const read = { memberProfile: { email, partnerStandings: [{ partnerId: 'alpha' }] } };
  for (const token of [signedIn.access_token, signedIn.id_token])
    expect(await fromApi(page, token, query)).toEqual({ data: read });
  const rename = 'mutation { updateProfile(input: { firstName: "Eve" }) { firstName } }';
  expect(await codeOf(page, signedIn.id_token, rename)).toBe('FORBIDDEN');
  expect(await codeOf(page, signedIn.access_token, rename)).toBe('FORBIDDEN');

  const refreshed = await inApp<User>(
    page,
    clientId,
    'return JSON.parse(JSON.stringify(await manager.signinSilent()))',
  );
  expect(refreshed.refresh_token).not.toBe(signedIn.refresh_token);
  expect(await fromApi(page, refreshed.access_token, query)).toEqual({ data: read });

  await depart(page, clientId, 'signoutRedirect()');
  expect(await accessibilityFaults(page)).toEqual([]);
  await press(page, 'Sign out');
  await page.waitForURL((url) => url.href.startsWith(`${home}/callback`));
  await page.goto(`${issuer}/account`);
  expect(page.url()).toBe(`${issuer}/sign-in`);
});

test('the configuration says what the library behind it does', async () => {
  const identity = createIdentity({
    store: service.stores.members,
    issuer,
    log: createLog('silent'),
    metrics: createMetrics(),
    inbox: undefined,
    enqueueMail: async () => ({ accepted: true as const }),
    wake() {},
  });
  const asked = { method: 'GET', path: '/.well-known/openid-configuration', search: '', body: '' };
  const request = { ...asked, headers: {}, clientAddress: '192.0.2.1', language: 'en' };
  const { body = '' } = await identity(request);
  // Apps have no other mode, and lists have no order.
  const own = { response_modes_supported: ['query'], claim_types_supported: undefined };
  const sorted = (document: object) =>
    Object.fromEntries(
      Object.entries(document).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.toSorted() : value,
      ]),
    );
  const served = Object(await (await fetch(`${issuer}/.well-known/openid-configuration`)).json());
  expect(sorted(served)).toEqual(
    sorted({
      ...JSON.parse(body),
      ...own,
      userinfo_endpoint: `${issuer}/oauth/userinfo`,
      revocation_endpoint_auth_methods_supported: [
        ...['client_secret_basic', 'client_secret_post', 'none'],
      ],
    }),
  );
});

describe('the account page', () => {
  const enter = async (page: Page, email: string) => {
    await page.goto(`${issuer}/account`);
    expect(page.url()).toBe(`${issuer}/sign-in`);
    await typeCode(page, codeIn(await typeAddress(page, email)));
    expect(await heading(page)).toBe('Your profile');
  };

  test('shows and ends enrollments, apps and sessions, on a phone and by keyboard', async () => {
    const { memberId, email } = await newMember(service);
    const clientId = await register();
    const page = await open({ viewport: { width: 360, height: 640 } });
    await enter(page, email);
    await depart(page, clientId, 'signinRedirect()');
    await press(page, 'Agree');
    const { access_token: token } = await user(page, clientId);
    const query = `{ memberProfile(id: "${memberId}") { email } }`;
    expect(await codeOf(page, token, query)).toBeUndefined();

    const elsewhere = await open();
    await enter(elsewhere, email);
    await page.goto(`${issuer}/account`);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await page.getByRole('main').innerText()).toContain('Alpha Rooms of alpha');

    await press(page, 'Revoke');
    expect(await page.getByRole('status').innerText()).toContain('can no longer see anything');
    const inside = await open();
    await inside.goto(home);
    const refused = async () => (await codeOf(inside, token, query)) === 'UNAUTHENTICATED';
    await until(refused);
    await press(page, 'End');
    await elsewhere.goto(`${issuer}/account`);
    expect(elsewhere.url()).toBe(`${issuer}/sign-in`);

    const leave = page.locator('summary', { hasText: 'Leave' });
    expect(await leave.count()).toBe(2);
    await leave.first().focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('details[open]').innerText()).toMatch(
      /You lose your [\d,]+ points and the tier \w+ with alpha, which can no longer see your data itself. Its apps still can, until you revoke/,
    );
    expect(await leave.count()).toBe(2);
    expect(await accessibilityFaults(page)).toEqual([]);
    await press(page, 'Leave');
    expect(await leave.count()).toBe(1);

    await page.getByLabel('First name').fill('Umber');
    await press(page, 'Save the name');
    expect(await page.locator('dl').innerText()).toContain('Umber');
    await press(page, 'Sign out');
    expect(await heading(page)).toBe('You are signed out');
    await page.goto(`${issuer}/account`);
    expect(page.url()).toBe(`${issuer}/sign-in`);
  });
});
