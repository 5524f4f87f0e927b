// The pages for partners' engineers in a real browser: what they show, and all that they load.
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Example } from '../../extensions/site/src/docs/example.ts';
import { EXAMPLES, exampleKey, LANGUAGES } from '../../extensions/site/src/docs/examples.ts';
import {
  PAGES as DOCUMENTS,
  guidePath,
  pagePath,
  referencePath,
} from '../../extensions/site/src/docs/paths.ts';
import { LIVE_KEY } from '../support/cases/outcomes.ts';
import {
  LOOKS,
  openPage as openIn,
  readingFaults,
  startBrowser,
} from '../support/servers/browser.ts';
import { freePort, run } from '../support/servers/process.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const HTML = 'text/html,*/*;q=0.8';

let browser: Browser;
let service: InProcessService;
let pages: Page[] = [];

beforeAll(async () => {
  // Commands to copy name the port that is set.
  const env = { PORT: `${await freePort()}` };
  [browser, service] = await Promise.all([startBrowser(), startInProcess({ env })]);
});
afterEach(async () => {
  for (const page of pages) await page.context().close();
  pages = [];
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

async function openPage(path: string, options: BrowserContextOptions = {}) {
  const opened = await openIn(browser, `${service.url}/`, options);
  pages.push(opened.page);
  await opened.page.goto(path);
  return opened;
}

// Guides differ in what may be too wide for a phone; this one has all that they consist of.
const OPERATION = referencePath('partner', 'queries', 'memberByEmail');
const TYPE = referencePath('partner', 'types', 'PartnerMemberRead');
const ON_A_DESKTOP = ['/', '/docs', guidePath('desk'), OPERATION, TYPE];
const ON_A_PHONE = ['/', '/docs', ...DOCUMENTS.map(pagePath), OPERATION, TYPE];
const LOOKED_AT = LOOKS.flatMap(([name, options], index) =>
  (index === 0 ? ON_A_DESKTOP : ON_A_PHONE).map((path) => [path, name, options] as const),
);

test.each(LOOKED_AT)('%s on %s: readable, nothing foreign, no fault for axe', async (...look) => {
  const [path, , options] = look;
  const { page, faults } = await openPage(path, options);
  expect(await page.locator('h1').count()).toBe(1);
  for (const each of await page.locator('summary:visible').all()) await each.click();
  expect(await readingFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('the start page leads to the documentation, and the documentation to its parts', async () => {
  const { page } = await openPage('/');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.getByRole('main').getByRole('link', { name: 'Documentation' }).click();
  await page.waitForURL('**/docs');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Documentation');
  await page.locator('nav a[href="#limits"]').click();
  await page.waitForURL('**/docs#limits');
  for (const text of ['MEMBER_NOT_FOUND', 'x-partner-api-key', 'memberProfile'])
    expect(await page.getByText(text).count()).toBeGreaterThan(0);
  await page.locator('#partner-Query-memberByEmail').getByRole('link').click();
  await page.waitForURL(`**${OPERATION}`);
  const signature = page.locator('.signature');
  expect(await signature.textContent()).toBe('memberByEmail(email: String!): PartnerMemberRead');
  await signature.getByRole('link', { name: 'PartnerMemberRead' }).click();
  await page.waitForURL(`**${TYPE}`);
  const marked = page.locator('.contents [aria-current=page]');
  expect(await marked.allTextContents()).toEqual(['PartnerMemberRead']);
  await expect(isInSight(marked)).resolves.toBe(true);
});

const isInSight = (marked: Locator) =>
  marked.evaluate((each) => each.getBoundingClientRect().bottom < innerHeight);

test('an anchor of the one page that the reference was leads to the page that has it now', async () => {
  const { page } = await openPage('/docs#partner-Query-memberByEmail');
  await page.waitForURL(`**${OPERATION}#partner-Query-memberByEmail`);
  await page.goto(`${service.url}/docs#partner-PartnerMemberRead-tier`);
  await page.waitForURL(`**${TYPE}#partner-PartnerMemberRead-tier`);
});

