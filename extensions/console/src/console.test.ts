// The console.

import { issueKey, type KeyLimits } from '@partner-loyalty/gateway/identity/apikey.ts';
import type { KeyStore } from '@partner-loyalty/gateway/identity/keystore.ts';
import {
  inviteStaff,
  joinStaff,
  keepLanguage,
  listStaff,
  makeDemoToken,
  recipientsOf,
  type Staff,
} from '@partner-loyalty/gateway/identity/staff.ts';
import { createCookies } from '@partner-loyalty/gateway/pages/forms.ts';
import { dayOf } from '@partner-loyalty/gateway/schema/dates.ts';
import { openKeyStore } from '@partner-loyalty/gateway/stores.ts';
import { keptHours, type RequestRecord } from '@partner-loyalty/gateway/usage/requests.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { StaffNotice } from '@partner-loyalty/runtime/signin/staff.ts';
import type { SubgraphRequest } from '@partner-loyalty/runtime/transport/types.ts';
import type { PartnerHour, UsageStore } from '@partner-loyalty/usage/records.ts';
import { openUsageStore } from '@partner-loyalty/usage/tables.ts';
import { buildSchema } from 'graphql';
import { withFakeDate } from '../../../test/support/clock.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { createDeprecationsSection } from './deprecations.ts';
import { sendNotices } from './notices.ts';
import { createRequestsSection } from './requests.ts';
import type { ConsoleVisit, Section } from './section.ts';
import { createPersonOf, createSessions, type Sessions } from './sessions.ts';
import { createStaffSection } from './staff.ts';
import { createUsageSection } from './usage.ts';

// The section that shows a partner what it uses that will go away.

const deprecated = (reason: string, until: string) =>
  `@deprecated(reason: "${reason} Deprecated since 2026-01-31, kept until ${until}.")`;
const SCHEMA = buildSchema(`type Query {
  early: Int ${deprecated('Ask for <late>.', '2099-01-31')}
  late: Int ${deprecated('Ask nobody.', '2099-02-28')}
  unused: Int ${deprecated('Never asked for.', '2099-01-31')}
  current: Int
}`);

const visit = (partnerId: string): ConsoleVisit => ({
  staff: { staffId: 's', partnerId, email: 'a@b.example', role: 'viewer', createdAt: new Date() },
  query: new URLSearchParams(),
  requestId: 'r-1',
  changed() {},
});

test('a partner sees its own use of the last 30 days, what goes first on top', async () => {
  const { settings, release } = emptyPlace();
  const usageStore = await openUsageStore({ ...settings, environment: 'sandbox' });
  const [today, old] = [dayOf(Date.now()), dayOf(Date.now() - 31 * 86_400_000)];
  const use = (partnerId: string, name: string, day = today) => ({
    ...{ surface: 'partner' as const, partnerId, coordinate: `Query.${name}`, count: 1_700, day },
  });
  await usageStore.add({
    fields: [
      use('inn', 'late'),
      use('inn', 'early'),
      use('inn', 'current'),
      use('inn', 'unused', old),
      use('spa', 'unused'),
    ],
    operations: [],
  });
  const surface = {
    schema: SCHEMA,
    sdl: '',
    rootScopes: { query: new Map(), mutation: new Map() },
  };
  const graph = { version: 1, surfaces: { partner: surface, member: surface } };
  const { show } = createDeprecationsSection({ usageStore, graphs: { current: () => graph } });
  const rows = async (partnerId: string) =>
    [
      ...(await show(visit(partnerId))).html.matchAll(
        /<code>([\w.]+)<\/code>.*?(\d{4}-\d\d-\d\d)/g,
      ),
    ].map(([, coordinate, until]) => `${coordinate} ${until}`);
  expect(await rows('inn')).toEqual(['Query.early 2099-01-31', 'Query.late 2099-02-28']);
  expect(await rows('spa')).toEqual(['Query.unused 2099-01-31']);
  expect((await show(visit('inn'))).html).toContain('Ask for &lt;late&gt;.');
  expect((await show(visit('bar'))).html).toContain('You use nothing that is deprecated.');
  await usageStore.close();
  await release();
});

