// The provider's grants, apps and sign-ins.

import { createHash } from 'node:crypto';
import { createMembers, type MembersStore } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { ManageApps, NewApp } from '@partner-loyalty/runtime/manage/apps.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { messageText, ownerLine, signInCard } from '@partner-loyalty/runtime/pages/cards.ts';
import { type Texts, textsIn } from '@partner-loyalty/runtime/pages/language.ts';
import { cardHeaders } from '@partner-loyalty/runtime/pages/layout.ts';
import type { StaffSignIn, StaffSignInAnswer } from '@partner-loyalty/runtime/signin/staff.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { newPlace, type Place } from '../../../../subgraphs/members/test/engine.ts';
import {
  BASE,
  partner,
  SERVICE,
  type SignInStage,
  startSignIn,
} from '../../../../subgraphs/members/test/signin.ts';
import { codeIn, tokenIn } from '../../../../test/support/servers/mailserver.ts';
import { until } from '../../../../test/support/until.ts';
import { createBrowser } from '../../test/browser.ts';
import { createManageApps, MAX_APPS } from './apps.ts';
import * as provider from './extension.ts';
import { consentPage, signOutPage } from './render.ts';

// What may be asked for about apps: by the command, and by the operation.

const WEB: NewApp = {
  name: 'Guide',
  redirectUris: ['https://spa.example/callback'],
  isConfidential: true,
};