test('on a phone the contents open without a script', async () => {
  const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const { page } = await openPage(OPERATION, { ...phone, javaScriptEnabled: false });
  const marked = page.locator('.contents [aria-current=page]');
  expect(await marked.isVisible()).toBe(false);
  await page.getByText('Contents', { exact: true }).tap();
  expect(await marked.isVisible()).toBe(true);
});

test('every link of the documentation leads somewhere', async () => {
  const ids = new Map<string, string[]>();
  const links = new Set<string>();
  const listed = await fetch(`${service.url}/docs`, { headers: { accept: HTML } });
  const reference = (await listed.text()).match(/\/docs\/(?:partner|member)\/\w+\/\w+/g) ?? [];
  expect(reference.length).toBeGreaterThan(60);
  for (const path of ['/docs', ...DOCUMENTS.map(pagePath), ...new Set(reference)]) {
    const response = await fetch(`${service.url}${path}`, { headers: { accept: HTML } });
    expect([path, response.status]).toEqual([path, 200]);
    const html = await response.text();
    const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, value = '']) => value);
    ids.set(path, all(/\sid="?([^"\s>]+)/g));
    for (const link of all(/<a\s[^>]*?href="?([^"\s>]+)/g))
      links.add(new URL(link.replaceAll('&amp;', '&'), `${service.url}${path}`).href);
  }
  expect(links.size).toBeGreaterThan(100);
  const broken = [];
  for (const link of links) {
    const { origin, pathname, hash } = new URL(link);
    if (origin !== service.url || pathname === '/explorer') continue;
    const known = ids.get(pathname);
    const isThere = known || (await fetch(link, { headers: { accept: HTML } })).status === 200;
    if (!isThere || (hash && known && !known.includes(hash.slice(1)))) broken.push(link);
  }
  expect(broken).toEqual([]);
});

