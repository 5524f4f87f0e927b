// The sections for webhooks and apps on the subgraphs: what they show, and what their forms do.
import type { StaffRole } from '@partner-loyalty/gateway/identity/staff.ts';
import { createMembers, openMembersStore } from '@partner-loyalty/members';
import { createManageApps, MAX_APPS } from '@partner-loyalty/provider/members/apps.ts';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import { createStandings, openStandingsStore } from '@partner-loyalty/standings';
import { createWebhookManager } from '@partner-loyalty/webhooks/manage.ts';
// The first message would load it, which a slow machine does not do within an operation's deadline.
import '@partner-loyalty/webhooks/outgoing.ts';
import { createSender } from '@partner-loyalty/webhooks/send.ts';
import { createWebhookSecrets } from '@partner-loyalty/webhooks/target.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { startReceiver } from '../../../test/support/servers/receiver.ts';
import { createAppsSection } from './apps.ts';
import { createManage } from './manage.ts';
import {
  actionOf,
  ConsoleError,
  type ConsoleVisit,
  NotFoundError,
  type Section,
} from './section.ts';
import { messagePage } from './webhookpages.ts';
import { createWebhooksSection } from './webhooks.ts';

const URL = 'https://hooks.example/a?b=1&c=2';
const HOSTILE = `"><script>alert('1')</script>`;

async function openSections() {
  const folder = temporaryFolder();
  const stores = { environment: 'sandbox', dataDir: folder.path } as const;
  const [standings, members] = [
    await openStandingsStore(stores),
    await openMembersStore({ ...stores, keyEncryptionKey: undefined }),
  ];
  await members.partners.put({ partnerId: 'spa', name: 'Spa' });
  const settings = {
    environment: 'sandbox',
    keyEncryptionKey: undefined,
    webhookPrivate: 'on',
    host: '127.0.0.1',
  } as const;
  const sender = createSender(settings, createWebhookSecrets(settings));
  const manager = createWebhookManager(standings, settings, { send: sender.send, testMs: 60_000 });
  const none = async () => [];
  const webhooks = { ...manager, disabledSince: none, failingBefore: none, wake() {} };
  const transportTo = (subgraph: Subgraph) =>
    createInProcessTransport(subgraph, createLog('silent'), createCaches());
  const feed = transportTo(createStandings(standings, { webhooks }));
  const manageApps = createManageApps(members, settings);
  const provider = transportTo(
    createMembers(members, { baseAddress: 'https://api.example', wake: () => {}, manageApps }),
  );
  const graphs = {
    askFeed: async (request: Parameters<typeof feed.execute>[0]) => feed.execute(request),
    askProvider: async (request: Parameters<typeof feed.execute>[0]) => provider.execute(request),
  };
  const sectionsFor = (isLocal: boolean) => {
    const manage = createManage(graphs, isLocal);
    return { webhooks: createWebhooksSection(manage), apps: createAppsSection(manage) };
  };
  const close = async () => {
    await manager.close();
    await sender.close();
    await Promise.all([feed.close(), provider.close()]);
    folder.remove();
  };
  return { standings, members, sectionsFor, graphs, close };
}

let opened: Awaited<ReturnType<typeof openSections>>;
let sections: Record<'webhooks' | 'apps', Section>;
/** What the forms have made or changed, for the audit log. */
let changes: string[];
beforeEach(async () => {
  opened = await openSections();
  sections = opened.sectionsFor(true);
  changes = [];
});
afterEach(() => opened.close());

function visit(query = '', partnerId = 'inn', role: StaffRole = 'admin'): ConsoleVisit {
  const staff = { staffId: 's', partnerId, email: 'a@b.example', role, createdAt: new Date() };
  return {
    staff,
    query: new URLSearchParams(query),
    requestId: 'r',
    changed: (id) => changes.push(id),
  };
}
/** The fields of a form; boxes of one name have their values in a list. */
type Form = Record<string, string | string[]>;
const typedIn = (form: Form) =>
  new URLSearchParams(
    Object.entries(form).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    ),
  );
const show = async (name: 'webhooks' | 'apps', given = visit()) =>
  (await sections[name].show(given)).html;