describe('managing apps', () => {
  let place: Place;
  let store: MembersStore;
  let manage: ManageApps;

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    await store.partners.put({ partnerId: 'spa', name: 'Spa' });
    manage = createManageApps(store, { environment: 'sandbox' });
  });
  afterEach(() => place.release());

  const create = (input: Partial<NewApp> = {}, by: 'staff' | 'operator' = 'staff') =>
    manage({ action: 'create', partnerId: 'spa', ...WEB, ...input }, by);
  const made = async (...of: Parameters<typeof create>) => {
    const answer = await create(...of);
    if ('refused' in answer) throw new Error(`refused: ${answer.refused}`);
    return answer.app.clientId;
  };
  const names = async (partnerId: string) => {
    const answer = await manage({ action: 'list', partnerId }, 'staff');
    return 'apps' in answer && answer.apps.map(({ name }) => name);
  };

  test("another partner's app is unknown, and stays as it is", async () => {
    const clientId = await made();
    const before = await store.apps.find(clientId);
    for (const action of ['rotate', 'remove'] as const)
      expect(await manage({ action, partnerId: 'inn', clientId }, 'staff')).toEqual({
        refused: 'unknown',
      });
    expect(await store.apps.find(clientId)).toEqual(before);
    expect(await names('inn')).toEqual([]);
    expect(await names('spa')).toEqual(['Guide']);
  });

  test('an ID that no app has is unknown, however it is written', async () => {
    for (const clientId of [
      '',
      'app_',
      'app_1',
      'app-1',
      'x'.repeat(10_000),
      'app_\u0000',
      '__proto__',
    ])
      for (const action of ['rotate', 'remove'] as const)
        expect(await manage({ action, partnerId: 'spa', clientId }, 'staff')).toEqual({
          refused: 'unknown',
        });
  });

  test('a secret is in the answers that made it, and in no other', async () => {
    const answer = await create();
    expect(answer).toMatchObject({ secret: expect.stringMatching(/^cs_/) });
    const clientId = 'app' in answer ? answer.app.clientId : '';
    const of = { partnerId: 'spa', clientId };
    expect(await manage({ action: 'rotate', ...of }, 'staff')).toMatchObject({
      secret: expect.stringMatching(/^cs_/),
      app: { clientId },
    });
    const others = [
      await manage({ action: 'list', partnerId: 'spa' }, 'staff'),
      await manage({ action: 'remove', ...of }, 'staff'),
    ];
    expect(JSON.stringify(others)).not.toMatch(/cs_|hash/);
  });

  test('a name may have apostrophes', async () => {
    await made({ name: "Ben’s & Ann's" });
    expect(await names('spa')).toEqual(["Ben’s & Ann's"]);
  });

  test('a public app has no secret, and gets none', async () => {
    const answer = await create({ isConfidential: false });
    expect(answer).not.toHaveProperty('secret', expect.anything());
    const clientId = 'app' in answer ? answer.app.clientId : '';
    expect(await manage({ action: 'rotate', partnerId: 'spa', clientId }, 'staff')).toEqual({
      refused: 'public',
    });
  });

  test('escalation: staff neither make a first-party app nor get the secret of one', async () => {
    expect(await create({ isFirstParty: true })).toEqual({ refused: 'firstParty' });
    const clientId = await made({ isFirstParty: true }, 'operator');
    for (const action of ['rotate', 'remove'] as const)
      expect(await manage({ action, partnerId: 'spa', clientId }, 'staff')).toEqual({
        refused: 'firstParty',
      });
    expect(await names('spa')).toEqual(['Guide']);
  });

  test.each<[keyof NewApp, Partial<NewApp>]>([
    ['name', { name: ' ' }],
    ['name', { name: 'a'.repeat(101) }],
    ['name', { name: 'Guide\u0007' }],
    ['name', { name: 'Gu\u202eide' }],
    ['name', { name: 'Guide\u200b' }],
    ...[...'"“”„‟«»〞＂', '’’'].map((mark): [keyof NewApp, Partial<NewApp>] => [
      'name',
      { name: `nothing${mark}. The list below is not sent. Demo Bank` },
    ]),
    ['redirectUris', { redirectUris: [] }],
    [
      'redirectUris',
      { redirectUris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) },
    ],
    [
      'redirectUris',
      { redirectUris: ['a', 'b', 'c'].map((one) => `https://a.example/${one.repeat(1_400)}`) },
    ],
    ...[
      ...[
        'javascript:alert(1)',
        'data:text/html,x',
        'https://spa.example/callback#top',
        'callback',
      ],
      ...['https://*.spa.example/callback', 'https://user:password@spa.example/callback'],
      ...['spa:/callback', 'https:spa.example/callback'],
      ...['https://spa.example\\@evil.example/callback', 'https://SPA.example:443/callback'],
      `https://spa.example/${'a'.repeat(2_048)}`,
    ].map((uri): [keyof NewApp, Partial<NewApp>] => ['redirectUris', { redirectUris: [uri] }]),
    [
      'redirectUris',
      { redirectUris: ['http://spa.example/callback', 'com.example.spa:/callback'] },
    ],
    ['origins', { origins: ['https://spa.example/path'] }],
    ['origins', { origins: ['null'] }],
    ['origins', { origins: ['app://localhost'] }],
    ['origins', { origins: ['*'] }],
    ['origins', { origins: Array.from({ length: 21 }, (_, i) => `https://a${i}.example`) }],
  ])('refused: %s of %j', async (argument, input) => {
    const fault = expect.stringMatching(/^must/);
    expect(await create(input)).toEqual({ refused: 'invalid', argument, fault });
    expect(await names('spa')).toEqual([]);
  });

  test('in production, http is for the loopback alone, and localhost is none', async () => {
    manage = createManageApps(store, { environment: 'production' });
    const refused = async (uri: string) =>
      'refused' in (await create({ redirectUris: [uri], isConfidential: false }));
    expect([
      await refused('http://localhost:3000/callback'),
      await refused('http://127.0.0.1/callback'),
      await refused('http://[::1]:3000/callback'),
    ]).toEqual([true, false, false]);
  });

  test('a partner has a bounded number of apps, and one that members do not know has none', async () => {
    for (let i = 0; i < MAX_APPS; i += 1) await made();
    expect(await create()).toEqual({ refused: 'tooMany' });
    const other = { action: 'create', partnerId: 'inn', ...WEB } as const;
    expect(await manage(other, 'staff')).toEqual({ refused: 'noPartner' });
  });

  describe('the operation', () => {
    const QUERY = 'mutation ($request: String!) { answer: manageApps(request: $request) }';
    const ask = async (caller: Caller, request: object, manageApps?: ManageApps) => {
      const options = { baseAddress: 'https://api.example', wake: () => {}, manageApps };
      const members = createMembers(store, options);
      const execute = createExecutor(members, createLog('silent'), createCaches());
      const variables = { request: JSON.stringify(request) };
      const { data, errors } = await execute({ query: QUERY, variables, caller, requestId: 'r' });
      return errors?.[0]?.extensions.code ?? JSON.parse(String(data?.answer));
    };
    const list = { action: 'list', partnerId: 'spa' };

    test('is for the service alone, and with another identity provider for nobody', async () => {
      expect(await ask({ kind: 'service' }, list, manage)).toEqual({ apps: [] });
      const code = 'INTERNAL_SERVER_ERROR';
      expect(await ask({ kind: 'partner', partnerId: 'spa' }, list, manage)).toBe(code);
      expect(await ask({ kind: 'member', memberId: 'ada' }, list, manage)).toBe(code);
      expect(await ask({ kind: 'service' }, list)).toBe(code);
    });

    test("counts as staff's, whatever the request says", async () => {
      const forged = {
        action: 'create',
        partnerId: 'spa',
        ...WEB,
        isFirstParty: true,
        by: 'operator',
      };
      expect(await ask({ kind: 'service' }, forged, manage)).toEqual({ refused: 'firstParty' });
    });
  });
});

