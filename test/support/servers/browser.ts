// Starts the Chromium on PATH for tests.
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findCommand } from './debian.ts';

// Keeps the browser from requesting anything but the pages that a test opens.
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

// The first is the same browser without windows, and takes less than half of the CPU time.
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of a Chromium, or undefined if PATH has none. */
export function findBrowser(): string | undefined {
  return BROWSERS.map(findCommand).find((path) => path !== undefined);
}

/** Rejects if the machine has no Chromium. */
export async function startBrowser(args: readonly string[] = []): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined)
    throw new Error('this test needs Chromium: install it so that chromium is on PATH');
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: [...QUIET, ...args], timeout: 90_000 });
}

/**
 * What axe-core finds wrong with a page, but for what it calls minor or moderate: the rule, and the
 * element.
 */
async function accessibilityFaults(page: Page): Promise<string[]> {
  const { source } = await import('axe-core');
  await page.evaluate(source);
  // What passes is not looked into and not sent here, which takes most of the time on a long page.
  const violations = await page.evaluate<AxeResults['violations']>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Between them, they have both colour schemes and both layouts. */
export const LOOKS: [string, BrowserContextOptions][] = [
  ['a desktop', { viewport: { width: 1280, height: 800 } }],
  [
    'a phone at night',
    { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, colorScheme: 'dark' },
  ],
];

/**
 * A page in a context of its own. `faults` are its console messages, which include violations of
 * the CSP, its errors, and its requests to elsewhere than URLs that begin with `home`.
 */
export async function openPage(
  browser: Browser,
  home: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; faults: string[] }> {
  const { origin } = new URL(home);
  const page = await (await browser.newContext({ baseURL: origin, ...options })).newPage();
  const faults: string[] = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(home)) faults.push(request.url());
  });
  return { page, faults };
}

/** What keeps people from reading a page: what axe finds, and what is wider than the window. */
export async function readingFaults(page: Page): Promise<string[]> {
  const wider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  const faults = [...(await accessibilityFaults(page)), ...(wider ? ['too wide'] : [])];
  return faults.map((fault) => `${page.url()}: ${fault}`);
}
