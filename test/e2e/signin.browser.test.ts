// Sign-in as members see it, in a real browser: link, profile, change of address.
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core';
import { openPage as openIn, readingFaults, startBrowser } from '../support/servers/browser.ts';
import { codeIn, startMailServer, tokenIn } from '../support/servers/mailserver.ts';
import { freePort } from '../support/servers/process.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import {
  BUILT_IN,
  linkIn,
  magicLink,
  newMember,
  nextEmail,
  REQUEST,
} from '../support/service/mailbox.ts';
import { startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

let browser: Browser;
let service: InProcessService;
let origin: string;
let contexts: BrowserContext[] = [];

beforeAll(async () => {
  browser = await startBrowser();
  const port = await freePort();
  origin = `http://localhost:${port}`;
  service = await startInProcess({ env: { ...BUILT_IN, PORT: `${port}`, SANDBOX_URL: origin } });
});
afterEach(async () => {
  for (const context of contexts) await context.close();
  contexts = [];
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

async function openPage(options: BrowserContextOptions = {}) {
  const opened = await openIn(browser, `${origin}/sign-in`, options);
  contexts.push(opened.page.context());
  return opened;
}

const newLink = async () => magicLink(service, (await newMember(service)).email);
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const navigates = (page: Page, act: () => Promise<unknown>) =>
  Promise.all([page.waitForEvent('domcontentloaded'), act()]);
const press = (page: Page, name: string) =>
  navigates(page, () => page.getByRole('button', { name }).click());

test('a link leads to the profile, where the address can be changed, confirmed and changed back', async () => {
  const { page, faults } = await openPage();
  const link = await magicLink(service, 'both@example.com');
  expect(link).toMatch(new RegExp(`^${origin}/sign-in\\?token=ml_`));

  await page.goto(link);
  expect([await page.title(), await heading(page)]).toEqual(['Sign in', 'Sign in']);
  expect(await page.locator('.owner').innerText()).toBe('sandbox');
  await press(page, 'Sign in');
  expect([await page.title(), await heading(page)]).toEqual(['Your profile', 'Your profile']);
  expect(page.url()).toBe(`${origin}/sign-in`);
  expect(await page.locator('dl').innerText()).toMatch(
    /Teal Heron\s+Email\s+Both@Example.com\s+Points this year\s+950\s+Stays this year\s+3/,
  );
  expect(await page.getByRole('row').allInnerTexts()).toEqual([
    'Partner\tTier\tPoints',
    'alpha\tSilver\t250',
    'beta\tPrime\t700',
  ]);

  const proof = await nextEmail(service, 'teal@example.org', async () => {
    await page.getByLabel('New email address').fill('Teal@Example.org');
    await press(page, 'Send the link');
  });
  expect(await page.getByRole('status').innerText()).toBe(
    'We have sent a link to Teal@Example.org. Open it to make the change.',
  );
  expect(await page.locator('dl').innerText()).toContain('Both@Example.com');

  const notice = await nextEmail(service, 'both@example.com', async () => {
    await page.goto(linkIn(proof));
    expect(await heading(page)).toBe('Confirm your new email address');
    await press(page, 'Confirm the new address');
    expect(await heading(page)).toBe('Your email address has been changed');
    expect(await page.getByRole('main').innerText()).toContain('Teal@Example.org');
  });
  expect(notice).not.toMatch(/teal@example.org/i);
  const byEmail = async (email: string) => {
    const query = 'query ($email: String!) { memberByEmail(email: $email) { memberId email } }';
    return (await service.send({ query, variables: { email } })).body.data?.memberByEmail;
  };
  expect(await byEmail('teal@example.org')).toEqual({
    memberId: 'm-both',
    email: 'Teal@Example.org',
  });
  expect(await byEmail('both@example.com')).toEqual({
    memberId: 'm-both',
    email: 'Teal@Example.org',
  });

  await page.goto(linkIn(notice));
  expect(await heading(page)).toBe('Undo the change to your email address');
  await press(page, 'Undo the change');
  expect(await heading(page)).toBe('Your former email address is back');
  expect(await byEmail('both@example.com')).toEqual({
    memberId: 'm-both',
    email: 'Both@Example.com',
  });
  expect(await byEmail('teal@example.org')).toBeNull();
  expect(faults).toEqual([]);
});

test('an app is agreed to, shown and revoked, on a phone and by keyboard', async () => {
  const { email } = await newMember(service);
  const app = { clientId: 'app-1', partnerId: 'alpha', name: 'Alpha Rooms', origins: [] };
  const redirectUris = [`${origin}/callback`];
  await service.stores.members.apps.add({ ...app, redirectUris, createdAt: Date.now() });
  const { page } = await openPage({ viewport: { width: 360, height: 640 } });
  const pressFirst = (name: string) =>
    navigates(page, () => page.getByRole('button', { name, exact: true }).first().click());
  const prove = async (on: Page) => {
    const mail = await nextEmail(service, email, async () => {
      await on.locator('input[type=email]').fill(email);
      await press(on, 'Continue');
    });
    if (on === page) expect(await readingFaults(page)).toEqual([]);
    await on.locator('input[autocomplete=one-time-code]').fill(codeIn(mail));
    await press(on, 'Sign in');
  };

  const asked = {
    client_id: 'app-1',
    redirect_uri: `${origin}/callback`,
    response_type: 'code',
    scope: 'openid profile',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  };
  await page.goto(`${origin}/oauth/authorize?${new URLSearchParams(asked)}`);
  expect(await page.getByRole('main').innerText()).toContain('Alpha Rooms');
  expect(await readingFaults(page)).toEqual([]);
  await prove(page);
  expect(await heading(page)).toBe('Do you want to use “Alpha Rooms”?');
  expect(await readingFaults(page)).toEqual([]);
  await press(page, 'Agree');
  await page.waitForURL((url) => url.searchParams.has('code'));

  const { page: elsewhere } = await openPage();
  await elsewhere.goto(`${origin}/account`);
  await prove(elsewhere);
  await page.goto(`${origin}/account`);
  expect(await readingFaults(page)).toEqual([]);
  expect(await page.getByRole('main').innerText()).toContain('“Alpha Rooms” of alpha');
  await pressFirst('Revoke');
  expect(await page.getByRole('status').innerText()).toContain('can no longer see anything');
  await pressFirst('End');
  await elsewhere.goto(`${origin}/account`);
  expect(elsewhere.url()).toBe(`${origin}/sign-in`);

  const leave = page.locator('summary', { hasText: 'Leave' });
  await leave.first().focus();
  await page.keyboard.press('Enter');
  expect(await page.locator('details[open]').innerText()).toMatch(
    /You lose your [\d,]+ points and the tier \w+ with alpha, which can no longer see your data itself. Its apps still can, until you revoke/,
  );
  expect(await leave.count()).toBe(2);
  expect(await readingFaults(page)).toEqual([]);
  await pressFirst('Leave');
  expect(await leave.count()).toBe(1);
  await page.getByLabel('First name').fill('Umber');
  await pressFirst('Save the name');
  expect(await page.locator('dl').innerText()).toContain('Umber');
  await press(page, 'Sign out');
  expect(await heading(page)).toBe('You are signed out');
  await page.goto(`${origin}/account`);
  expect(page.url()).toBe(`${origin}/sign-in`);
});

describe('over plain HTTP, where browsers send no Sec-Fetch-Site', () => {
  const host = 'loyalty.test';
  let plain: InProcessService;
  let remote: Browser;
  beforeAll(async () => {
    const port = await freePort();
    const env = { ...BUILT_IN, PORT: `${port}`, SANDBOX_URL: `http://${host}:${port}` };
    plain = await startInProcess({ env });
    remote = await startBrowser([`--host-resolver-rules=MAP ${host} 127.0.0.1`]);
  });
  afterAll(async () => {
    await remote?.close();
    await plain?.close();
  });

  test.each([true, false])(
    'a mailed link signs in, pressed twice too; scripts: %s',
    async (scripts) => {
      const page = await remote.newPage({ javaScriptEnabled: scripts });
      const sent: (string | undefined)[] = [];
      page.on('request', (request) => {
        const { origin, 'sec-fetch-site': site } = request.headers();
        if (request.method() === 'POST') sent.push(`${origin} ${site}`);
      });
      await page.goto(await magicLink(plain, (await newMember(plain)).email));
      await page.getByRole('button', { name: 'Sign in' }).dblclick({ noWaitAfter: true });
      await page.getByRole('heading', { name: 'Your profile' }).waitFor();
      expect(new Set(sent)).toEqual(new Set(['null undefined']));
      expect(scripts ? sent.length : 1).toBe(1);
      await page.getByLabel('First name').fill('Zoë');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Zoë').waitFor();
      expect(sent.at(-1)).toBe(`${new URL(page.url()).origin} undefined`);
      await page.close();
    },
  );
});

test('a button shows that it was pressed, and its form is sent once', async () => {
  const { page, faults } = await openPage();
  await page.goto(`${origin}/sign-in`);
  const posts: Route[] = [];
  await page.route('**', (route) => void posts.push(route));
  await page.getByLabel('Email address').fill('Μαρία@example.com');
  const shown = "getComputedStyle(document.querySelector('button'), '::after').content";
  expect(await page.evaluate(shown)).toBe('none');
  const press = "for (const n of [1, 2]) document.querySelector('button').click()";
  expect(await page.evaluate(`${press}; ${shown}`)).toBe('"…"');
  await until(() => posts.length > 0);
  await posts[0]?.continue();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  expect([posts.length, faults]).toEqual([1, []]);
});

test('opening a link does not use it up, however often and whoever does it', async () => {
  const link = await newLink();
  for (const method of ['GET', 'HEAD', 'GET'])
    expect((await fetch(link, { method })).status).toBe(200);
  const { page } = await openPage();
  await page.goto(link);
  await page.reload();
  await press(page, 'Sign in');
  expect(await heading(page)).toBe('Your profile');
});

test('on a phone nothing is cut off or too small to touch, in light and dark mode', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, faults } = await openPage({
      viewport: { width: 320, height: 640 },
      isMobile: true,
      hasTouch: true,
      colorScheme,
    });
    await page.goto(await newLink());
    await navigates(page, () => page.getByRole('button').tap());
    expect(await heading(page)).toBe('Your profile');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    const controls = await page.getByRole('button').or(page.getByRole('textbox')).all();
    expect(controls.length).toBeGreaterThan(0);
    for (const control of controls) {
      expect((await control.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    }
    expect(
      await page.evaluate('Number.parseFloat(getComputedStyle(document.body).fontSize)'),
    ).toBeGreaterThanOrEqual(16);
    expect(faults).toEqual([]);
  }
});

test('a screen reader gets the language, the labels and the errors', async () => {
  const { page } = await openPage();
  await page.goto(await newLink());
  expect(await page.locator('html').getAttribute('lang')).toBe('en');
  await press(page, 'Sign in');
  expect(await page.getByRole('main').ariaSnapshot()).toContain('- textbox "New email address"');
  await page.getByRole('table', { name: 'Your standing' }).waitFor();
  await page.getByLabel('New email address').fill('x@1.2.3.4');
  await press(page, 'Send the link');
  expect(await page.getByRole('alert').innerText()).toBe(
    'That is not an email address we can use.',
  );
});

test('with standings down, a link still signs in, and the page offers to try again', async () => {
  const server = await startMailServer();
  const { stack, send, close } = await startDeployed('three processes', {
    ...BUILT_IN,
    SMTP_URL: server.url,
  });
  const form = async (fields: Record<string, string>) => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    const reply = await fetch(`${stack.gateway.url}/sign-in`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(fields),
    });
    return {
      status: reply.status,
      text: await reply.text(),
      cookie: reply.headers.get('set-cookie'),
    };
  };
  const link = async () => {
    const before = server.mails.length;
    await send({ query: REQUEST, variables: { email: 'both@example.com' } });
    await until(() => server.mails.length > before);
    return tokenIn(server.mails.at(-1)?.text);
  };
  try {
    expect(await form({ token: await link() })).toMatchObject({
      status: 200,
      text: expect.stringMatching(/Your profile.*Both@Example\.com.*950/s),
    });
    await stack.standings?.stop();
    const signedIn = await form({ token: await link() });
    expect(signedIn).toMatchObject({
      status: 503,
      text: expect.stringContaining('You are signed in'),
    });
    const cookie = signedIn.cookie?.split(';')[0] ?? '';
    const again = await fetch(`${stack.gateway.url}/account`, { headers: { cookie } });
    expect([again.status, await again.text()]).toEqual([503, expect.stringContaining('Try again')]);
    await stack.members?.stop();
    expect(await form({ token: `ml_${'x'.repeat(43)}` })).toMatchObject({
      status: 503,
      text: expect.stringContaining('try again in a minute'),
    });
  } finally {
    await close();
    await server.down();
  }
});

