// The sections usage and requests, for weeks that are empty, sparse and full.
import { keptHours, type RequestRecord } from '@partner-loyalty/gateway/usage/requests.ts';
import type { PartnerHour, UsageStore } from '@partner-loyalty/usage/store.ts';
import { openUsageStore } from '@partner-loyalty/usage/stores.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { createRequestsSection } from './requests.ts';
import type { Section } from './section.ts';
import { createUsageSection } from './usage.ts';

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
  const ann = { staffId: 's', email: 'ann@acme.example', role: 'viewer', createdAt: NOW } as const;
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
    createRequestsSection({ usageStore: store }, () => NOW),
    query,
    partnerId,
  );

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
  expect(page.indexOf('17 May, 10:00</time>')).toBeLessThan(page.indexOf('10 May, 11:00</time>'));
  expect(page).toContain('<title>10 May, 11:00 UTC: 20 requests, 6 with errors</title>');
  expect(
    count(
      page,
      /class="(succeeded|erred|p50|p99)" x="[^"]+" y="[^"]+" width="[^"]+" height="[1-9]/g,
    ),
  ).toBe(9);
  expect(page).toMatch(/<dd>40<.*<dd>6<.*15% of requests.*<dd>100%</s);
  expect(page).toMatch(/<td>1.8 ms<\/td><td>3.7 ms<\/td>/);
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

test('each chart has a name for screen readers, and the table can be scrolled by keyboard', async () => {
  await addHours([hour(HOURS[5] ?? '')]);
  const page = await usage();
  expect(count(page, /<svg[^>]* role="img" aria-label="[^"]+"/g)).toBe(3);
  expect(page).toContain('role="region" tabindex="0" aria-labelledby="by-hour"');
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
    Array.from((await requests(query)).matchAll(/<td class="mono">(\w+)<\/td>/g), ([, id]) => id);
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
  expect(one).toContain('<dd>key key_a</dd>');
  expect(await requests('q=two')).toContain('href="/docs#RATE_LIMITED"');
  const three = await requests('q=three');
  expect(three).toContain('<dd>app app_1</dd>');
  expect(three).not.toContain('#OFFERS_CLOSED');
  expect(await requests('q=four')).toContain('a member&#39;s token');
  expect(await requests('q=none')).toContain('No matching requests are recorded');
});

test('older requests follow on the next page, with the same search', async () => {
  await addRecords(
    Array.from({ length: 60 }, (_, n) => record(n * 1_000, `r${n}`, { status: 400 })),
  );
  const page = await requests('status=400');
  const [, next = ''] = /rel="next" href="\/console\/requests\?([^"]+)"/.exec(page) ?? [];
  const older = await requests(next.replaceAll('&amp;', '&'));
  expect(count(page, /<td class="mono">/g)).toBe(50);
  expect(count(older, /<td class="mono">/g)).toBe(10);
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
