// Which forms of pages are accepted, and whose page is made next.

import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { form } from '@partner-loyalty/runtime/pages/cards.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import { page, pageResponse } from '@partner-loyalty/runtime/pages/layout.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { UNSHARED } from '../../../test/support/requests/unshared.ts';
import { createMemoryCounters } from '../budget/counters.ts';
import { createLimiter } from '../budget/limiter.ts';
import type { KeyStore } from '../identity/keystore.ts';
import { openKeyStore } from '../stores.ts';
import { createFormPage } from './formpage.ts';
import { createCookies, createForms } from './forms.ts';
import { createVisit } from './visit.ts';

// Which forms are accepted, in every combination of headers, cookie and token.
describe('forms', () => {
  const OWN = 'https://loyalty.example';

  let folder: Folder;
  let keyStore: KeyStore;
  /** How often a form was handled. */
  let handled = 0;
  beforeAll(async () => {
    folder = temporaryFolder();
    const dataDir = folder.path;
    keyStore = await openKeyStore({ mongodbUrl: undefined, dataDir, environment: 'sandbox' });
  });
  afterAll(async () => {
    await keyStore.close();
    folder.remove();
  });

  /** A page with two forms of a service at this address. */
  function pageAt(baseUrl: string) {
    const typed = html`<p>${'<form method="post">'}</p>`;
    const handle = createFormPage({
      show: () => pageResponse(200, page('Forms', html`${form('/', typed)}${form('/', typed)}`)),
      async submit() {
        handled += 1;
        return pageResponse(200, `handled ${handled}`);
      },
      forms: createForms(baseUrl, keyStore),
      log: { ...createLog('silent'), infoJson() {} },
    });
    return async (method: string, headers: Record<string, string | undefined>, token?: string) => {
      const typedIn = new URLSearchParams({
        email: 'a',
        ...(token !== undefined && { form: token }),
      });
      const response = await handle({
        ...{ method, path: '/sign-in', search: '', address: '192.0.2.1', requestId: 'r' },
        ...UNSHARED,
        headers: { host: 'loyalty.example', ...headers },
        signal: new AbortController().signal,
        body: async () => Buffer.from(typedIn.toString()),
      });
      const [set = ''] = [response.headers['set-cookie'] ?? []].flat();
      const fields = [
        ...String(response.body).matchAll(/<input type="hidden" name="form" value="(.*?)">/g),
      ];
      const tokens = fields.map(([, value = '']) => value);
      return {
        status: response.status,
        body: String(response.body),
        set,
        cookie: set.split(';')[0],
        tokens,
      };
    };
  }

  test('every form of a page has a token, and a browser without the cookie gets one', async () => {
    const send = pageAt(OWN);
    const first = await send('GET', {});
    expect(first.set).toMatch(
      /^__Host-form=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect([first.tokens.length, new Set(first.tokens).size]).toEqual([2, 1]);
    const second = await send('GET', { cookie: first.cookie });
    expect([second.set, second.tokens.length]).toEqual(['', 2]);
    expect(second.tokens[0]).not.toBe(first.tokens[0]);
    const forged = await send('GET', { cookie: '__Host-form=short' });
    expect(forged.set).toMatch(/^__Host-form=/);
  });

  const SITES = [undefined, 'same-origin', 'same-site', 'cross-site', 'none', 'Same-Origin', ''];
  const ORIGINS = [
    ...[undefined, 'null', OWN, 'http://loyalty.example', 'https://evil.example', ''],
    ...['https://www.loyalty.example', 'https://loyalty.example:8443', `${OWN}.evil.example`],
  ];

  test('foreign forms are 403 in every combination of headers, cookie and token', async () => {
    const send = pageAt(OWN);
    const [own, others] = [await send('GET', {}), await send('GET', {})];
    const [token, stolen] = [own.tokens[0] ?? '', others.tokens[0] ?? ''];
    const held: Record<string, [cookie: string | undefined, token?: string]> = {
      'our form': [own.cookie, token],
      'our form among other cookies': [`a=b; ${own.cookie}; session=s`, token],
      nothing: [undefined],
      'the cookie without a token': [own.cookie],
      'a token without the cookie': [undefined, token],
      'a stolen token with another cookie': [own.cookie, stolen],
      'an ID with the proof of another': [own.cookie, `${stolen.slice(0, 22)}${token.slice(22)}`],
      'a shortened token': [own.cookie, token.slice(0, -1)],
      'an empty token': [own.cookie, ''],
      'the cookie and token that a sibling domain plants': [others.cookie?.slice(7), stolen],
      'the same before our cookie': [`${others.cookie?.slice(7)}; ${own.cookie}`, stolen],
    };
    for (const site of SITES)
      for (const origin of ORIGINS)
        for (const [name, [cookie, sent]] of Object.entries(held)) {
          const isOurs = name.startsWith('our form');
          const byOrigin = origin === undefined || origin === 'null' ? isOurs : origin === OWN;
          const expected = (site === undefined ? byOrigin : site === 'same-origin') ? 200 : 403;
          const headers = { 'sec-fetch-site': site, origin, cookie };
          const present = Object.entries(headers).filter(([, value]) => value !== undefined);
          const { status } = await send('POST', Object.fromEntries(present), sent);
          expect([site, origin, name, status]).toEqual([site, origin, name, expected]);
        }
  });

  test('without TLS, the host that the browser asks is ours by any name', async () => {
    const send = pageAt('http://localhost:4000');
    const host = 'server.lan:4000';
    const statuses = async (...origins: string[]) =>
      Promise.all(origins.map(async (origin) => (await send('POST', { host, origin })).status));
    expect(await statuses('http://localhost:4000', 'http://server.lan:4000')).toEqual([200, 200]);
    expect(await statuses('https://server.lan:4000', 'http://server.lan')).toEqual([403, 403]);
  });

  test('a form that is sent twice is handled once; without its cookie, it is handled each time', async () => {
    const send = pageAt(OWN);
    const { cookie, tokens } = await send('GET', {});
    const [token] = tokens;
    const own = { 'sec-fetch-site': 'same-origin' };
    const before = handled;
    const bodies = new Set<string>();
    for (let n = 0; n < 3; n += 1) bodies.add((await send('POST', { ...own, cookie }, token)).body);
    expect([bodies.size, handled - before]).toEqual([1, 1]);
    for (let n = 0; n < 2; n += 1) await send('POST', own, token);
    expect(handled - before).toBe(3);
  });

  test('exhaustion: forms of visitors leave those of who is signed in once, at one address too', async () => {
    let isDown = true;
    const forms = createForms(OWN, {
      staffTables: async () =>
        isDown ? Promise.reject(new Error('down')) : keyStore.staffTables(),
    });
    let handled = 0;
    const send = (address: string, path: string, person?: string) => {
      const sent = forms.followed({
        ...{ method: 'GET', path, search: '', address, requestId: 'r', person },
        ...UNSHARED,
        headers: { cookie: `__Host-form=${'x'.repeat(43)}` },
        signal: new AbortController().signal,
        body: async () => Buffer.alloc(0),
      });
      if (sent === undefined) throw new Error('the browser is not known');
      return forms.once(sent, async () => {
        handled += 1;
        return { status: isDown ? 503 : 200, headers: {}, body: `${handled}` };
      });
    };
    for (let n = 0; n < 42; n += 1)
      for (let sent = 0; sent < 120; sent += 1) await send(`192.0.2.${n}`, `/${n}/${sent}`);
    isDown = false;
    handled = 0;
    for (let n = 0; n < 2; n += 1) await send('198.51.100.1', '/visitor');
    expect(handled).toBe(2);
    for (let n = 0; n < 2; n += 1) await send('192.0.2.1', '/account', 'ada');
    expect(handled).toBe(3);
  });
});

test('somebody who is signed in can send 120 forms a minute', async () => {
  const visit = createVisit({
    limiter: createLimiter(createMemoryCounters('sandbox'), 60),
    cookies: createCookies('http://loyalty.example'),
    sessions: () => [{ cookie: 'account', personOf: async (held) => held }],
    log: { ...createLog('silent'), infoJson() {} },
  });
  const request = {
    ...{ method: 'POST', path: '/account', search: '', address: '203.0.113.1', requestId: 'r' },
    ...UNSHARED,
    headers: { cookie: `account=${'x'.repeat(43)}` },
    signal: new AbortController().signal,
    body: async () => Buffer.alloc(0),
  };
  let handled = 0;
  const send = () =>
    visit(request, () => {
      handled += 1;
      return { status: 200, headers: {}, body: '' };
    });
  // Nobody knows the person of the first.
  for (let sent = 0; sent < 121; sent += 1) expect((await send()).status).toBe(200);
  expect([(await send()).status, handled]).toEqual([429, 121]);
});

// Whose page is made next.

test('however many people one address has signed in, another one’s page is next', async () => {
  const visit = createVisit({
    limiter: createLimiter(createMemoryCounters('sandbox'), 60),
    cookies: createCookies('http://loyalty.example'),
    sessions: () => [{ cookie: 'account', personOf: async (held) => held }],
    log: { ...createLog('silent'), infoJson() {} },
  });
  const made: string[] = [];
  let inProgress = 0;
  let most = 0;
  async function page(address: string, person: number) {
    const request = {
      ...{ method: 'GET', path: '/account', search: '', address, requestId: 'r' },
      ...UNSHARED,
      headers: { cookie: `account=${`${person}`.padStart(43, '0')}` },
      signal: new AbortController().signal,
      body: async () => Buffer.alloc(0),
    };
    await visit(request, async () => {
      made.push(address);
      inProgress += 1;
      most = Math.max(most, inProgress);
      await new Promise(setImmediate);
      inProgress -= 1;
      return { status: 200, headers: {}, body: '' };
    });
  }
  const many = Array.from({ length: 50 }, (_, person) => page('198.51.100.1', person));
  await Promise.all([...many, page('203.0.113.1', 50), page('203.0.113.1', 51)]);
  expect(made).toHaveLength(52);
  expect(made.lastIndexOf('203.0.113.1')).toBeLessThan(6);
  expect(most).toBe(2);
});