test('XSS in names, addresses, partners and tokens is shown as text', async () => {
  const payload = '<img src=x onerror=alert(1)><script>alert(1)</script>';
  const quoted = '"><svg onload=alert(1)>\'';
  await service.stores.keys.createPartner({
    partnerId: 'xss',
    name: `${payload}&amp;`,
    createdAt: new Date(),
  });
  const address = { typed: "o'neil&co`{}$@example.com", canonical: "o'neil&co`{}$@example.com" };
  await service.stores.members.importMembers([
    {
      memberId: 'm-xss',
      address,
      previousAddresses: [],
      firstName: payload,
      lastName: quoted,
      enrollments: [{ partnerId: 'alpha' }, { partnerId: 'xss' }],
    },
  ]);
  const context = await browser.newContext();
  const page = await context.newPage();
  const alerts: string[] = [];
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message());
    return dialog.dismiss();
  });
  const before = service.mail().length;
  await service.send({ query: REQUEST, variables: { email: address.typed } });
  await until(() => service.mail().length > before);
  await page.goto(`${service.url}/sign-in?token=${tokenIn(service.mail().at(-1))}`);
  await Promise.all([page.waitForEvent('domcontentloaded'), page.getByRole('button').click()]);
  const text = await page.getByRole('main').innerText();
  for (const shown of [`${payload} ${quoted}`, address.typed, `${payload}&amp;`])
    expect(text).toContain(shown);
  expect(await page.locator('main').locator('img, script, svg').count()).toBe(0);
  for (const query of [
    `token=${encodeURIComponent(`ml_${quoted}`)}`,
    `token=ml_x&${encodeURIComponent(payload)}`,
  ]) {
    await page.goto(`${service.url}/sign-in?${query}`);
    expect(await page.content()).not.toContain('alert(1)');
  }
  expect(alerts).toEqual([]);
  await context.close();
});