describe('the documentation', () => {
  const example = (page: Page) => page.locator('.example');
  const pathOf = ({ surface, field, query }: Example) => {
    const kind = query.startsWith('mutation') ? 'mutations' : 'queries';
    return field === 'error' ? [] : [referencePath(surface, kind, field)];
  };

  test('without scripts: guides, examples in each language, and no button that does nothing', async () => {
    const { page } = await openPage(OPERATION, { javaScriptEnabled: false });
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    for (const language of LANGUAGES) {
      await example(page).getByText(language, { exact: true }).click();
      const shown = example(page).locator('.tabs pre:visible');
      expect(await shown.count()).toBe(1);
      expect(await shown.innerText()).toContain('PARTNER_LOYALTY_KEY');
    }
    expect(await example(page).getByLabel('Response').innerText()).toContain('"tier": "Gold"');
  });

  test('what is copied is the program that shows, which reads its key from a variable', async () => {
    const { page, faults } = await openPage(OPERATION, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await example(page).getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await example(page).getByRole('button', { name: 'Copy' }).click();
    await example(page).getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(
      /^const query = `\nquery MemberByEmail.*process\.env\.PARTNER_LOYALTY_KEY/s,
    );
    expect(copied).not.toMatch(/pk_|Bearer/);
    await page.goto(`${service.url}${referencePath('partner', 'queries', 'members')}`);
    expect(await page.locator('.tabs input:checked').getAttribute('value')).toBe('JavaScript');
    expect(faults).toEqual([]);
  });

  test('the search loads its index when it is first used, and leads to a guide by the keyboard', async () => {
    const { page, faults } = await openPage('/docs/guides/check-in');
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    const search = page.getByRole('searchbox', { name: 'Search the documentation' });
    await search.pressSequentially('how to try aga');
    await page.locator('#search a').first().getByText('How to try again').waitFor();
    expect(loaded).toEqual(['/docs/search.json']);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/guides/errors-and-retries#how-to-try-again');
    await page.locator('h1').click();
    await page.keyboard.press('/');
    await page.keyboard.type('recordAct');
    await page.locator('#search a').first().getByText('recordActivities').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const found = referencePath('partner', 'mutations', 'recordActivities');
    await page.waitForURL(`**${found}#partner-Mutation-recordActivities`);
    expect(faults).toEqual([]);
  });

  test('each example opens in the explorer, which offers the same, without a credential', async () => {
    const { page, faults } = await openPage('/docs');
    const links: [string, string][] = [];
    for (const path of ['/docs', ...EXAMPLES.flatMap(pathOf)]) {
      await page.goto(`${service.url}${path}`);
      links.push(
        ...(await page.evaluate<[string, string][]>(
          `[...document.querySelectorAll('.example')].map((each) =>
            [each.querySelector('input').name, each.querySelector('a[href^="/explorer"]').hash])`,
        )),
      );
    }
    expect(links.map(([key]) => key).sort()).toEqual(EXAMPLES.map(exampleKey).sort());
    await page.goto(`${service.url}${OPERATION}`);
    await example(page).getByRole('link', { name: 'Open in the explorer' }).click();
    await page.waitForURL(`${service.url}/explorer`);
    const text = (name: string) => page.getByRole('textbox', { name, exact: true }).innerText();
    for (const [key, hash] of links) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.waitForURL(`${service.url}/explorer`);
      const { query, variables, field } = EXAMPLES.find((each) => exampleKey(each) === key) ?? {};
      expect((await text('Operation')).replaceAll('\u200b', '')).toBe(query);
      expect(JSON.parse(await text('Variables, as JSON'))).toEqual(variables);
      const chosen = await page.evaluate("document.getElementById('example').value");
      expect(chosen).toBe(field === 'error' ? '' : field);
    }
    expect(faults).toEqual([]);
  });
});

describe('the explorer', () => {
  const outcome = (page: Page) => page.locator('#outcome');
  const shown = (page: Page) => page.getByRole('textbox', { name: 'Result' });
  const types = (page: Page) => page.locator('#types');
  const state = (page: Page) => page.locator('#state');
  const operation = (page: Page) => page.getByRole('textbox', { name: 'Operation' });
  const variables = (page: Page) => page.getByRole('textbox', { name: 'Variables, as JSON' });
  const use = async (page: Page, secret: string) => {
    await page.getByLabel('Partner key or ID token').fill(secret);
    await page.getByRole('button', { name: 'Use' }).click();
  };
  const setVariables = async (page: Page, values: object) => {
    await variables(page).fill(JSON.stringify(values));
  };

  test('a key in the link leaves the address at once, opens its schema and runs a look-up', async () => {
    const key = service.keys.alpha;
    const { page, faults } = await openPage(`/explorer#key=${key}`);
    expect(page.url()).toBe(`${service.url}/explorer`);
    await types(page).getByText('memberByEmail').waitFor();
    expect(await types(page).textContent()).not.toContain('memberProfile');
    expect(await state(page).textContent()).toMatch(/Loaded: 200 OK in \d+ ms\.$/);
    expect(await outcome(page).textContent()).toBe('');
    expect((await shown(page).innerText()).trim()).toBe('');
    await setVariables(page, { email: 'both@example.com' });
    await page.getByRole('button', { name: 'Run' }).click();
    await shown(page).getByText('"m-both"').waitFor();
    expect(await outcome(page).textContent()).toMatch(/^200 OK in \d+ ms$/);
    const headers = await page.locator('#headers').innerText();
    expect(headers).toMatch(/RateLimit-Limit\s+600\s+RateLimit-Remaining\s+\d+\s/);
    expect(headers).toMatch(/RateLimit-Reset\s+\d+\s+x-request-id\s+\S+/);
    expect(faults).toEqual([]);
  });

  test('a key stays in its tab, in a header alone, and what was typed too, until Forget', async () => {
    const key = service.keys.alpha;
    const { page } = await openPage('/explorer');
    const inProcess: string[] = [];
    page.on('request', (request) => {
      const { 'x-partner-api-key': sent, ...others } = request.headers();
      if (sent !== undefined) inProcess.push(request.url());
      const elsewhere = [request.url(), request.postData(), JSON.stringify(others)];
      if (elsewhere.some((text) => text?.includes(key)))
        inProcess.push(`leaked to ${request.url()}`);
    });
    await use(page, key);
    await types(page).getByText('memberByEmail').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(1);
    await operation(page).fill('{ mine: __typename }');
    await setVariables(page, { kept: true });
    await page.reload();
    await types(page).getByText('memberByEmail').waitFor();
    expect(await operation(page).innerText()).toBe('{ mine: __typename }');
    expect(await variables(page).innerText()).toBe('{"kept":true}');
    expect(new Set(inProcess)).toEqual(new Set([`${service.url}/graphql`]));
    expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0);
    const other = await page.context().newPage();
    await other.goto(`${service.url}/explorer`);
    expect(await other.getByLabel('Partner key or ID token').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByText('Use a key or a token').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('a credential that does not work: what to do about it', async () => {
    const { page } = await openPage('/explorer');
    const problem = page.getByRole('alert');
    await use(page, 'a key');
    await problem.getByText('Paste a partner key').waitFor();
    await use(page, 'pk_test_unknown');
    await problem.getByText('This key or token is not valid').waitFor();
    expect(await state(page).textContent()).toMatch(
      /^No schema: 400 INTROSPECTION_DISABLED in \d+ ms, x-request-id \S+\.$/,
    );
    expect(await outcome(page).textContent()).toBe('');
    await page.getByLabel('Partner key or ID token').fill('');
    expect(await problem.isVisible()).toBe(false);
    await use(page, 'mk_test_unknown');
    await problem.getByText('it works only at /mcp').waitFor();
    await use(page, 'e30.e30.e30');
    await page.getByText('401 UNAUTHENTICATED').waitFor();
    await use(page, LIVE_KEY);
    await problem.getByText('http://localhost:4001/graphql').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await use(page, await service.provider.issue('m-both'));
    await types(page).getByText('memberProfile', { exact: true }).waitFor();
    expect(await types(page).textContent()).not.toContain('memberByEmail');
    await page.getByRole('button', { name: 'Run' }).click();
    await shown(page).getByText('"m-both"').waitFor();
    expect(await problem.isVisible()).toBe(false);
  });

  test('the editor completes by the schema, marks what does not fit, and Ctrl+Enter runs', async () => {
    const { page, faults } = await openPage(`/explorer#key=${service.keys.alpha}`);
    await types(page).getByText('memberByEmail').waitFor();
    await operation(page).fill('{ memberById(memberId: "m-both") { nope tie } }');
    await page.locator('.cm-lintRange-error').first().waitFor();
    await page.keyboard.press('End');
    for (let step = 0; step < 4; step += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    await page.locator('.cm-tooltip-autocomplete').getByText('tier', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Enter');
    await shown(page).getByText('"GRAPHQL_VALIDATION_FAILED"').first().waitFor();
    await page.getByRole('searchbox').fill('changeExternalId');
    expect(await types(page).locator('.entry:visible').count()).toBe(1);
    expect(faults).toEqual([expect.stringContaining('400')]);
  });

  test('variables that are not JSON: marked, and nothing of the run before looks like theirs', async () => {
    const desktop = { viewport: { width: 1280, height: 800 } };
    const { page, faults } = await openPage(`/explorer#key=${service.keys.alpha}`, desktop);
    await types(page).getByText('memberByEmail').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await shown(page).getByText('"MEMBER_NOT_FOUND"').waitFor();
    await variables(page).fill('{ "email": }');
    await page.locator('#variables .cm-lintRange-error').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    const problem = page.getByText('The variables must be one JSON object');
    await problem.waitFor();
    expect(await outcome(page).textContent()).toBe('Not sent');
    expect(await page.locator('#headers').innerText()).toBe('');
    expect((await shown(page).innerText()).trim()).toBe('');
    const [content, window] = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollHeight, innerHeight]',
    );
    expect(content).toBeLessThanOrEqual(window);
    await setVariables(page, { email: 'both@example.com' });
    expect(await problem.isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });

  test('what is typed over a selection in one line breaks no policy, and __typename is last', async () => {
    const { page, faults } = await openPage(`/explorer#key=${service.keys.alpha}`);
    await types(page).getByText('memberByEmail').waitFor();
    const long = `mutation { requestMagicLink(email: "${'a'.repeat(90)}@example.com") { accepted } }`;
    for (const text of [long, '{ memberById(memberId: "m-both") { nope } }', long]) {
      await operation(page).fill(text);
      expect(await operation(page).innerText()).toBe(text);
    }
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('query { memberById(memberId: "m-both") { } }');
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    const offered = page.locator('.cm-tooltip-autocomplete li');
    await offered.getByText('tier', { exact: true }).waitFor();
    expect(await offered.last().textContent()).toMatch(/__typename/);
    expect(faults).toEqual([]);
  });

  test('the menus of a sandbox send a fault and a time, in the command to copy too, but not for the schema', async () => {
    const { page, faults } = await openPage(`/explorer#key=${service.keys.alpha}`, CLIPBOARD);
    await types(page).getByText('memberByEmail').waitFor();
    await page.locator('#fault').selectOption('unavailable');
    await page.getByRole('button', { name: 'Run' }).click();
    await shown(page).getByText('"SERVICE_UNAVAILABLE"').waitFor();
    await page.locator('#fault').selectOption('none');
    await page.locator('#days').selectOption('in a year');
    const query = '{ memberById(memberId: "m-both") { standing { asOf } } }';
    await operation(page).fill(query);
    await setVariables(page, {});
    await page.getByRole('button', { name: 'Run' }).click();
    const year = new Date(Date.now() + 366 * 86_400_000).getUTCFullYear();
    await shown(page).getByText(`"${year}-`).waitFor();
    expect(await copied(page, 'Copy as curl')).toMatch(
      /^curl -s \S+ \\\n {2}-H 'x-sandbox-now: \d{4}-[-\dT:.]+Z' \\\n {2}-H 'content-type/,
    );
    await page.locator('#fault').selectOption('error');
    await use(page, service.keys.alpha);
    await page.getByText(/The partner surface: \d+ queries/).waitFor();
    // What browsers say about the 503.
    expect(faults.filter((each) => !each.includes('503'))).toEqual([]);
  });

  test('the schema has the defaults of arguments and of input fields', async () => {
    const { page } = await openPage(`/explorer#key=${service.keys.alpha}`);
    await types(page).getByText('memberByEmail').waitFor();
    const text = await types(page).locator('code').allTextContents();
    expect(text.find((each) => each.startsWith('members('))).toContain('first: Int = 100');
    expect(text).toContain('stays: Int = 0');
  });

  const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };
  const copied = async (page: Page, name: string) => {
    await page.getByRole('button', { name }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    return page.evaluate<string>('navigator.clipboard.readText()');
  };

  test('an attacker’s operation, copied as curl, runs nothing in the shell and holds no key', async () => {
    const key = service.keys.alpha;
    const { page, faults } = await openPage(`/explorer#key=${key}`, CLIPBOARD);
    await types(page).getByText('memberByEmail').waitFor();
    const query = `query Hostile($email: String!) {\n  # '; touch owned; '$(touch owned)\n  memberByEmail(email: $email) { memberId }\n}`;
    await operation(page).fill(query);
    const email =
      "o'neil`touch owned`$(touch owned)\\\\'\"\n!!\u001b[201~\u009b201~\u202e\u{e0041}\u2028@x.y";
    await setVariables(page, { email });
    const command = await copied(page, 'Copy as curl');
    expect(command).toContain('"x-partner-api-key: $PARTNER_LOYALTY_KEY"');
    expect(command).toContain(`curl -s http://localhost:${new URL(service.url).port}/graphql `);
    expect(command).not.toContain(key);
    expect(command).not.toMatch(/[^\n\x20-\x7e]/);
    for (const shell of ['bash', 'sh']) {
      const args = await run(shell, ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`]);
      expect(JSON.parse(args.split('\0').at(-2) ?? '')).toEqual({ query, variables: { email } });
    }
    const answer = await run('env', [`PARTNER_LOYALTY_KEY=${key}`, 'sh', '-c', command]);
    expect(JSON.parse(answer)).toMatchObject({
      data: { memberByEmail: null },
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect(faults).toEqual([]);
  });

  test('a shared link fills the editors, runs nothing, and never carries the key', async () => {
    const key = service.keys.alpha;
    const { page, faults } = await openPage(`/explorer#key=${key}`, CLIPBOARD);
    await types(page).getByText('memberByEmail').waitFor();
    const query = 'mutation Mine($e: String!) { requestMagicLink(email: $e) { accepted } } # + & %';
    await operation(page).fill(query);
    await setVariables(page, { e: 'a+b@example.com' });
    await page.locator('#fault').selectOption('error');
    const url = await copied(page, 'Copy link');
    expect(url.startsWith(`${service.url}/explorer#query=`)).toBe(true);
    expect(url).not.toContain(key);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByText('Use a key or a token').waitFor();
    await page.goto(url);
    await page.waitForURL(`${service.url}/explorer`);
    expect(await operation(page).innerText()).toBe(query);
    expect(await variables(page).innerText()).toBe('{"e":"a+b@example.com"}');
    expect(await page.locator('#fault').inputValue()).toBe('error');
    expect(requests.filter((each) => each.startsWith('POST'))).toEqual([]);

    await use(page, key);
    await types(page).getByText('memberByEmail').waitFor();
    expect(await operation(page).innerText()).toBe(query);
    const problem = page.getByRole('alert');
    for (const [text, message] of [
      [`{ memberById(memberId: "${key}") { tier } }`, 'contains your key'],
      [`{ a: memberById(memberId: "${'x'.repeat(8_000)}") { tier } }`, 'too long for a link'],
    ] as const) {
      await operation(page).fill(text);
      await page.getByRole('button', { name: 'Copy link' }).click();
      await problem.getByText(message).waitFor();
    }
    await operation(page).fill('{ __typename }');
    expect(await problem.isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });

  test('hostile links run no script, and one that is too long says so', async () => {
    const { page, faults } = await openPage('/explorer');
    const problem = page.getByRole('alert');
    const open = async (hash: string) => {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.waitForURL(`${service.url}/explorer`);
    };
    const script = '<img src=x onerror=alert(1)><script>alert(1)</script>';
    await open(`query=${encodeURIComponent(script)}&variables=${encodeURIComponent(script)}`);
    expect(await operation(page).innerText()).toBe(script);
    expect(await page.locator('.editor img, .editor script').count()).toBe(0);
    for (const hash of [
      'query=%E0%A4%A%00&variables=%ff',
      'query=',
      `query=${'{a'.repeat(500)}`,
      `query=${encodeURIComponent('{ a(b: "\u202e") }')}&key=not%20a%20key`,
    ])
      await open(hash);
    await page.locator('.cm-specialChar').waitFor();
    for (const text of ['x'.repeat(8_000), '{a'.repeat(501)]) {
      await open(`query=${text}`);
      await problem.getByText('too long').waitFor();
      await open('query={mine:__typename}&variables={}');
      expect(await operation(page).innerText()).toBe('{mine:__typename}');
      expect(await problem.isVisible()).toBe(false);
    }
    expect(faults).toEqual([]);
  });

  test.each(LOOKS)(
    'with a result on %s: in sight, fits, nothing foreign, no fault for axe',
    async (_, options) => {
      const { page, faults } = await openPage(`/explorer#key=${service.keys.alpha}`, options);
      await types(page).getByText('memberByEmail').waitFor();
      await page.getByRole('button', { name: 'Run' }).press('Enter');
      await shown(page).getByText('"MEMBER_NOT_FOUND"').waitFor();
      const [top = -1, bottom = -1] = await page.evaluate<number[]>(
        `(({ top }) => [top, document.getElementById('response').getBoundingClientRect().top + 150])(
          outcome.getBoundingClientRect())`,
      );
      expect([top > 48, bottom < (options.viewport?.height ?? 0)]).toEqual([true, true]);
      expect(await readingFaults(page)).toEqual([]);
      expect(faults).toEqual([]);
    },
  );
});