const submit = async (name: 'webhooks' | 'apps', form: Form, given = visit()) => {
  const typed = typedIn(form);
  const act = actionOf(sections[name], typed.get('action') ?? '');
  const shown = await act(given, typed);
  return shown && ('html' in shown ? shown.html : shown.text);
};
const refusal = async (name: 'webhooks' | 'apps', form: Form, given = visit()) => {
  const error = await submit(name, form, given).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ConsoleError);
  return error instanceof Error && error.message;
};
const webhookIds = async () =>
  (await opened.standings.webhooks.endpoints.select(() => true)).map(({ webhookId }) => webhookId);
/** The names and values of every form's fields and buttons, by button. */
const buttons = (html: string) =>
  [...html.matchAll(/name="action" value="([^"]+)"/g)].map(([, name]) => name);

describe('webhooks', () => {
  const add = async (url = URL, more: Form = {}) => {
    const html = await submit('webhooks', { action: 'create', url, ...more });
    return { html: html ?? '', webhookId: (await webhookIds()).at(-1) ?? '' };
  };
  /** Presses a button on the page of an endpoint. */
  const press = (
    webhookId: string,
    action: string,
    more: Form = {},
    partnerId?: string,
  ): Parameters<typeof submit> => [
    'webhooks',
    { action, ...more },
    visit(`webhook=${webhookId}`, partnerId),
  ];

  test('without an endpoint, the page says what one is, and has the form open', async () => {
    const html = await show('webhooks');
    expect(html).toContain('No endpoints yet');
    expect(html).toContain('<details class="new" open><summary>Add an endpoint</summary>');
    expect(buttons(html)).toEqual(['create']);
  });

  test('viewers see the same without a form', async () => {
    const { webhookId } = await add();
    for (const query of ['', `webhook=${webhookId}`]) {
      const html = await show('webhooks', visit(query, 'inn', 'viewer'));
      expect(html).toContain('hooks.example');
      expect(html).not.toContain('<form');
    }
  });

  test('an endpoint is added, and its secret shown on that page alone', async () => {
    const { html, webhookId } = await add();
    expect(html).toMatch(/whsec_[A-Za-z0-9+/]{43}=/);
    expect(html).toContain('not shown again');
    expect(changes.at(-1)).toBe(webhookId);
    for (const query of ['', `webhook=${webhookId}`]) {
      const later = await show('webhooks', visit(query));
      expect(later).toContain('https://hooks.example/a?b=1&amp;c=2');
      expect(later).toContain('<span class="state active">active</span>');
      expect(later).not.toContain('whsec_');
    }
    expect(await submit(...press(webhookId, 'rotate'))).toMatch(/whsec_[A-Za-z0-9+/]{43}=/);
  });

  test('the types are all, or those that are ticked, of which there has to be one', async () => {
    const types = () =>
      opened.standings.webhooks.endpoints.select(() => true).then(([one]) => one?.types);
    const ticked = { type: ['TIER_CHANGED', 'YEAR_ENDED'] };
    const { webhookId } = await add(URL, { events: 'some', ...ticked });
    expect(await types()).toEqual(['TIER_CHANGED', 'YEAR_ENDED']);
    const edit = (more: Form) => press(webhookId, 'edit', { url: URL, ...more });
    expect(await refusal(...edit({ events: 'some' }))).toMatch(/^Choose at least one/);
    await submit(...edit({ events: 'all', ...ticked }));
    expect(await types()).toBeUndefined();
  });

  test('an endpoint is disabled, enabled and removed', async () => {
    const { webhookId } = await add();
    const page = () => show('webhooks', visit(`webhook=${webhookId}`));
    await opened.standings.webhooks.endpoints.update(
      webhookId,
      (row) => row && { ...row, waiting: 2 },
    );
    expect(await page()).toMatch(/<summary>Disable<[^?]+waiting \(2 events\) is not sent/);
    await submit(...press(webhookId, 'disable'));
    expect(await page()).toContain('Your staff disabled it.');
    expect(buttons(await page())).toEqual(['test', 'enable', 'edit', 'rotate', 'remove']);
    const since = '2026-01-01T00:00';
    expect(await refusal(...press(webhookId, 'replay', { since }))).toContain('Enable it');
    expect(await submit(...press(webhookId, 'enable'))).toContain('Send events again');
    expect(buttons(await page()).join()).toBe('test,disable,edit,replay,rotate,remove');
    expect(await submit(...press(webhookId, 'remove'))).toBeUndefined();
    expect(await show('webhooks')).toContain('No endpoints yet');
    await expect(page()).rejects.toThrow(NotFoundError);
  });

  test('an endpoint that fails says since when, with what, and when the next attempt is', async () => {
    const { webhookId } = await add();
    const fail = (health: object) =>
      opened.standings.webhooks.endpoints.update(webhookId, (row) => row && { ...row, ...health });
    const pages = async () => [
      await show('webhooks'),
      await show('webhooks', visit(`webhook=${webhookId}`)),
    ];
    await fail({ failingSince: 0, failures: 3, lastStatus: 500, nextAttemptAt: 60_000 });
    for (const html of await pages()) {
      expect(html).toContain('<span class="state retrying">retrying</span>');
      expect(html).toContain('status 500');
      expect(html).toContain('1970-01-01 00:01 UTC');
      expect(html).not.toContain('role="alert"');
    }
    await fail({ failures: 12, lastStatus: undefined, lastReason: 'DNS', waiting: 3_000 });
    for (const html of await pages()) {
      expect(html).toContain('<span class="state failing">failing</span>');
      expect(html).toContain('its host name was not found');
      expect(html).toContain('3000 events');
    }
    const [, page = ''] = await pages();
    expect(page).toMatch(
      /No message has got through since\s[^.]*1970-01-01 00:00 UTC[^.]*, in 12 attempts/,
    );
    expect(buttons(page)).toContain('disable');
  });

  test('a test and other messages are listed, and events can be sent again', async () => {
    const receiver = await startReceiver();
    const { webhookId } = await add(receiver.url);
    const sent = await submit(...press(webhookId, 'test'));
    expect(sent).toMatch(/The test was delivered: status 204/);
    await receiver.close();
    const outcome = { type: 'TIER_CHANGED', at: Date.now(), attempts: 10, durationMs: 15_000 };
    await opened.standings.webhooks.logs.update(webhookId, (log) => ({
      ...{ webhookId, delivered: [], ...log },
      failed: [
        { ...outcome, id: 'e', position: 1, reason: 'TIMEOUT' },
        { ...outcome, id: 'older', at: 1 },
      ],
    }));
    const html = await show('webhooks', visit(`webhook=${webhookId}`));
    expect(html).toMatch(/&amp;message=e">TIER_CHANGED<[\s\S]+&amp;message=test_[^>]+>TEST</);
    expect(html).toContain('no answer within 15 seconds, 15000 ms, attempt 10');
    expect(html).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d UTC, no answer/);
    expect(html).not.toContain('1970');
    const resend = press(webhookId, 'resend', { event: 'e' });
    expect(await refusal(...resend)).toContain('is no longer kept');
  });

  test('the page of a message has its attempts, what waits is sent now, and answers are escaped', async () => {
    const { webhookId } = await add();
    const eventId = `e/${HOSTILE}`;
    const history = [
      { at: 0, durationMs: 5, status: 500, answer: HOSTILE },
      { at: 60_000, durationMs: 15_000, reason: 'TIMEOUT', isExtra: true },
    ];
    const row = { position: 1, eventId, type: 'TIER_CHANGED', occurredAt: 0, attempts: 1 };
    await opened.standings.webhooks.waiting.put({
      ...{ ...row, messageId: `${webhookId}/1`, nextAt: 120_000, history },
    });
    const html = await show('webhooks', visit(`webhook=${webhookId}`));
    expect(html).toMatch(
      /retrying<[^?]+no answer within 15 seconds, 15000 ms; next attempt 1970-01-01 00:02 UTC/,
    );
    const query = `webhook=${webhookId}&message=${encodeURIComponent(eventId)}`;
    const page = await show('webhooks', visit(query));
    expect(page).toMatch(/00:01 UTC[\s\S]+extra[\s\S]+00:00 UTC[\s\S]+status 500, 5 ms/);
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toContain('<script>');
    expect(page).toContain('Its event is no longer kept.');
    await expect(show('webhooks', visit(`webhook=${webhookId}&message=f`))).rejects.toThrow(
      'no longer listed',
    );
  });

  test('what is sent now leads to the page of the message', () => {
    const webhook = {
      ...{ webhookId: 'wh_1', partnerId: 'inn', url: URL, attempts: 0, createdAt: 0 },
      state: 'retrying' as const,
    };
    const message = { id: 'e/&', type: 'TIER_CHANGED', at: 0, attempts: 1, isEvent: true };
    const waiting = { ...message, outcome: 'waiting' as const };
    const page = messagePage({ webhook, message: waiting, history: [], payload: {} }, visit());
    expect(page.html).toContain('action="/console/webhooks?webhook=wh_1&amp;message=e%2F%26"');
  });

  test('while events are sent again, the pages say how far it is, and another time is refused', async () => {
    const { webhookId } = await add();
    const replay = { after: 1, to: 1_201, startedAt: 0 };
    await opened.standings.webhooks.endpoints.update(
      webhookId,
      (row) => row && { ...row, position: 301, replay },
    );
    const page = await show('webhooks', visit(`webhook=${webhookId}`));
    for (const html of [page, await show('webhooks')])
      expect(html).toContain('300 of 1200 events, since 1970-01-01 00:00 UTC');
    const again = press(webhookId, 'replay', { since: '2026-11-25T09:30' });
    expect(await refusal(...again)).toContain('already being sent again');
  });

  test('events are sent again from a time in UTC', async () => {
    const { webhookId } = await add();
    const replay = (since: string) => press(webhookId, 'replay', { since });
    expect(await submit(...replay('2026-11-25T09:30'))).toContain('sent again');
    for (const since of [
      '',
      'yesterday',
      '2026-11-25',
      '2026-13-01T00:00',
      '2026-11-25T09:30+01:00',
    ])
      expect(await refusal(...replay(since))).toMatch(/^Give a date and a time in UTC/);
  });

  test('what cannot be done says what to do', async () => {
    for (let i = 0; i < 5; i += 1) await add();
    const create = (url: string) => refusal('webhooks', { action: 'create', url });
    expect(await create(URL)).toContain('Remove one');
    expect(await create('hooks')).toBe('The URL must be a URL that starts with https://.');
    for (const form of [{ action: 'constructor' }, {}])
      expect(await refusal('webhooks', form)).toMatch(/^Use one of/);
  });

  test('a form that was rejected is open, with what was typed, and no other form has it', async () => {
    const { webhookId } = await add();
    const rejected = (action: string) =>
      new URLSearchParams({ action, url: HOSTILE, events: 'some', type: 'YEAR_ENDED' });
    const list = await show('webhooks', { ...visit(), rejected: rejected('create') });
    expect(list).toContain('<details class="new" open>');
    expect(list).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(list).toContain('value="some" checked');
    expect(list).toContain('value="YEAR_ENDED" checked');
    expect(list).not.toContain('value="TIER_CHANGED" checked');
    const page = visit(`webhook=${webhookId}`);
    const edited = await show('webhooks', { ...page, rejected: rejected('edit') });
    expect(edited).toContain('<details class="" open><summary>Edit</summary>');
    const tested = await show('webhooks', { ...page, rejected: rejected('test') });
    expect(tested).not.toMatch(/<details[^>]* open|&lt;script/);
  });

  test('server-side request forgery: not to a private address where others reach the console', async () => {
    sections = opened.sectionsFor(false);
    const form = { action: 'create', isLocal: 'true' };
    for (const url of ['http://hooks.example/', 'https://10.0.0.1/'])
      expect(await refusal('webhooks', { ...form, url })).toMatch(/^The URL must/);
    const { webhookId } = await add('https://localhost./', { isLocal: 'true' });
    expect(await submit(...press(webhookId, 'test'))).toContain('cannot be sent to its address');
  });

  test("isolation: another partner's endpoint is neither shown nor changed, whatever a form says", async () => {
    const { webhookId } = await add();
    const before = await opened.standings.webhooks.endpoints.get(webhookId);
    await expect(show('webhooks', visit(`webhook=${webhookId}`, 'spa'))).rejects.toThrow(
      NotFoundError,
    );
    expect(await show('webhooks', visit('', 'spa'))).not.toContain('hooks.example');
    for (const action of ['edit', 'rotate', 'test', 'disable', 'enable', 'resend', 'remove']) {
      const forged = press(
        webhookId,
        action,
        { url: 'https://spa.example/', partnerId: 'inn' },
        'spa',
      );
      expect(await refusal(...forged)).toMatch(/^There is no such/);
    }
    expect(await opened.standings.webhooks.endpoints.get(webhookId)).toEqual(before);
  });

  test('script injection: URLs and what a log has are text', async () => {
    const { webhookId } = await add(`https://hooks.example/?${HOSTILE}`);
    const outcome = { at: 1, attempts: 1, durationMs: 1, position: 1 };
    await opened.standings.webhooks.logs.put({
      webhookId,
      delivered: [],
      failed: [{ ...outcome, id: HOSTILE, type: HOSTILE, reason: HOSTILE }],
    });
    const pages = [
      await show('webhooks'),
      await show('webhooks', visit(`webhook=${webhookId}`)),
      await submit(...press(webhookId, 'test')),
      await submit(...press(webhookId, 'rotate')),
    ];
    for (const page of pages) expect(page).not.toMatch(/<script|alert\('/);
    expect(pages[1]).toContain('&quot;&gt;&lt;script&gt;');
  });

  test('SERVICE_UNAVAILABLE while the subgraph does not answer', async () => {
    const { webhooks } = createManage(
      {
        ...opened.graphs,
        askFeed: async () => ({
          errors: [{ message: 'm', extensions: { code: 'SERVICE_UNAVAILABLE' } }],
        }),
      },
      true,
    );
    await expect(createWebhooksSection({ webhooks }).show(visit())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });
});

describe('apps', () => {
  const spa = (role?: StaffRole) => visit('', 'spa', role);
  const FORM = {
    action: 'create',
    name: 'Guide',
    redirects: 'https://spa.example/callback\r\ncom.example.spa:/callback',
  };
  const register = async (form: Form = FORM) => {
    const html = (await submit('apps', form, spa())) ?? (await show('apps', spa()));
    return { html, clientId: /app-[\w-]{28}/.exec(html)?.[0] ?? '' };
  };

  test('without an app, the page says what one is, and has the form open', async () => {
    const html = await show('apps', spa());
    expect(html).toContain('No apps yet');
    expect(html).toContain('<details class="new" open><summary>Register an app</summary>');
    expect(await show('apps', spa('viewer'))).not.toContain('<form');
  });

  test('a public app is registered with its redirect URIs and origins, and has no secret', async () => {
    const { html, clientId } = await register();
    expect(html).not.toContain('cs_');
    expect(await opened.members.apps.find(clientId)).toMatchObject({
      partnerId: 'spa',
      redirectUris: ['https://spa.example/callback', 'com.example.spa:/callback'],
      origins: ['https://spa.example'],
    });
    const page = await show('apps', spa());
    expect(page).toContain('<span class="state public">public</span>');
    expect(buttons(page)).toEqual(['remove', 'create']);
  });

  const edit = (clientId: string, name: string, redirects: string) => ({
    ...{ action: 'update', clientId, name, redirects, origins: '' },
  });

  test('an app is edited: the form has what it is, and it keeps its client ID and secret', async () => {
    const { clientId } = await register({ ...FORM, kind: 'confidential' });
    const before = await opened.members.apps.find(clientId);
    const asked = visit(`edit=${clientId}`, 'spa');
    const form = await show('apps', asked);
    expect(buttons(form)).toEqual(['update', 'rotate', 'remove', 'create']);
    expect(form).toContain('https://spa.example/callback\ncom.example.spa:/callback</textarea>');
    expect(await show('apps', visit(`edit=${clientId}`, 'spa', 'viewer'))).not.toContain('<form');
    const change = edit(clientId, 'Guide 2', 'https://new.example/callback');
    expect(await submit('apps', change, asked)).toBeUndefined();
    expect(await opened.members.apps.find(clientId)).toEqual({
      ...before,
      name: 'Guide 2',
      redirectUris: ['https://new.example/callback'],
      origins: ['https://new.example'],
    });
  });

  test('a fault stands at its field of the form that was sent, with what was typed', async () => {
    const { clientId } = await register();
    const asked = spa();
    const form = edit(clientId, 'Guide', 'javascript:alert(1)');
    const typed = typedIn(form);
    const problem = await sections.apps.actions?.update?.(asked, typed).then(
      () => undefined,
      (error: unknown) => error,
    );
    const rejected = { ...asked, rejected: typed, problem } as ConsoleVisit;
    const html = (await sections.apps.show(rejected)).html;
    const [, edited = ''] =
      /<textarea id="redirects-edited"([\s\S]*?)<p class="soft"/.exec(html) ?? [];
    expect(edited).toContain('aria-invalid="true" aria-errormessage="fault" autofocus');
    expect(edited).toContain('javascript:alert(1)</textarea>\n<p class="fault"');
    expect(html.match(/class="fault"/g)).toHaveLength(1);
  });

  test('the secret of a confidential app is shown on the page that made it alone', async () => {
    const secret = { kind: 'confidential', origins: 'https://x.example' };
    const { html, clientId } = await register({ ...FORM, ...secret });
    expect(html).toMatch(/cs_[\w-]{43}/);
    expect(await show('apps', spa())).not.toContain('cs_');
    const act = (action: string) => submit('apps', { action, clientId }, spa());
    expect(await act('rotate')).toMatch(/cs_[\w-]{43}/);
    expect((await opened.members.apps.find(clientId))?.origins).toEqual(['https://x.example']);
    expect(await act('remove')).toBeUndefined();
    expect(await opened.members.apps.find(clientId)).toBeUndefined();
  });

  test('what cannot be done says what to do', async () => {
    const wrong = (name: string, value: string) =>
      refusal('apps', { ...FORM, [name]: value }, spa());
    expect(await wrong('name', ' ')).toBe('The name must not be empty.');
    expect(await wrong('redirects', 'javascript:alert(1)')).toMatch(
      /^Each redirect URI must be https/,
    );
    expect(await wrong('redirects', 'https://a.example/x\nnone')).toBe(
      'Each redirect URI must be a URI (see number 2).',
    );
    expect(await wrong('origins', 'https://spa.example/path')).toMatch(/^Each origin must/);
    expect(await wrong('action', 'make')).toMatch(/^Use one of/);
    expect(await refusal('apps', FORM, visit('', 'inn'))).toContain('Ask the operator');
  });

  test('escalation: no form makes a first-party app, and the page has no button for one', async () => {
    const { clientId } = await register({ ...FORM, isFirstParty: 'true', firstParty: 'yes' });
    expect(await opened.members.apps.find(clientId)).not.toHaveProperty('isFirstParty');
    await opened.members.apps.change(clientId, (app) => ({ ...app, isFirstParty: true }));
    expect(buttons(await show('apps', spa()))).toEqual(['create']);
    for (const action of ['update', 'rotate', 'remove'])
      expect(await refusal('apps', { action, clientId }, spa())).toContain('Only the operator');
  });

  test("isolation: another partner's app is neither shown nor changed, whatever a form says", async () => {
    const { clientId } = await register();
    expect(await show('apps', visit())).not.toContain('Guide');
    for (const action of ['update', 'rotate', 'remove'])
      expect(await refusal('apps', { action, clientId, partnerId: 'spa' })).toBe(
        'There is no such app.',
      );
    expect(await opened.members.apps.find(clientId)).toBeDefined();
  });

  test('with the most apps, the page has less than 200 KB, and all URIs of one that is chosen', async () => {
    // Almost 4,096 characters.
    const redirects = Array.from(
      { length: 20 },
      (_, i) => `https://spa.example/${i}?${'&'.repeat(175)}`,
    );
    const form = { ...FORM, name: '&'.repeat(100), kind: 'confidential' };
    const given = { ...form, redirects: redirects.join('\n') };
    let last = '';
    for (let made = 0; made < MAX_APPS; made += 1) ({ clientId: last } = await register(given));
    expect(Buffer.byteLength(await show('apps', spa()))).toBeLessThan(200_000);
    for (const role of ['admin', 'viewer'] as const) {
      const page = await show('apps', visit(`edit=${last}`, 'spa', role));
      expect(page).toContain(`${redirects.at(-1)?.replaceAll('&', '&amp;')}</code>`);
    }
  });

  test('script injection: names and URIs are text', async () => {
    const redirects = new globalThis.URL(`https://spa.example/?${HOSTILE}`).href;
    const name = HOSTILE.replace('"', '');
    const { html } = await register({ ...FORM, name, redirects, kind: 'confidential' });
    for (const page of [html, await show('apps', spa())]) {
      expect(page).not.toMatch(/<script|alert\('/);
      expect(page).toContain('<bdi>&gt;&lt;script&gt;');
    }
  });
});
