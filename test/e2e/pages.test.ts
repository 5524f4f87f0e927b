// The pages for partners' engineers in a real browser: what they show, and all that they load.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { accessibilityFaults, startBrowser } from '../support/servers/browser.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const PAGES = ['/', '/docs'];
const LOOKS: [string, BrowserContextOptions][] = [
  ['a desktop', { viewport: { width: 1280, height: 800 } }],
  ['a desktop at night', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
  ['a phone', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }],
  ['a phone at night', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
];
const HTML = 'text/html,*/*;q=0.8';

let browser: Browser;
let service: InProcessService;
let pages: Page[] = [];

beforeAll(async () => {
  [browser, service] = await Promise.all([startBrowser(), startInProcess()]);
});
afterEach(async () => {
  for (const page of pages) await page.context().close();
  pages = [];
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

/**
 * A page in a context of its own. `faults` are its console messages, which include violations of
 * the CSP, and its requests to other origins.
 */
async function openPage(
  path: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  pages.push(page);
  const faults: string[] = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${service.url}/`)) faults.push(request.url());
  });
  await page.goto(`${service.url}${path}`);
  return { page, faults };
}

const widths = (page: Page) =>
  page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');

describe.each(PAGES)('%s', (path) => {
  test.each(LOOKS)('on %s: readable, nothing foreign, no fault for axe', async (_, options) => {
    const { page, faults } = await openPage(path, options);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    const [content, window] = await widths(page);
    expect(content).toBeLessThanOrEqual(window);
    expect(faults).toEqual([]);
  });

  test('with another Accept, or with a key, the answer is the 404 of the API', async () => {
    for (const accept of ['application/json', '*/*'])
      expect(
        await service.send({ method: 'GET', path, key: '', headers: { accept } }),
      ).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    const keyed = await service.send({ method: 'GET', path, headers: { accept: HTML } });
    expect([keyed.status, keyed.headers.has('ratelimit-remaining')]).toEqual([404, true]);
    const posted = await service.send({ path, headers: { accept: HTML } });
    expect([posted.status, posted.code]).toEqual([404, 'NOT_FOUND']);
  });

  test('HEAD has the headers of GET, and If-None-Match gets a 304 without a body', async () => {
    const open = (method: string, headers: Record<string, string> = {}) =>
      fetch(`${service.url}${path}`, { method, headers: { accept: HTML, ...headers } });
    const [got, head] = [await open('GET'), await open('HEAD')];
    for (const name of ['content-type', 'etag', 'content-security-policy', 'cache-control'])
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)]);
    expect(await head.text()).toBe('');
    expect(got.headers.get('x-content-type-options')).toBe('nosniff');
    const etag = got.headers.get('etag') ?? '';
    const again = await open('GET', { 'if-none-match': etag });
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    expect(again.headers.has('content-type') || again.headers.has('content-length')).toBe(false);
  });
});

test('the start page leads to the reference, and the reference to its parts', async () => {
  const { page } = await openPage('/');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.getByRole('main').getByRole('link', { name: 'Reference' }).click();
  await page.waitForURL('**/docs');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Reference');
  await page.getByRole('navigation', { name: 'Contents' }).getByText('Limits').click();
  await page.waitForURL('**/docs#limits');
  const field = page.locator('#partner-Query-memberByEmail');
  expect(await field.textContent()).toBe('memberByEmail(email: String!): PartnerMemberRead');
  await field.getByRole('link', { name: 'PartnerMemberRead' }).click();
  await page.waitForURL('**/docs#partner-PartnerMemberRead');
  for (const text of ['MEMBER_NOT_FOUND', 'x-partner-api-key', 'memberProfile'])
    expect(await page.getByText(text).count()).toBeGreaterThan(0);
});