// The pages of signing in: in two languages, with no script but ours.

const APP = 'https://app.example';
const consent = {
  ...{ partnerName: 'Inn', appName: '<b>App', scopes: ['openid'], host: 'h' },
  isSandbox: true,
  address: '<b>@x',
};
const invalid = { name: 'address', problem: 'invalid', typed: '"<b>' } as const;

const PAGES: [string, (texts: Texts) => string, RegExp][] = [
  ['address', (texts) => signInCard(invalid, '/sign-in', texts), /type="email"/],
  [
    'code',
    (texts) => signInCard({ name: 'code', address: '<i>@x' }, '/x', texts),
    /"one-time-code"/,
  ],
  ['elsewhere', (texts) => signInCard({ name: 'elsewhere' }, '', texts), /Code|code/],
  ['consent', (texts) => consentPage('/x', consent, texts), />(Agree|Zustimmen)</],
  ['sign out', (texts) => signOutPage('/x', '"<b>', texts), />(Sign out|Abmelden)</],
  ['message', (texts) => messageText(texts, 'expired'), /start over|von vorn/],
];

test('what is no address is repeated on the page as far as an address could be', () => {
  const lengthOf = (typed: string) => signInCard({ ...invalid, typed }, '', textsIn('en')).length;
  expect(lengthOf("'".repeat(16_000)) - lengthOf('')).toBe(254 * '&#39;'.length);
});

test.each(PAGES)('%s: in the language of the reader, with no script but ours', (_, make, has) => {
  const policy = cardHeaders([])['content-security-policy'];
  const [english, german] = ['en', 'de'].map((language) => make(textsIn(language)));
  expect(english).not.toBe(german);
  for (const [text = '', language] of [
    [english, 'en'],
    [german, 'de'],
  ]) {
    expect(text).toContain(`<html lang="${language}">`);
    expect(text).toMatch(has);
    const scripts = [...text.matchAll(/<script>(.*?)<\/script>/gs)].map(
      ([, script = '']) => script,
    );
    expect(scripts).toHaveLength(text.includes('<form') ? 1 : 0);
    for (const script of scripts)
      expect(policy).toContain(
        `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}';`,
      );
    expect(text.replace(/<script>.*?<\/script>/s, '')).not.toMatch(
      /<script|<b>|<i>|src=|undefined|\{\}/,
    );
  }
  expect(policy).toMatch(/default-src 'none'.*form-action 'self'/);
});

test.each([
  ['en', '“{app}”'],
  ['de', '„{app}“'],
])('in %s, the name of an app is in quotation marks in each sentence', (language, quoted) => {
  const found = JSON.stringify(textsIn(language)).match(/.\{app\}./g);
  expect(found).toEqual(Array.from({ length: 4 }, () => quoted));
});

test('a link that does not work leads to a new one, where there is one', () => {
  const text = (signIn?: string) => messageText(textsIn('en'), 'invalidLink', '', signIn);
  expect(text('/console')).toMatch(/<bdi>Partner Loyalty<.*<a href="\/console">Sign in</s);
  expect(text()).not.toContain('<a ');
});

test('signing in to an app and the consent carry the name of its partner, and that of a sandbox', () => {
  const name = '<b>Inn\u202e';
  const [texts, named] = [textsIn('en'), { ...consent, partnerName: name }];
  const cards = [
    signInCard(invalid, '/x', texts, ownerLine(name, true)),
    signInCard({ name: 'code', address: '' }, '/x', texts, ownerLine(name, true)),
    consentPage('/x', named, texts),
  ];
  for (const card of cards)
    expect(card).toMatch(
      /<p class="owner"><bdi>&lt;b&gt;Inn<\/bdi> <span class="badge">sandbox<\/span><\/p>\n<h1>/,
    );
  expect(consentPage('/x', { ...named, isSandbox: false }, texts)).not.toContain('sandbox');
  expect(signInCard(invalid, '/x', texts, ownerLine(undefined, false))).not.toContain('owner"');
});

