// The console in a real browser: by keyboard, on a phone, and for screen readers.
import { inviteStaff } from '@partner-loyalty/gateway';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { LOOKS, openPage, readingFaults, startBrowser } from '../support/servers/browser.ts';
import { codeIn } from '../support/servers/mailserver.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { BUILT_IN, nextEmail } from '../support/service/mailbox.ts';
import { until } from '../support/until.ts';

const SECTIONS = ['', '/keys', '/webhooks', '/apps', '/deprecations', '/staff', '/partner'];
const ADMIN = 'a.rather.long.address.of.somebody@hotels.example';

let browser: Browser;
let service: InProcessService;

beforeAll(async () => {
  [browser, service] = await Promise.all([startBrowser(), startInProcess({ env: BUILT_IN })]);
  const tables = await service.stores.keys.staffTables();
  for (const partnerId of ['alpha', 'beta'])
    await inviteStaff(tables, { partnerId, email: ADMIN, role: 'admin' });
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

const open = (options: BrowserContextOptions) => openPage(browser, `${service.url}/`, options);

/** Signs in by keyboard alone, and chooses alpha. */
async function signIn(page: Page): Promise<void> {
  await page.goto('/console');
  await page.getByLabel('Email address').press('Tab');
  const mail = await nextEmail(service, ADMIN, async () => {
    await page.getByLabel('Email address').fill(ADMIN);
    await page.keyboard.press('Enter');
    await page.getByLabel('Code').waitFor();
  });
  await page.locator('input[autocomplete=one-time-code]').fill(codeIn(mail));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /alpha/ }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor();
}

describe.each(LOOKS)('on %s', (_, look) => {
  test('each page is readable, and axe finds no fault', async () => {
    const { page, faults } = await open(look);
    await signIn(page);
    for (const section of SECTIONS) {
      await page.goto(`/console${section}`);
      expect(await page.locator('h1').count()).toBe(1);
      for (const summary of await page.locator('details > summary').all())
        await summary.press('Enter');
      expect(await readingFaults(page)).toEqual([]);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

test('an admin makes a key, which a reload does not repeat, and revokes it by keyboard', async () => {
  const { page } = await open({ viewport: { width: 360, height: 740 } });
  await signIn(page);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  const navigation = page.getByRole('navigation', { name: 'Console' });
  await navigation.getByRole('link', { name: 'API keys' }).press('Enter');
  await page.getByText('Create a key').press('Enter');
  await page.getByLabel('Name').fill('Front desk');
  await page.getByLabel('Name').press('Enter');
  const shown = page.getByRole('group', { name: 'Your new key' });
  const key = (await shown.textContent()) ?? '';
  expect((await service.send({ query: '{ viewer { scopes } }', key })).body).toEqual({
    data: { viewer: { scopes: ['read'] } },
  });
  expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(1);
  expect(await readingFaults(page)).toEqual([]);
  const [whole, visible] = await page.evaluate<[number, number]>(
    `(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('pre'))`,
  );
  expect(whole).toBeLessThanOrEqual(visible);
  await page.reload();
  const row = page.getByRole('listitem').filter({ hasText: 'Front desk' });
  expect(await row.count()).toBe(1);
  await row.getByText('Revoke', { exact: true }).first().press('Enter');
  await row.getByRole('button', { name: 'Revoke' }).press('Enter');
  await page.getByRole('status').filter({ hasText: 'The key is revoked.' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Sign in to the console' }).waitFor();
  await page.context().close();
});

test('an admin adds an endpoint, tests it and removes it by keyboard', async () => {
  const receiver = await startReceiver();
  const { page } = await open({ viewport: { width: 360, height: 740 } });
  await signIn(page);
  await page.goto('/console/webhooks');
  await page.getByLabel('URL').fill(`${receiver.url}/hooks`);
  await page.getByLabel('Only these').press('Space');
  await page.getByLabel('TIER_CHANGED').press('Space');
  await page.getByRole('button', { name: 'Add endpoint' }).press('Enter');
  expect(await page.getByRole('group', { name: 'Secret' }).textContent()).toMatch(/^whsec_/);
  await page.getByRole('link', { name: /go to the endpoint/ }).press('Enter');
  await page.getByRole('button', { name: 'Send a test' }).press('Enter');
  await page
    .getByRole('status')
    .filter({ hasText: /The test (was delivered|is on its way)/ })
    .waitFor();
  const messages = page.getByRole('list', { name: 'Latest messages' });
  await until(async () => {
    await page.reload();
    return messages.filter({ hasText: 'TEST' }).count();
  });
  expect(receiver.received).toHaveLength(1);
  for (const summary of await page.locator('details > summary').all()) await summary.press('Enter');
  expect(await readingFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Remove this endpoint' }).press('Enter');
  await page.getByText('No endpoints yet').waitFor();
  await page.context().close();
  await receiver.close();
});