// Notices to staff: when they are due, who receives them, and each sent once.
describe('notices to staff', () => {
  const HOUR = 3_600_000;
  const DAY = 24 * HOUR;
  const NOW = Date.parse('2031-05-17T10:00:00Z');
  let store: KeyStore;
  let release: () => unknown;
  let mailed: StaffNotice[];
  let isDown: boolean;
  let failing: { webhookId: string; partnerId: string; host: string; failingSince: number }[];
  let disabled: { webhookId: string; partnerId: string; host: string; disabledAt: number }[];
  beforeEach(async () => {
    const place = emptyPlace();
    release = place.release;
    store = await openKeyStore({ ...place.settings, environment: 'sandbox' });
    mailed = [];
    disabled = [];
    failing = [];
    isDown = false;
    await store.createPartner({ partnerId: 'inn', name: 'The Inn', createdAt: new Date(NOW) });
    await join('inn', 'eve@inn.example');
  });
  afterEach(async () => {
    await store.close();
    await release();
  });

  async function invite(partnerId: string, email: string) {
    const tables = await store.staffTables();
    const staff = await inviteStaff(tables, { partnerId, email, role: 'viewer' });
    if (typeof staff === 'string') throw new Error(staff);
    return staff.staffId;
  }
  async function join(partnerId: string, email: string) {
    const staffId = await invite(partnerId, email);
    await joinStaff(await store.staffTables(), staffId);
    return staffId;
  }
  /** A key of the inn by its days, before and after now. */
  async function addKey(age: number, left: number, more: KeyLimits = {}): Promise<string> {
    const limits = { expiresAt: new Date(NOW + left * DAY), ...more };
    const { record } = issueKey('sandbox', 'inn', new Date(NOW - age * DAY), limits);
    await store.createKey(record);
    return record.keyId;
  }
  const parts = () => ({
    keyStore: store,
    members: {
      async mailStaff(notice: StaffNotice) {
        if (isDown) throw new Error('members is away');
        mailed.push(notice);
      },
    },
    graphs: {
      askFeed: async ({ query, variables }: SubgraphRequest) => {
        const until = Number(variables?.time);
        const due = failing.filter(({ failingSince }) => failingSince <= until);
        const found = query.includes('failingWebhooks') ? due : disabled;
        return { data: { answer: JSON.stringify(found) } };
      },
    },
  });
  /** The notices that are mailed at a time. */
  async function sent(at = NOW): Promise<string[]> {
    mailed = [];
    await sendNotices(parts(), at).catch(() => undefined);
    return mailed.map(({ noticeId }) => noticeId).sort();
  }

  test('14 and 3 days before a key expires, once, with its ID and name, to all staff', async () => {
    const keyId = await addKey(30, 14, { name: 'Tills' });
    const staffId = await join('inn', 'Bob@inn.example');
    await join('spa', 'spa@example.com');
    await keepLanguage(await store.staffTables(), 'bob@inn.example', 'de');
    expect(await sent(NOW - 1)).toEqual([]);
    expect(await sent()).toEqual([`${keyId}/14`]);
    const about = { about: `"Tills" (${keyId})`, until: NOW + 14 * DAY };
    expect(mailed).toMatchObject([{ letter: 'keyExpires', partnerId: 'inn', ...about }]);
    expect(mailed[0]?.recipients).toContainEqual({
      staffId,
      address: 'bob@inn.example',
      email: 'Bob@inn.example',
      language: 'de',
    });
    expect(mailed[0]?.recipients.map(({ address }) => address).sort()).toEqual([
      'bob@inn.example',
      'eve@inn.example',
    ]);
    expect(await sent(NOW + HOUR)).toEqual([]);
    expect(await sent(NOW + 11 * DAY)).toEqual([`${keyId}/3`]);
    expect(await sent(NOW + 11 * DAY + HOUR)).toEqual([]);
  });

  test('spam: whoever was added to the staff gets none before signing in there', async () => {
    const staffId = await invite('inn', 'stranger@example.com');
    const others = () => mailed[0]?.recipients.filter(({ address }) => !address.startsWith('eve'));
    await addKey(30, 14);
    await sent();
    expect(others()).toEqual([]);
    await joinStaff(await store.staffTables(), staffId);
    await addKey(30, 14);
    await sent();
    expect(others()).toMatchObject([{ staffId, address: 'stranger@example.com' }]);
  });

  test('a day before the creation of a key is none, nor one that a rotation moves back', async () => {
    await addKey(0.1, 13.9);
    const short = await addKey(2.1, 2.9);
    const rotated = await addKey(30, 60);
    await store.expireKey(rotated, new Date(NOW + 7 * DAY));
    await addKey(0, 14);
    expect(await sent()).toEqual([`${short}/3`]);
    expect(await sent(NOW + 4 * DAY)).toEqual([`${rotated}/3`]);
  });

  test('none about a key that is revoked or expired, nor to a suspended partner', async () => {
    await store.revokeKey(await addKey(30, 14), new Date(NOW));
    await addKey(30, 0);
    expect(await sent()).toEqual([]);
    await store.changePartner('inn', { suspendedAt: new Date(NOW) });
    await addKey(30, 3);
    disabled = [{ webhookId: 'wh_1', partnerId: 'inn', host: 'inn.example', disabledAt: NOW }];
    expect(await sent()).toEqual([]);
  });

  test('when an endpoint is disabled, and when it is disabled again', async () => {
    const endpoint = { webhookId: 'wh_1', partnerId: 'inn', host: 'inn.example' };
    disabled = [{ ...endpoint, disabledAt: NOW }];
    expect(await sent()).toEqual([`wh_1/${NOW}`]);
    expect(mailed[0]).toMatchObject({ letter: 'webhookDisabled', about: 'wh_1' });
    expect(await sent(NOW + HOUR)).toEqual([]);
    disabled = [{ ...endpoint, disabledAt: NOW + HOUR }];
    expect(await sent(NOW + HOUR)).toEqual([`wh_1/${NOW + HOUR}`]);
  });

  test('an hour after an endpoint began to fail, once until it is disabled, and when it fails again', async () => {
    const endpoint = { webhookId: 'wh_1', partnerId: 'inn', host: 'inn.example' };
    failing = [{ ...endpoint, failingSince: NOW }];
    expect(await sent(NOW + HOUR - 1)).toEqual([]);
    expect(await sent(NOW + HOUR)).toEqual([`wh_1/failing/${NOW}`]);
    expect(mailed[0]).toMatchObject({ letter: 'webhookFailing', about: 'wh_1' });
    for (let day = 1; day <= 5; day += 1) expect(await sent(NOW + day * DAY)).toEqual([]);
    failing = [{ ...endpoint, failingSince: NOW + 6 * DAY }];
    expect(await sent(NOW + 6 * DAY + HOUR)).toEqual([`wh_1/failing/${NOW + 6 * DAY}`]);
  });

  test('several gateways at the same time mail a notice once', async () => {
    const keyId = await addKey(30, 3);
    await Promise.all(Array.from({ length: 5 }, () => sendNotices(parts(), NOW)));
    expect(mailed.map(({ noticeId }) => noticeId)).toEqual([`${keyId}/3`]);
  });

  test('while members is away, or a gateway ended before the mail, it is tried for a day', async () => {
    const keyId = await addKey(30, 3);
    isDown = true;
    expect(await sent()).toEqual([]);
    isDown = false;
    // Whoever has begun may still be at it.
    expect(await sent(NOW + 59_000)).toEqual([]);
    expect(await sent(NOW + 60_000)).toEqual([`${keyId}/3`]);
    await addKey(30, 3);
    expect(await sent(NOW + DAY)).toEqual([]);
  });

  test('what was mailed is forgotten some time after it was due', async () => {
    await addKey(30, 3);
    await sent();
    const { notices } = await store.staffTables();
    await sent(NOW + DAY);
    expect(await notices.count('until')).toBe(1);
    await sent(NOW + 2 * DAY);
    expect(await notices.count('until')).toBe(0);
  });
});