test('after its time, the page for the code speaks of no address', () => {
  const card = { name: 'code', address: '', problem: 'expired' } as const;
  const text = signInCard(card, '/sign-in', textsIn('en'));
  expect(text).toContain('This code has expired');
  expect(text).not.toContain('belongs to a member');
});

test('forms may lead to the app, and a policy cannot be widened by what an app registers', () => {
  const formOrigins = [APP, 'com.example.app:', 'https://x; script-src *', "'unsafe-inline'"];
  const policy = cardHeaders(formOrigins)['content-security-policy'];
  expect(policy).toContain(`; form-action 'self' ${APP} com.example.app:; base-uri`);
  expect(policy).not.toMatch(/script-src (?!'sha256-[^' ]+';)|unsafe/);
});

// Signing a partner's staff in, as the gateway asks for it.
describe('staffsignin', () => {
  // The first request has 2 seconds, and Jest takes longer to transform the library.
  beforeAll(() => import('./handle.ts'));

  const OPERATION = 'mutation ($request: String!) { answer: staffSignIn(request: $request) }';
  const EVE = 'Eve@inn.example';

  describe('signing staff in', () => {
    let stage: SignInStage;
    beforeEach(async () => {
      stage = await startSignIn([provider]);
    });
    afterEach(() => stage.release());

    async function ask(request: StaffSignIn): Promise<StaffSignInAnswer> {
      const variables = { request: JSON.stringify(request) };
      return JSON.parse(String(await stage.ask(SERVICE, OPERATION, variables)));
    }
    const begin = (more: Partial<Extract<StaffSignIn, { kind: 'begin' }>> = {}) =>
      ask({
        kind: 'begin',
        email: EVE,
        isStaff: true,
        clientAddress: '192.0.2.1',
        language: 'en',
        ...more,
      });

    /** Begins, and resolves with what the browser holds and what the mail has. */
    async function mailed(more: Parameters<typeof begin>[0] = {}) {
      const before = stage.server.mails.length;
      const begun = await begin(more);
      await until(() => stage.server.mails.length > before);
      const { text = '', recipients } = stage.server.mails.at(-1) ?? {};
      if (begun.outcome !== 'begun') throw new Error(begun.outcome);
      return { id: begun.id, text, recipients, code: codeIn(text), token: tokenIn(text) };
    }

    test('who is no member signs in by the code, in the language of the page', async () => {
      const { id, text, recipients, code } = await mailed({ language: 'de' });
      expect(recipients).toEqual(['eve@inn.example']);
      expect(text).toContain('Konsole für Partner');
      expect(text).toContain(`${BASE}/console/sign-in?token=si_`);
      const wrong = { outcome: 'wrong', address: EVE };
      expect(await ask({ kind: 'code', id, code: 'BBBB-BBBB' })).toEqual(wrong);
      const proven = await ask({ kind: 'code', id, code: code.toLowerCase() });
      expect(proven).toEqual({
        outcome: 'proven',
        address: 'eve@inn.example',
        known: expect.any(String),
        session: expect.any(String),
      });
      // The answer may be lost.
      for (const known of [undefined, 'forged'])
        expect(await ask({ kind: 'code', id, code, known })).toEqual(proven);
    });

    test('every mail works in the browser that asked, and goes to the address as it was invited', async () => {
      const first = await mailed({ staffEmail: 'Eve.E@Inn.example' });
      expect(first.recipients).toEqual(['Eve.E@inn.example']);
      const second = await mailed({ id: first.id });
      const third = await mailed({ id: second.id });
      const { id } = third;
      const proven = await ask({ kind: 'code', id, code: first.code });
      expect(proven).toMatchObject({ outcome: 'proven', id: expect.stringContaining('~') });
      expect(await ask({ kind: 'code', id, code: 'BBBB-BBBB' })).toMatchObject({
        outcome: 'wrong',
      });
      const left = proven.outcome === 'proven' ? (proven.id ?? '') : '';
      const link = { kind: 'link', id: left, token: second.token } as const;
      expect(await ask(link)).toMatchObject({
        outcome: 'proven',
        id: expect.not.stringContaining('~'),
      });
      expect(await ask({ kind: 'code', id, code: third.code })).toMatchObject({
        outcome: 'proven',
      });
    });

    test('who is not staff gets the same answer and no mail, a member neither', async () => {
      for (const email of ['nobody@example.com', 'ada@example.com'])
        expect(await begin({ email, isStaff: false })).toEqual({
          outcome: 'begun',
          id: expect.any(String),
          address: email,
        });
      expect((await mailed()).recipients).toEqual(['eve@inn.example']);
      expect(stage.server.mails).toHaveLength(1);
      expect(await begin({ email: 'eve' })).toEqual({ outcome: 'invalid' });
    });

    test('mail bombing: the limits are as for members, who use none up, and a known browser has its own', async () => {
      const { id, code } = await mailed();
      const proven = await ask({ kind: 'code', id, code });
      const known = proven.outcome === 'proven' ? proven.known : '';
      const browser = createBrowser(stage);
      const page = await browser.open('/sign-in');
      for (let n = 0; n < 5; n += 1) await browser.submit(page, { email: EVE });
      const limited = { name: 'address', problem: 'limited' };
      expect((await browser.submit(page, { email: EVE })).page).toMatchObject(limited);
      const hour = { count: 20, windowMs: 3_600_000 };
      for (let n = 5; n < 20; n += 1)
        await stage.store.outbox.admit({ key: `code\n${EVE}`, ...hour }, Date.now());
      for (let n = 1; n < 5; n += 1) expect((await begin()).outcome).toBe('begun');
      expect(await begin()).toEqual({ outcome: 'limited' });
      expect((await begin({ known })).outcome).toBe('begun');
    });

    test('exhaustion: codes of one site that a mail server is slow to take hold up no other', async () => {
      const { held } = stage.server;
      stage.server.hold('@slow.test');
      for (let n = 0; n < 10; n += 1)
        await begin({ email: `x${n}@slow.test`, clientAddress: `2001:db8:0:${n}::1` });
      await until(() => held.size === 2);
      await mailed({ clientAddress: '2001:db8:1::1' });
      expect(held.size).toBe(2);
      stage.server.hold(undefined);
    });

    test('mail bombing: the last 10 browsers that signed in are known, and share a limit', async () => {
      const browsers = Array.from({ length: 11 }, (_, n) => `browser ${n}`);
      for (const [n, known] of browsers.entries()) {
        const { id, code } = await mailed({ clientAddress: `192.0.2.${n}` });
        expect(await ask({ kind: 'code', id, code, known })).toMatchObject({ known });
      }
      const hour = { key: 'console\neve@inn.example', count: 20, windowMs: 3_600_000 };
      while (await stage.store.outbox.admit(hour, Date.now()));
      const outcomes = async (known = '', times = 1) => {
        const all = [];
        for (let n = 0; n < times; n += 1) all.push((await begin({ known })).outcome);
        return all;
      };
      const [first, ...others] = browsers;
      expect(await outcomes(first)).toEqual(['limited']);
      for (const known of others.slice(0, 4))
        expect(new Set(await outcomes(known, 5))).toEqual(new Set(['begun']));
      expect(await outcomes(others.at(-1))).toEqual(['limited']);
    });

    test('confused sign-ins: one of a member is of no use at the console, nor the reverse', async () => {
      const browser = createBrowser(stage);
      const before = stage.server.mails.length;
      const page = await browser.open('/sign-in');
      const codePage = await browser.submit(page, { email: 'ada@example.com' });
      await until(() => stage.server.mails.length > before);
      const { text } = stage.server.mails.at(-1) ?? {};
      const id = browser.cookies.get('__Host-sign-in /')?.value ?? '';
      const expired = { outcome: 'expired', address: 'ada@example.com' };
      expect(await ask({ kind: 'code', id, code: codeIn(text) })).toEqual(expired);
      const link = { kind: 'link', id, token: tokenIn(text) } as const;
      expect(await ask(link)).toEqual({ outcome: 'elsewhere' });

      const staff = await mailed({ email: 'ada@example.com' });
      browser.cookies.set('__Host-sign-in /', { value: staff.id, path: '/' });
      expect((await browser.open(`/sign-in?token=${staff.token}`)).page?.name).toBe('elsewhere');
      const answer = await browser.submit(codePage, { code: staff.code });
      expect(answer.page).toMatchObject({ name: 'code', problem: 'expired' });
    });

    test('nobody but the service signs staff in', async () => {
      const request = JSON.stringify({ kind: 'link', id: '', token: '' });
      expect(await stage.ask(partner('inn'), OPERATION, { request })).toBe('INTERNAL_SERVER_ERROR');
    });
  });
});