// The sections usage and requests, for weeks that are empty, sparse and full.
describe('records', () => {
  const NOW = new Date('2031-05-17T10:30:00Z');
  const HOURS = keptHours(NOW);

  let folder: Folder;
  let store: UsageStore;

  beforeEach(async () => {
    folder = temporaryFolder();
    store = await openUsageStore({
      mongodbUrl: undefined,
      dataDir: folder.path,
      environment: 'sandbox',
    });
  });

  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  async function shown(section: Section, query = '', partnerId = 'acme'): Promise<string> {
    const ann = {
      staffId: 's',
      email: 'ann@acme.example',
      role: 'viewer',
      createdAt: NOW,
    } as const;
    const visit = { query: new URLSearchParams(query), requestId: 'r', changed() {} };
    const { html } = await section.show({ ...visit, staff: { ...ann, partnerId } });
    // What the policy of pages forbids.
    expect(html).not.toMatch(/ style=|<script| on[a-z]+=/);
    return html;
  }
  const usage = (query?: string, partnerId?: string) =>
    shown(
      createUsageSection({ usageStore: store }, () => NOW),
      query,
      partnerId,
    );
  const requests = (query?: string, partnerId?: string) =>
    shown(
      createRequestsSection({ usageStore: store, keyStore: { keys } }, () => NOW),
      query,
      partnerId,
    );

  const keys = async (partnerId: string) =>
    [
      { keyId: 'key_a', name: '<Desk>', partnerId: 'acme', hash: '', createdAt: NOW },
      { keyId: 'key_b', partnerId: 'acme', hash: '', createdAt: NOW, revokedAt: NOW },
      { keyId: 'key_blue', name: 'Blue', partnerId: 'blue', hash: '', createdAt: NOW },
    ].filter((key) => key.partnerId === partnerId);

  const hour = (at: string, counts = {}, more: Partial<PartnerHour> = {}): PartnerHour => ({
    partnerId: 'acme',
    hour: at,
    counts: { requests: 20, recorded: 20, l12: 18, l16: 2, ...counts },
    budget: 0.4,
    ...more,
  });
  const record = (ago: number, requestId: string, more: Partial<RequestRecord> = {}) => ({
    time: NOW.getTime() - ago,
    requestId,
    keyId: 'key_a',
    operation: 'CheckIn',
    status: 200,
    codes: [],
    cost: 2,
    durationMs: 3.512,
    ...more,
  });
  const addHours = (hours: PartnerHour[]) => store.addRequests({ at: NOW, hours, chunks: [] });
  const addRecords = (records: RequestRecord[], partnerId = 'acme') =>
    store.addRequests({
      at: NOW,
      hours: [],
      chunks: records.map((one, n) => ({
        ...{ partnerId, begun: one.time, writer: `w${n}` },
        records: [one],
      })),
    });

  const count = (text: string, part: RegExp) => text.match(part)?.length ?? 0;

  test('an empty week says what to do next', async () => {
    for (const page of [await usage(), await requests()]) {
      expect(page).toContain('No requests in the last 7 days');
      expect(page).toContain('href="/docs"');
      expect(page).not.toContain('<table');
    }
  });

  test('a sparse week has its hours in the charts and in the table, the newest first', async () => {
    const [first = '', last = ''] = [HOURS[0], HOURS.at(-1)];
    await addHours([hour(first, { failed: 5, partial: 1 }), hour(last, {}, { budget: 1 })]);
    await addHours([hour(last, { requests: 77_777 }, { partnerId: 'blue' })]);
    const page = await usage();
    expect(count(page, /<tr>\s*<th scope="row">/g)).toBe(2);
    expect(page.indexOf('05-17 10:00 UTC</time>')).toBeLessThan(
      page.indexOf('05-10 11:00 UTC</time>'),
    );
    expect(page).toContain('<title>2031-05-10 11:00 UTC: 20 requests, 6 with errors</title>');
    expect(
      count(
        page,
        /class="(succeeded|erred|p50|p99)" x="[^"]+" y="[^"]+" width="[^"]+" height="[1-9]/g,
      ),
    ).toBe(9);
    expect(page).toMatch(/<dd>40<.*<dd>6<.*15% of requests.*<dd>100%</s);
    expect(page).toMatch(/<td>1.8 ms<\/td><td>3.7 ms<\/td>/);
    const filter = 'status=5xx&amp;from=2031-05-10T11:00&amp;to=2031-05-10T12:00';
    expect(page).toContain(`<a href="/console/requests?${filter}">5</a>`);
    expect(page).not.toContain('77,777');
  });

  test('a full week has 168 hours, and stays within its axes', async () => {
    await addHours(HOURS.map((at, n) => hour(at, { requests: (n + 1) * 1_000 }, { budget: 1 })));
    const page = await usage();
    expect(count(page, /<tr>\s*<th scope="row">/g)).toBe(168);
    expect(count(page, /class="succeeded" x=/g)).toBe(2 * 168);
    const places = [...page.matchAll(/class="succeeded" x="([\d.]+)" y="([\d.]+)"/g)];
    for (const [, x, y] of places) {
      expect(Number(x)).toBeGreaterThan(60);
      expect(Number(x)).toBeLessThan(720);
      expect(Number(y)).toBeGreaterThan(0);
      expect(Number(y)).toBeLessThan(170);
    }
    expect(page).toContain('>200K</text>');
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('requests are found by ID, status and code, and one has its details', async () => {
    await addHours([hour(HOURS.at(-1) ?? '')]);
    const limited = { status: 429, codes: ['RATE_LIMITED'], operation: undefined };
    await addRecords([
      record(1_000, 'one'),
      record(2_000, 'two', limited),
      record(3_000, 'three', { codes: ['OFFERS_CLOSED'], keyId: undefined, clientId: 'app_1' }),
      record(4_000, 'four', { keyId: undefined }),
    ]);
    const ids = async (query: string) =>
      Array.from(
        (await requests(query)).matchAll(/<a class="mono"[^>]+>(\w+)<\/a>/g),
        ([, id]) => id,
      );
    expect(await ids('')).toEqual(['one', 'two', 'three', 'four']);
    expect(await ids('q=&status=429&code=')).toEqual(['two']);
    expect(await ids('status=4xx')).toEqual(['two']);
    expect(await ids('code=offers_closed')).toEqual(['three']);
    expect(await ids('q=+one+')).toEqual(['one']);
    expect(await ids('status=many')).toEqual([]);
    for (const before of ['1e300', 'x', '9007199254740991'])
      expect(await ids(`q=one&before=${before}`)).toEqual(['one']);
    for (const before of ['-1', '-1e300']) expect(await ids(`q=one&before=${before}`)).toEqual([]);
    const one = await requests('q=one');
    expect(one).toMatch(/<dt>Cost<\/dt><dd>2 of the budget<\/dd>/);
    expect(one).toMatch(/<dt>Duration<\/dt><dd>3.512 ms<\/dd>/);
    expect(one).toContain('<dd>key <bdi>&lt;Desk&gt;</bdi> <code>key_a</code></dd>');
    expect(await requests('q=two')).toContain('href="/docs#RATE_LIMITED"');
    const three = await requests('q=three');
    expect(three).toContain('<dd>app app_1</dd>');
    expect(three).not.toContain('#OFFERS_CLOSED');
    expect(await requests('q=four')).toContain('a member&#39;s token');
    expect(await requests('q=none')).toContain('No matching requests are recorded');
  });

  test('requests are found by key and time, each with the name of its key', async () => {
    await addRecords([
      record(60_000, 'one'),
      record(120_000, 'two', { keyId: 'key_b' }),
      record(180_000, 'three', { keyId: undefined }),
    ]);
    const ids = async (query: string) =>
      Array.from(
        (await requests(query)).matchAll(/<a class="mono"[^>]+>(\w+)<\/a>/g),
        ([, id]) => id,
      );
    expect(await ids('key=key_a')).toEqual(['one']);
    expect(await ids('key=key_b')).toEqual(['two']);
    expect(await ids('key=key_blue')).toEqual([]);
    const at = (ago: number) => new Date(NOW.getTime() - ago).toISOString().slice(0, 19);
    expect(await ids(`from=${at(120_000)}`)).toEqual(['one', 'two']);
    expect(await ids(`to=${at(120_000)}`)).toEqual(['three']);
    expect(await ids(`from=${at(130_000)}&to=${at(70_000)}&key=key_b`)).toEqual(['two']);
    await expect(requests('from=yesterday')).rejects.toThrow('Give a date');
    const page = await requests('key=key_b');
    expect(page).toContain('<option value="key_b" selected>Key without a name, key_b</option>');
    expect(page).toContain('>&lt;Desk&gt;, key_a</option>');
    expect(page).not.toContain('key_blue');
    expect(await requests()).toContain('<bdi class="soft">&lt;Desk&gt;</bdi></td>');
  });

  test('faults of the sandbox are marked, and are no part of usage', async () => {
    await addHours([hour(HOURS[0] ?? '', { requests: 0, recorded: 2, l12: 0, l16: 0, faults: 2 })]);
    await addRecords([record(1_000, 'one', { status: 503, isFault: true })]);
    expect(await requests()).toMatch(/503<\/span> <span class="state fault">/);
    expect(await usage()).toContain('No requests in the last 7 days');
    await addHours([hour(HOURS[1] ?? '', { faults: 1, recorded: 21 })]);
    expect(await requests()).not.toContain('have no record');
    expect(await usage()).not.toContain('NaN');
  });

  test('older requests follow on the next page, with the same search', async () => {
    await addRecords(
      Array.from({ length: 60 }, (_, n) => record(n * 1_000, `r${n}`, { status: 400 })),
    );
    const page = await requests('status=400');
    const [, next = ''] = /rel="next" href="\/console\/requests\?([^"]+)"/.exec(page) ?? [];
    const older = await requests(next.replaceAll('&amp;', '&'));
    expect(count(page, /<a class="mono"/g)).toBe(50);
    expect(count(older, /<a class="mono"/g)).toBe(10);
    expect(older).toContain('value="400"');
    expect(older).not.toContain('rel="next"');
  });

  test("another partner's request is not found, whoever knows its ID", async () => {
    await addRecords([record(1_000, 'theirs')], 'blue');
    await addRecords([record(1_000, 'mine')]);
    for (const query of ['', 'q=theirs', 'q=theirs&partnerId=blue', 'before=99999999999999'])
      expect(await requests(query)).not.toContain('>theirs<');
    expect(await requests('q=theirs', 'blue')).toContain('>theirs<');
  });

  test('the page says how many were only counted, and since when there are records', async () => {
    await addHours([hour(HOURS.at(-1) ?? '', { requests: 1_020 })]);
    const page = await requests();
    expect(page).toMatch(/1,000 of 1,020 requests in\s+the last 7 days have no record/);
    expect(page).not.toContain('The last 20,000');
    await addHours(HOURS.map((at) => hour(at, { requests: 6_000, recorded: 6_000 })));
    expect(await requests()).toContain('The last 20,000 records are kept: those since');
  });

  test('what the query has is text in the page, and no markup', async () => {
    const markup = '"><img src=x>';
    await addRecords([record(1_000, 'one', { operation: 'Look' })]);
    const query = new URLSearchParams({ q: markup, status: markup, code: markup, before: markup });
    expect(await requests(query.toString())).not.toContain('<img');
  });
});

// The sessions of the console: how long they last, and what a browser has to show for one.
describe('sessions', () => {
  const ADA = 'ada@example.com';
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;

  describe('sessions', () => {
    let keys: KeyStore;
    let sessions: Sessions;
    let release: () => unknown;
    beforeEach(async () => {
      const place = emptyPlace();
      release = place.release;
      keys = await openKeyStore({ ...place.settings, environment: 'sandbox' });
      sessions = createSessions(keys, createCookies('https://api.example'));
      const tables = await keys.staffTables();
      await inviteStaff(tables, { partnerId: 'inn', email: ADA, role: 'admin' });
    });
    afterEach(async () => {
      await keys.close();
      await release();
    });

    // Cast: nothing else of it is read.
    const requestWith = (cookie: string) => ({ headers: { cookie } }) as unknown as HttpRequest;
    const begin = async (cookie = '') => {
      const begun = await sessions.begin(requestWith(cookie), { address: ADA });
      return begun?.cookie.split(';')[0] ?? '';
    };
    const current = (cookie: string) => sessions.current(requestWith(cookie));

    test('a session lasts 12 hours from its last use', () =>
      withFakeDate(async (advance) => {
        const cookie = await begin();
        expect((await current(cookie))?.cookies).toEqual([]);
        for (let used = 0; used < 3; used += 1) {
          advance(11 * HOUR);
          expect(await current(cookie)).toMatchObject({
            staff: { email: ADA, role: 'admin' },
            cookies: [expect.stringContaining('Max-Age=43200; HttpOnly; SameSite=Lax; Secure')],
          });
        }
        advance(12 * HOUR + 1);
        expect(await current(cookie)).toBeUndefined();
        await begin();
        expect(await (await keys.staffTables()).sessions.select(() => true)).toHaveLength(1);
      }));

    test('signing in again ends the session that the browser had, signing out ends this one', async () => {
      const first = await begin();
      const second = await begin(first);
      expect(await current(first)).toBeUndefined();
      const personOf = (cookie: string) => createPersonOf(keys)(cookie.replace(/.*=/, ''));
      expect([await personOf(first), await personOf(second)]).toEqual([undefined, `staff ${ADA}`]);
      const signedIn = await current(second);
      expect(signedIn?.staff?.email).toBe(ADA);
      if (signedIn) await sessions.end(signedIn);
      expect(await current(second)).toBeUndefined();
      expect(await personOf(second)).toBeUndefined();
    });

    test('a sign-in that is repeated, at once too, leads to the session that it has begun', async () => {
      const uses = Array.from({ length: 30 }, () =>
        sessions.begin(requestWith(''), { address: ADA }, 'secret'),
      );
      const begun = await Promise.all(uses);
      const again = await sessions.begin(
        requestWith('__Host-console=secret'),
        { address: ADA },
        'secret',
      );
      expect(new Set([...begun, again].map((one) => one?.cookie)).size).toBe(1);
      expect(begun.filter((one) => one?.staff)).toHaveLength(1);
      expect(await (await keys.staffTables()).sessions.select(() => true)).toHaveLength(1);
      const signedIn = await current('__Host-console=secret');
      expect(signedIn?.staff?.email).toBe(ADA);
      if (signedIn) await sessions.end(signedIn);
      expect(await sessions.begin(requestWith(''), { address: ADA }, 'secret')).toBeUndefined();
      expect(await current('__Host-console=secret')).toBeUndefined();
    });

    test('notices go to whoever has signed in to the partner, or chosen it', async () => {
      const tables = await keys.staffTables();
      const reached = async () => {
        const lists = await Promise.all(['inn', 'spa'].map((id) => recipientsOf(tables, id)));
        return lists.map(({ length }) => length);
      };
      expect(await reached()).toEqual([0, 0]);
      await begin();
      expect(await reached()).toEqual([1, 0]);
      await inviteStaff(tables, { partnerId: 'spa', email: ADA, role: 'viewer' });
      const signedIn = await current(await begin());
      expect(await reached()).toEqual([1, 0]);
      const spa = signedIn?.places.find(({ partnerId }) => partnerId === 'spa');
      if (signedIn && spa) await sessions.choose(signedIn, spa);
      expect(await reached()).toEqual([1, 1]);
    });

    test('a stolen store opens no session: it has hashes alone', async () => {
      const cookie = await begin();
      const [row] = await (await keys.staffTables()).sessions.select(() => true);
      expect(await current(`__Host-console=${row?.sessionId}`)).toBeUndefined();
      expect(JSON.stringify(row)).not.toContain(cookie.split('=')[1]);
    });

    test('a link of the demo works once, within 15 minutes, and is no session', () =>
      withFakeDate(async (advance) => {
        const tables = await keys.staffTables();
        const token = await makeDemoToken(tables, 'inn');
        expect(await current(`__Host-console=${token}`)).toBeUndefined();
        const redeemed = await Promise.all([1, 2, 3].map(() => sessions.redeemDemo(token)));
        expect(redeemed.filter((partnerId) => partnerId === 'inn')).toHaveLength(1);
        const late = await makeDemoToken(tables, 'inn');
        advance(15 * MINUTE + 1);
        expect(await sessions.redeemDemo(late)).toBeUndefined();
        expect(await sessions.redeemDemo('demo_unknown')).toBeUndefined();
      }));
  });

  test('with TLS a cookie is for this host alone, and one with another name is not taken for it', () => {
    const { read, write } = createCookies('https://api.example');
    expect(write('console', 'x', 1_000)).toBe(
      '__Host-console=x; Path=/; Max-Age=1; HttpOnly; SameSite=Lax; Secure',
    );
    const value = (cookie: string) => read({ headers: { cookie } }, 'console');
    expect(value('a=b; __Host-console=x; c=d')).toBe('x');
    expect([value('console=x'), value('my__Host-console=x'), value('')]).toEqual(['', '', '']);
    expect(createCookies('http://localhost:4000').write('console', '')).toBe(
      'console=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    );
  });
});

// Admins of one partner on two gateways, whose forms do not wait for each other.

/** Two admins of a partner, and their section of the console. */
async function twoAdmins() {
  const folder = temporaryFolder();
  const keyStore = await openKeyStore({ environment: 'sandbox', dataDir: folder.path });
  const tables = await keyStore.staffTables();
  for (const email of ['ada@inn.example', 'eve@inn.example'])
    await inviteStaff(tables, { partnerId: 'inn', email, role: 'admin' });
  const [ada, eve] = await listStaff(tables, 'inn');
  const section = createStaffSection({
    keyStore,
    members: { mailStaff: async () => {} },
    ownUrl: '',
  });
  const close = async () => {
    await keyStore.close();
    folder.remove();
  };
  return { tables, ada, eve, section, close };
}

test.each(['remove', 'invite', 'change-role'])(
  'race: of two admins who %s each other, one is left',
  async (action) => {
    const { tables, ada, eve, section, close } = await twoAdmins();
    const submit = (by: typeof ada, other: typeof ada) =>
      by &&
      other &&
      section.actions?.[action]?.(
        { staff: by, query: new URLSearchParams(), requestId: 'r', changed() {} },
        new URLSearchParams({ action, staffId: other.staffId, email: other.email, role: 'viewer' }),
      );
    await Promise.allSettled([submit(ada, eve), submit(eve, ada)]);
    const left = (await listStaff(tables, 'inn')).map(({ role }) => role);
    await close();
    expect(left).toContain('admin');
  },
);

test('the page of staff has each address once, and a role is changed by ID', async () => {
  const { tables, ada, eve, section, close } = await twoAdmins();
  // Cast: she was invited above.
  const visit = { staff: ada as Staff, query: new URLSearchParams(), requestId: 'r', changed() {} };
  const { html } = await section.show(visit);
  expect(html.match(/\w+@inn/g)).toEqual(['ada@inn', 'eve@inn']);
  const change = (staffId = '') =>
    section.actions?.['change-role']?.(visit, new URLSearchParams({ staffId, role: 'viewer' }));
  await expect(change('staff_0')).rejects.toThrow('There is nobody with this ID.');
  expect(await change(eve?.staffId)).toBeUndefined();
  expect((await listStaff(tables, 'inn')).map(({ role }) => role)).toEqual(['admin', 'viewer']);
  await close();
});
