// OpenID Connect with openid-client, unmodified, from the authorization to the sign-out.

import { publicKeys, rotateSigningKey } from '@partner-loyalty/members/signingkeys/signingkey.ts';
import { digest } from '@partner-loyalty/members/tables/access.ts';
import { textsIn } from '@partner-loyalty/runtime/pages/language.ts';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { BASE, type SignInStage, startSignIn } from '../../../../subgraphs/members/test/signin.ts';
import { type Browser, createBrowser, forward } from '../../test/browser.ts';
import {
  addApp,
  authorization,
  authorize,
  begin,
  configure,
  REDIRECT,
  signInByCode,
} from '../../test/identity.ts';
import * as provider from './extension.ts';

/** Expects an error of OAuth. */
const refused = (asked: Promise<unknown>, error: string) =>
  expect(asked).rejects.toMatchObject({ error });

/** Acts with the clock ahead. */
async function ahead<T>(ms: number, act: () => Promise<T>): Promise<T> {
  const real = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() + ms);
  try {
    return await act();
  } finally {
    clock.mockRestore();
  }
}

// The first request has 2 seconds, and Jest takes longer to transform the library.
beforeAll(() => import('./handle.ts'));

describe('the provider', () => {
  let stage: SignInStage;
  let browser: Browser;
  beforeEach(async () => {
    stage = await startSignIn([provider]);
    browser = createBrowser(stage);
  });
  afterEach(() => stage.release());

  const ended = async () => {
    const subjects = await stage.store.endedSubjects.list(0, 100);
    return subjects.map(({ subject }) => subject);
  };
  const keys = async () => createLocalJWKSet(await publicKeys(stage.store.signingKeys, Date.now()));

  const silently = async (config: client.Configuration, more: Record<string, string> = {}) => {
    const { url, checks } = await authorization(config, { prompt: 'none', ...more });
    const callback = new URL((await browser.open(url)).location ?? 'none:');
    return { callback, checks };
  };

  /** Signs in on the page of a request, agrees, and resolves with where the app is. */
  const agree = async (url: string, email?: string) => {
    const consent = await signInByCode(stage, browser, await browser.open(url), email);
    const { location = '' } = await browser.submit(consent, { agree: 'yes' });
    return new URL(location);
  };

  test('an app signs a member in by code, consent, token, refresh and sign-out', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    const { url, checks } = await authorization(config);
    const address = await browser.open(url);
    expect(address).toMatchObject({ status: 200, page: { name: 'address' } });
    expect(address.body).toContain('Spa Guide');
    const consent = await signInByCode(stage, browser, address);
    expect(consent.page).toMatchObject({ name: 'consent' });
    expect(consent.body).toContain('“<bdi>Spa Guide</bdi>” belongs to <bdi>spa</bdi>.');
    const { scopes } = textsIn('en').consent;
    for (const shown of ['spa.example', scopes.openid, scopes.profile, scopes.email])
      expect(consent.body).toContain(shown);
    const policy = consent.headers['content-security-policy'];
    expect(policy).toContain("form-action 'self' https://spa.example;");
    const { location = '' } = await browser.submit(consent, { agree: 'yes' });
    const callback = new URL(location);
    expect(callback.searchParams.get('iss')).toBe(BASE);
    const tokens = await client.authorizationCodeGrant(config, callback, checks);

    const { payload } = await jwtVerify(tokens.id_token ?? '', await keys(), {
      issuer: BASE,
      audience: app.clientId,
      algorithms: ['RS256'],
    });
    expect(payload).toMatchObject({
      sub: 'ada',
      email: 'Ada@Example.com',
      email_verified: true,
      name: 'Ada',
      given_name: 'Ada',
      partner_id: 'spa',
      scope: 'openid profile email',
      nonce: checks.expectedNonce,
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
    const access = await jwtVerify(tokens.access_token, await keys(), { audience: BASE });
    expect(access.protectedHeader.typ).toBe('at+jwt');
    expect(access.payload).toMatchObject({
      sub: 'ada',
      client_id: app.clientId,
      partner_id: 'spa',
      sid: payload.sid,
    });
    expect((access.payload.exp ?? 0) - (access.payload.iat ?? 0)).toBe(600);

    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(decodeJwt(refreshed.access_token).sid).toBe(payload.sid);
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);

    const end = client.buildEndSessionUrl(config, {
      id_token_hint: refreshed.id_token ?? '',
      post_logout_redirect_uri: REDIRECT,
      state: 'out',
    });
    const question = await browser.open(end.href);
    expect(question.page).toMatchObject({ name: 'signOut' });
    const xsrf = question.page?.xsrf ?? '';
    const signedOut = await browser.submit(question, { xsrf, logout: 'yes' });
    expect(signedOut.location).toBe(`${REDIRECT}?state=out`);
    expect(await ended()).toContain(`sid:${payload.sid}`);
    await refused(client.refreshTokenGrant(config, refreshed.refresh_token ?? ''), 'invalid_grant');
    expect((await browser.open('/account')).page?.name).toBe('address');
    // Who is signed out already is sent back at once.
    expect((await browser.open(end.href)).location).toBe(`${REDIRECT}?state=out`);
  });

  test('the consent says who is signed in, and another member can sign in instead', async () => {
    await authorize(stage, browser, configure(stage, await addApp(stage)));
    const config = configure(stage, await addApp(stage));
    const { url, checks } = await authorization(config);
    const consent = await browser.open(url);
    expect(consent.body).toContain('You are signed in as <bdi>Ada@Example.com</bdi>.');
    const card = await browser.submit(consent, { other: 'yes' });
    expect(card.page?.name).toBe('address');
    const next = await signInByCode(stage, browser, card, 'bob@example.com');
    expect(next.body).toContain('You are signed in as <bdi>bob@example.com</bdi>.');
    const { location = '' } = await browser.submit(next, { agree: 'yes' });
    const tokens = await client.authorizationCodeGrant(config, new URL(location), checks);
    expect(tokens.claims()?.sub).toBe('bob');
  });

  test('prompt=login asks again, and another member who signs in ends the session before', async () => {
    const config = configure(stage, await addApp(stage));
    const { tokens } = await authorize(stage, browser, config);
    const again = await authorization(config, { prompt: 'login' });
    const page = await browser.open(again.url);
    const same = await signInByCode(stage, browser, page);
    expect(new URL(same.location ?? '').searchParams.has('code')).toBe(true);
    await client.refreshTokenGrant(config, tokens.refresh_token ?? '');

    const other = await authorization(config, { prompt: 'login' });
    const callback = await agree(other.url, 'bob@example.com');
    const bobs = await client.authorizationCodeGrant(config, callback, other.checks);
    expect(bobs.claims()?.sub).toBe('bob');
    expect(await ended()).toContain(`sid:${decodeJwt(tokens.access_token).sid}`);
    expect(await stage.store.access.find('ada')).toMatchObject({ sessions: [] });
  });

  test('a revoked refresh token is of no use, nor is anything of its family', async () => {
    const config = configure(stage, await addApp(stage));
    const { tokens } = await authorize(stage, browser, config);
    await refused(client.tokenRevocation(config, tokens.access_token), 'unsupported_token_type');
    await client.tokenRevocation(config, tokens.refresh_token ?? '');
    await refused(client.refreshTokenGrant(config, tokens.refresh_token ?? ''), 'invalid_grant');
    expect(await ended()).toEqual([`sid:${decodeJwt(tokens.access_token).sid}`]);
  });

  test('refresh token reuse: of two at the same time one wins, and the family ends', async () => {
    const config = configure(stage, await addApp(stage));
    const { tokens } = await authorize(stage, browser, config);
    const both = await Promise.allSettled(
      [1, 2].map(() => client.refreshTokenGrant(config, tokens.refresh_token ?? '')),
    );
    expect(both.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(2);
    expect(await ended()).toHaveLength(1);
  });

  test('a grant has one row however often it is refreshed, 10 times at once and then in 10 s', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    let { refresh_token: token = '' } = (await authorize(stage, browser, config)).tokens;
    const first = token;
    const refresh = async () => {
      ({ refresh_token: token = '' } = await client.refreshTokenGrant(config, token));
    };
    for (let n = 0; n < 10; n += 1) await refresh();
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: app.clientId,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const again = { method: 'POST', path: '/oauth/token', headers, body: `${body}` };
    const limited = await forward(stage, again);
    expect(limited).toMatchObject({ status: 429, counts: 'valid' });
    expect(JSON.parse(limited.body ?? '')).toMatchObject({ error: 'temporarily_unavailable' });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(limited.headers['retry-after'])).toBeLessThanOrEqual(10);

    for (let n = 1; n <= 12; n += 1) await ahead(n * 10_000, refresh);
    await ahead(120_000, () => refused(refresh(), 'temporarily_unavailable'));
    const rows = await stage.store.payloads.select(({ id }) => id.startsWith('RefreshToken:'));
    expect(rows).toHaveLength(1);
    expect(rows[0]?.json.length).toBeLessThan(2_000);

    // Only what the service has issued ends a family.
    const forged = [
      `${first.slice(0, 60)}${'x'.repeat(first.length - 60)}`,
      `${first.slice(0, 55)}21${first.slice(56)}`,
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      token.slice(0, 43),
    ];
    for (const one of forged) await refused(client.refreshTokenGrant(config, one), 'invalid_grant');
    expect([
      await ended(),
      await stage.store.access.has('ada', 'Grant', first.slice(0, 43)),
    ]).toEqual([[], true]);
    // A limit keeps nobody from ending what was stolen.
    await refused(client.refreshTokenGrant(config, first), 'invalid_grant');
    expect(await ended()).toEqual([`sid:${first.slice(0, 43)}`]);
    const left = await stage.store.payloads.select(({ id }) => /^(RefreshToken|Grant):/.test(id));
    expect(left).toEqual([]);
  });

  test('many authorizations that nobody answers leave nothing in the store, and all can be answered', async () => {
    const config = configure(stage, await addApp(stage));
    const first = await authorization(config);
    const page = await browser.open(first.url);
    for (let n = 0; n < 320; n += 1) {
      const { url } = await authorization(config);
      const { pathname: path, search } = new URL(url);
      expect((await forward(stage, { path, search })).status).toBe(303);
    }
    expect(await stage.store.payloads.select(() => true)).toEqual([]);
    expect(await stage.store.signIns.select(() => true)).toEqual([]);
    const tab = await authorization(config);
    const second = await browser.open(tab.url);
    const consent = await signInByCode(stage, browser, page);
    const { location = '' } = await browser.submit(consent, { agree: 'yes' });
    await client.authorizationCodeGrant(config, new URL(location), first.checks);
    // The other tab's goes on by its own code, to its own request.
    const { location: other = '' } = await signInByCode(stage, browser, second);
    await client.authorizationCodeGrant(config, new URL(other), tab.checks);
    expect([...browser.cookies.keys()].filter((key) => key.includes('authorization'))).toEqual([
      '__Host-authorization /',
    ]);
  });

  test('an authorization that is answered gives one code, in the browser that began it', async () => {
    const config = configure(stage, await addApp(stage));
    const { url } = await authorization(config);
    const consent = await signInByCode(stage, browser, await browser.open(url));
    const action = consent.page?.action ?? '';
    const thief = createBrowser(stage);
    await thief.open(url);
    const changed = `${action.slice(0, -1)}${action.endsWith('A') ? 'Q' : 'A'}`;
    const expired = { page: { message: 'expired' } };
    for (const [by, at] of [
      [thief, action],
      [browser, changed],
      [browser, '/sign-in/x'],
      [browser, `/sign-in/${'x.'.repeat(4_000)}`],
    ] as const)
      expect(await by.send(at, { agree: 'yes' })).toMatchObject(expired);

    const agreed = await browser.send(action, { agree: 'yes' });
    expect(await thief.send(agreed.location ?? '')).toMatchObject(expired);
    const answers = await Promise.all([1, 2].map(() => browser.send(agreed.location ?? '')));
    const codes = answers.filter(({ location = '' }) => location.startsWith(REDIRECT));
    expect(codes).toHaveLength(1);
    expect(await browser.send(agreed.location ?? '')).toMatchObject(expired);
    expect(await browser.send(action, { agree: 'yes' })).toMatchObject(expired);
    expect(await browser.send(action)).toMatchObject(expired);
  });

  test.each(['agree', 'cancel'])(
    'a redirect URI that is removed gets nothing any more: %s',
    async (answer) => {
      const app = await addApp(stage);
      const { url } = await authorization(configure(stage, app));
      const consent = await signInByCode(stage, browser, await browser.open(url));
      const redirectUris = ['https://new.example/callback'];
      await stage.store.apps.change(app.clientId, (before) => ({ ...before, redirectUris }));
      const answered = await browser.send(consent.page?.action ?? '', { [answer]: 'yes' });
      expect(answered).toMatchObject({ page: { message: 'expired' } });
    },
  );

  test('code replay (RFC 9700, 4.2): a code works once, and a second use ends the family', async () => {
    const config = configure(stage, await addApp(stage));
    const { tokens, callback, checks } = await authorize(stage, browser, config);
    await refused(client.authorizationCodeGrant(config, callback, checks), 'invalid_grant');
    await refused(client.refreshTokenGrant(config, tokens.refresh_token ?? ''), 'invalid_grant');
    expect(await ended()).toHaveLength(1);
  });

  test('of too many authorizations, the one ends that was unused longest', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    const { tokens } = await authorize(stage, browser, config);
    const agreed = { clientId: app.clientId, scopes: ['openid'], agreedAt: 0 };
    const fill = async (name: string) => {
      await stage.store.access.begin('ada', { sessionId: name, usedAt: Date.now(), browser: '' });
      for (let n = 0; n < 49; n += 1)
        await stage.store.access.grant(
          'ada',
          agreed,
          { sid: `${name}${n}`, sessionId: name },
          true,
        );
    };
    await fill('a');
    const { refresh_token = '' } = await client.refreshTokenGrant(
      config,
      tokens.refresh_token ?? '',
    );
    await fill('b');
    await client.refreshTokenGrant(config, refresh_token);
  });

  test('a session forgets the apps that the member has revoked', async () => {
    const { payloads, access } = stage.store;
    const authorized = async () => {
      const sessions = await payloads.select(({ id }) => id.startsWith('Session:'));
      return sessions.flatMap(({ json }) => Object.keys(JSON.parse(json).authorizations ?? {}));
    };
    const apps = [await addApp(stage), await addApp(stage)] as const;
    for (const app of apps) await authorize(stage, browser, configure(stage, app));
    const [revoked, kept] = apps.map(({ clientId }) => clientId);
    expect(await authorized()).toEqual([revoked, kept]);
    await access.revoke('ada', [revoked ?? '']);
    await silently(configure(stage, apps[1]));
    expect(await authorized()).toEqual([kept]);
  });

  test('code replay: a silent one ends what was silently given there, and no other family', async () => {
    const config = configure(stage, await addApp(stage));
    const agreed = await authorize(stage, browser, config);
    const few = await silently(config, { scope: 'openid' });
    const first = await client.authorizationCodeGrant(config, few.callback, few.checks);
    const { callback, checks } = await silently(config);
    const second = await client.authorizationCodeGrant(config, callback, checks);
    expect(decodeJwt(first.id_token ?? '').scope).toBe('openid');
    expect(decodeJwt(first.access_token).scope).toBe('openid');
    expect([first.scope, second.scope?.split(' ')]).toEqual([
      'openid',
      expect.arrayContaining(['openid', 'profile', 'email']),
    ]);
    const fresh = await client.refreshTokenGrant(config, first.refresh_token ?? '');
    expect(fresh.scope).toBe('openid');
    await refused(client.authorizationCodeGrant(config, callback, checks), 'invalid_grant');
    for (const { refresh_token = '' } of [fresh, second])
      await refused(client.refreshTokenGrant(config, refresh_token), 'invalid_grant');
    const { sid } = decodeJwt(second.access_token);
    expect([await ended(), decodeJwt(first.access_token).sid]).toEqual([[`sid:${sid}`], sid]);
    await client.refreshTokenGrant(config, agreed.tokens.refresh_token ?? '');
    const again = await silently(config);
    await client.authorizationCodeGrant(config, again.callback, again.checks);
  });

  test('revoking sessions of a member ends refresh tokens and the session of the browser', async () => {
    const config = configure(stage, await addApp(stage));
    const { tokens } = await authorize(stage, browser, config);
    await stage.store.endedSessions.end({ memberId: 'ada', endedAt: Date.now() });
    await refused(client.refreshTokenGrant(config, tokens.refresh_token ?? ''), 'invalid_grant');
    expect((await browser.open('/account')).page?.name).toBe('address');
  });

  test('a sign-in with a signing key that was rotated since still ends by its ID token', async () => {
    const config = configure(stage, await addApp(stage));
    const { tokens } = await authorize(stage, browser, config);
    const kid = await rotateSigningKey(stage.store.signingKeys, Date.now());
    const end = client.buildEndSessionUrl(config, { id_token_hint: tokens.id_token ?? '' });
    expect((await browser.open(end.href)).page?.name).toBe('signOut');
    const fresh = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(decodeProtectedHeader(fresh.id_token ?? '').kid).toBe(kid);
    // A page that waits for an answer outlasts it, too.
    const { url } = await authorization(config, { prompt: 'login' });
    const page = await browser.open(url);
    await rotateSigningKey(stage.store.signingKeys, Date.now());
    expect((await signInByCode(stage, browser, page)).location).toContain('code=');
  });

  test('the apps of a member refresh 100 times a minute, and one that is refused keeps its token', async () => {
    const configs = [configure(stage, await addApp(stage)), configure(stage, await addApp(stage))];
    const [one, other] = configs as [client.Configuration, client.Configuration];
    const held = (await authorize(stage, browser, one)).tokens.refresh_token ?? '';
    const others = (await authorize(stage, browser, other)).tokens.refresh_token ?? '';
    const counted = { payload: { accountId: 'ada', count: 98 }, expiresAt: Date.now() + 60_000 };
    await stage.store.payloads.change(`Refreshes:${digest('ada')}`, () => counted);
    const { refresh_token = '' } = await client.refreshTokenGrant(one, held);
    await client.refreshTokenGrant(one, refresh_token);
    await refused(client.refreshTokenGrant(other, others), 'temporarily_unavailable');
    await ahead(60_000, () => client.refreshTokenGrant(other, others));
  });

  test('an app that gets tokens again and again stops itself, and no other app of the member', async () => {
    const [one, other] = [await addApp(stage), await addApp(stage)];
    const [greedy, modest] = [configure(stage, one), configure(stage, other)];
    const held = (await authorize(stage, browser, greedy)).tokens.refresh_token ?? '';
    const others = (await authorize(stage, browser, modest)).tokens.refresh_token ?? '';
    const uses = { count: 29, apps: { [one.clientId]: 29 } };
    const counted = { payload: { accountId: 'ada', ...uses }, expiresAt: Date.now() + 60_000 };
    for (const name of ['Codes', 'Refreshes'])
      await stage.store.payloads.change(`${name}:${digest('ada')}`, () => counted);
    const { refresh_token = '' } = await client.refreshTokenGrant(greedy, held);
    const tooMany = { status: 429, error: 'temporarily_unavailable' };
    await expect(client.refreshTokenGrant(greedy, refresh_token)).rejects.toMatchObject(tooMany);
    await client.refreshTokenGrant(modest, others);
    const code = async (config: client.Configuration) => {
      const { callback, checks } = await silently(config);
      return client.authorizationCodeGrant(config, callback, checks);
    };
    await code(greedy);
    await expect(code(greedy)).rejects.toMatchObject(tooMany);
    await code(modest);
  });

  test('filling what ended with codes that are revoked at once: a member has 100 codes a minute', async () => {
    const config = configure(stage, await addApp(stage));
    await authorize(stage, browser, config);
    const counted = { payload: { accountId: 'ada', count: 99 }, expiresAt: Date.now() + 5_000 };
    await stage.store.payloads.change(`Codes:${digest('ada')}`, () => counted);
    const last = await silently(config);
    const tokens = await client.authorizationCodeGrant(config, last.callback, last.checks);
    await client.tokenRevocation(config, tokens.refresh_token ?? '');
    const { callback, checks } = await silently(config);
    await refused(
      client.authorizationCodeGrant(config, callback, checks),
      'temporarily_unavailable',
    );
    expect(await ended()).toHaveLength(1);
    await ahead(5_000, () => client.authorizationCodeGrant(config, callback, checks));
  });

  test('a confidential app authenticates by both methods, and both secrets work after a rotation', async () => {
    const app = await addApp(stage, { isConfidential: true });
    const { secret = '' } = app;
    for (const method of [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]) {
      const config = configure(stage, app, method);
      const { tokens } = await authorize(stage, browser, config);
      await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    }
    const wrong = configure(stage, app, client.ClientSecretPost('wrong'));
    await refused(client.refreshTokenGrant(wrong, 'x'), 'invalid_client');
  });

  test('a page that signs in silently each time it loads ends nothing on another device', async () => {
    const config = configure(stage, await addApp(stage));
    expect((await silently(config)).callback.searchParams.get('error')).toBe('login_required');
    const phone = await authorize(stage, createBrowser(stage), config);
    await authorize(stage, browser, config);
    for (let loads = 0; loads < 51; loads += 1)
      expect((await silently(config)).callback.searchParams.has('code')).toBe(true);
    await client.refreshTokenGrant(config, phone.tokens.refresh_token ?? '');
    const { apps = [] } = (await stage.store.access.find('ada')) ?? {};
    expect(apps.flatMap(({ grants }) => grants)).toHaveLength(3);
  });

  test('code injection (RFC 9700, 4.5): another app, or another verifier, gets nothing for a code', async () => {
    const [victim, attacker] = [await addApp(stage), await addApp(stage)];
    const config = configure(stage, victim);
    const { url, checks } = await authorization(config);
    const callback = await agree(url);
    const other = configure(stage, attacker);
    await refused(client.authorizationCodeGrant(other, callback, checks), 'invalid_grant');
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    await expect(
      client.authorizationCodeGrant(config, callback, { ...checks, pkceCodeVerifier }),
    ).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test.each([
    ['no challenge', { code_challenge: '', code_challenge_method: '' }],
    ['the plain method', { code_challenge_method: 'plain' }],
    ['no method', { code_challenge_method: '' }],
  ])(
    'PKCE downgrade (RFC 9700, 4.8): %s is refused, of a confidential app too',
    async (_, less) => {
      for (const app of [await addApp(stage), await addApp(stage, { isConfidential: true })]) {
        const { url } = await authorization(configure(stage, app));
        const changed = new URL(url);
        for (const [name, value] of Object.entries(less))
          if (value === '') changed.searchParams.delete(name);
          else changed.searchParams.set(name, value);
        const { location = '' } = await browser.open(changed.href);
        expect(new URL(location).searchParams.get('error')).toBe('invalid_request');
      }
    },
  );

  test.each([
    'https://spa.example/callback/../evil',
    'https://spa.example/callback?next=https://evil.example',
    'https://spa.example.evil.example/callback',
    'https://evil.example/callback',
    'http://spa.example/callback',
    'javascript:alert(1)//callback',
  ])('open redirect (RFC 9700, 4.1): no answer goes to %s', async (redirect_uri) => {
    const config = configure(stage, await addApp(stage));
    const { url } = await authorization(config, { redirect_uri });
    const answer = await browser.send(url);
    expect(answer.location).toBeUndefined();
    expect(answer.page).toMatchObject({ name: 'message', message: 'appRefused' });
  });

  test('an app may post its request, and the browser goes on with its cookies', async () => {
    const config = configure(stage, await addApp(stage));
    await authorize(stage, browser, config);
    const { url, checks } = await authorization(config);
    const { pathname, searchParams } = new URL(url);
    const posted = await browser.send(pathname, Object.fromEntries(searchParams));
    expect([posted.status, posted.location]).toEqual([303, `${pathname}?${searchParams}`]);
    const { location = '' } = await browser.open(posted.location ?? '');
    await client.authorizationCodeGrant(config, new URL(location), checks);
    const ended = await browser.send('/oauth/end-session', { client_id: 'x', state: 'a b' });
    const ending = '/oauth/end-session?client_id=x&state=a+b';
    expect([ended.status, ended.location]).toEqual([303, ending]);
  });

  test('invalid_request for a request of more than 2,000 characters, or a state of more than 1,024', async () => {
    const config = configure(stage, await addApp(stage));
    const askWith = async (more: Record<string, string>) => {
      const { url } = await authorization(config, more);
      return browser.open(url);
    };
    expect((await askWith({ state: 'x'.repeat(1_024) })).page?.name).toBe('address');
    const { url } = await authorization(config, { login_hint: '' });
    const left = 2_000 - new URL(url).search.length + 1;
    // Each character takes three in the query, and six in JSON.
    const control = '\u0001'.repeat(Math.floor(left / 3));
    const longest = await askWith({ login_hint: control });
    expect(longest.page?.name).toBe('address');
    expect(longest.page?.action.length).toBeLessThan(8_192);
    for (const more of [
      { state: 'x'.repeat(1_025) },
      { login_hint: 'x'.repeat(left + 1) },
      { login_hint: 'x'.repeat(left + 1), prompt: 'none' },
    ]) {
      const { location = '' } = await askWith(more);
      expect(location.startsWith(REDIRECT)).toBe(true);
      expect(new URL(location).searchParams.get('error')).toBe('invalid_request');
    }
    const posted = await browser.send('/oauth/authorize', { state: 'x'.repeat(4_096) });
    expect(posted).toMatchObject({ status: 400, page: { message: 'appRefused' } });
    expect(await stage.store.payloads.select(() => true)).toEqual([]);
  });

  test.each(['form_post', 'fragment'])(
    'the response mode %s is refused by query, and so is any other error of it',
    async (response_mode) => {
      const config = configure(stage, await addApp(stage));
      for (const more of [{}, { prompt: 'none login' }]) {
        const { url, checks } = await authorization(config, { response_mode, ...more });
        const { location = '' } = await browser.open(url);
        const { searchParams } = new URL(location);
        expect(searchParams.get('error')).toBe('unsupported_response_mode');
        expect(searchParams.get('state')).toBe(checks.expectedState);
      }
    },
  );

  test.each([
    [
      'the sessions are ended',
      (id: string) => stage.store.endedSessions.end({ memberId: id, endedAt: Date.now() }),
    ],
    ['the address is locked', () => stage.store.locks.lock('ada@example.com', Date.now())],
  ])('a sign-in that the browser has not gone on with is void after %s', async (_, revoke) => {
    const { url } = await authorization(configure(stage, await addApp(stage)));
    const page = await browser.open(url);
    const { codePage, code } = await begin(stage, browser, page, 'ada@example.com');
    const { location = '' } = await browser.send(codePage.page?.action ?? '', { code });
    await revoke('ada');
    expect((await browser.open(location)).page).toMatchObject({ message: 'expired' });
    expect((await browser.open('/account')).page?.name).toBe('address');
  });

  test('another member who signs in between two steps gets a page of ours, and no script', async () => {
    const { url } = await authorization(configure(stage, await addApp(stage)));
    const { codePage, code } = await begin(
      stage,
      browser,
      await browser.open(url),
      'ada@example.com',
    );
    const { location = '' } = await browser.send(codePage.page?.action ?? '', { code });
    await signInByCode(stage, browser, await browser.open('/sign-in'), 'bob@example.com');
    expect((await browser.open(location)).page).toMatchObject({ message: 'expired' });
  });

  test.each([
    ['/oauth/x', 404, 'invalidLink'],
    ['/oauth/authorize/x/y', 404, 'invalidLink'],
    ['/oauth/Authorize', 404, 'invalidLink'],
    ['/oauth/end-session/', 404, 'invalidLink'],
    ['/oauth/end-session/CONFIRM', 404, 'invalidLink'],
    ['/oauth/end-session/Confirm', 404, 'invalidLink'],
    ['/oauth/end-session/confirm_', 404, 'invalidLink'],
    ['/oauth/end-session?id_token_hint=x', 400, 'appRefused'],
    ['/oauth/end-session?client_id=x', 400, 'appRefused'],
  ])('%s is a page of ours: %i, %s', async (path, expected, message) => {
    const { status, page } = await browser.send(path);
    expect([status, page]).toEqual([expected, expect.objectContaining({ message })]);
  });

  test('what fails on a page of the provider is a page too', async () => {
    const broken = { toJSON: () => null };
    const expiresAt = Date.now() + 60_000;
    await stage.store.payloads.put(`Session:${digest('broken')}`, broken, expiresAt);
    browser.cookies.set('__Host-session /', { value: 'broken', path: '/' });
    const { status, page } = await browser.send('/account');
    expect([status, page]).toEqual([500, expect.objectContaining({ message: 'unavailable' })]);
  });

  test('a program on the device: any port of the loopback, and a question at each authorization', async () => {
    const redirectUris = ['http://127.0.0.1/callback', 'com.example.spa:/callback'];
    const config = configure(stage, await addApp(stage, { redirectUris, origins: [] }));
    const redirect_uri = 'http://127.0.0.1:51004/callback';
    const first = await authorization(config, { redirect_uri });
    await client.authorizationCodeGrant(config, await agree(first.url), first.checks);
    const again = await authorization(config, { redirect_uri });
    expect((await browser.open(again.url)).page?.name).toBe('consent');
    const silent = await authorization(config, { redirect_uri, prompt: 'none' });
    const refused = await browser.open(silent.url);
    expect(new URL(refused.location ?? '').searchParams.get('error')).toMatch(/_required$/);
    for (const host of ['localhost:51004', '127.0.0.1:99999', '127.0.0.1:1@evil.example']) {
      const evil = await authorization(config, { redirect_uri: `http://${host}/callback` });
      expect((await browser.open(evil.url)).page?.name).toBe('message');
    }
  });

  test('who cancels sends the app away with access_denied, with and without a session', async () => {
    const config = configure(stage, await addApp(stage));
    const { url, checks } = await authorization(config);
    const page = await browser.open(url);
    const cancelled = await browser.submit(page, { cancel: 'yes' });
    expect(new URL(cancelled.location ?? '').searchParams.get('error')).toBe('access_denied');
    const consent = await signInByCode(stage, browser, await browser.open(url));
    const callback = new URL((await browser.submit(consent, { cancel: 'yes' })).location ?? '');
    await refused(client.authorizationCodeGrant(config, callback, checks), 'access_denied');
  });

  test('an app of a suspended partner: a page at authorization, invalid_client for tokens', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    const { tokens } = await authorize(stage, browser, config);
    await stage.store.partners.put({ partnerId: 'spa', name: 'Spa', isSuspended: true });
    const { url } = await authorization(config);
    expect((await browser.open(url)).page).toMatchObject({ message: 'appRefused' });
    await refused(client.refreshTokenGrant(config, tokens.refresh_token ?? ''), 'invalid_client');
  });

  test('a first-party app asks for no consent, and its tokens name no partner', async () => {
    const app = await addApp(stage, { isFirstParty: true });
    const config = configure(stage, app);
    const { url, checks } = await authorization(config);
    const { location = '' } = await signInByCode(stage, browser, await browser.open(url));
    const tokens = await client.authorizationCodeGrant(config, new URL(location), checks);
    expect(decodeJwt(tokens.access_token).partner_id).toBeUndefined();
    expect(decodeJwt(tokens.id_token ?? '').partner_id).toBeUndefined();
  });

  test('no secret, code, token or session ID is in the store, nor in what a member is shown', async () => {
    const app = await addApp(stage, { isConfidential: true });
    const config = configure(stage, app);
    const { tokens, callback } = await authorize(stage, browser, config);
    const stored = JSON.stringify([
      await stage.store.payloads.select(() => true),
      await stage.store.access.find('ada'),
      await stage.store.apps.find(app.clientId),
      await stage.store.rights.find('ada'),
    ]);
    expect(stored).toContain('RefreshToken:');
    const held = [app.secret, tokens.refresh_token, callback.searchParams.get('code')];
    for (const [key, { value }] of browser.cookies) if (!/^known /.test(key)) held.push(value);
    for (const secret of held) expect(stored.includes(secret ?? '')).toBe(false);
  });

  test('a begun sign-in has neither the ID of its request nor that of the browser in the store', async () => {
    const { url } = await authorization(configure(stage, await addApp(stage)));
    const { codePage, code } = await begin(
      stage,
      browser,
      await browser.open(url),
      'ada@example.com',
    );
    const cookie = browser.cookies.get('__Host-sign-in /')?.value ?? '';
    const stored = JSON.stringify(await stage.store.signIns.find(digest(cookie)));
    expect(stored).toContain('ada@example.com');
    for (const [, { value }] of browser.cookies)
      for (const part of value.split('.')) expect(stored).not.toContain(part);
    expect((await browser.submit(codePage, { code })).page?.name).toBe('consent');
  });

  test('a session has its member as its owner until it ends', async () => {
    await authorize(stage, browser, configure(stage, await addApp(stage)));
    const body = browser.cookies.get('__Host-session /')?.value ?? '';
    const personOf = async (body: string) =>
      (await forward(stage, { path: 'session', body })).owner;
    expect([await personOf(body), await personOf(`${body}x`)]).toEqual(['member ada', undefined]);
    await stage.store.access.endAll('ada');
    expect(await personOf(body)).toBeUndefined();
  });

  test('a browser that is not signed in leaves no session in the store, whatever cookie it sends', async () => {
    const { url } = await authorization(configure(stage, await addApp(stage)));
    for (const address of [url, '/oauth/end-session?state=x', '/sign-in']) {
      browser.cookies.set('__Host-session /', { value: 'garbage', path: '/' });
      await browser.open(address);
    }
    expect(await stage.store.payloads.select(() => true)).toEqual([]);
  });

  test('what counts against an address: wrong codes, tokens and secrets, and nothing valid', async () => {
    const app = await addApp(stage);
    const { tokens } = await authorize(stage, browser, configure(stage, app));
    const post = async (body: Record<string, string>, path = '/oauth/token') => {
      const { counts } = await forward(stage, {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ client_id: app.clientId, ...body }).toString(),
      });
      return counts;
    };
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    expect([
      await post({ ...refresh, refresh_token: 'guess' }),
      await post({ ...refresh, client_id: 'guess' }),
      await post({ ...refresh, client_id: 'x'.repeat(10_000) }),
      await post({ token: 'guess' }, '/oauth/revoke'),
      await post(refresh),
    ]).toEqual(['refused', 'refused', 'refused', 'refused', 'valid']);
  });

  test('an app is named to the gateway once its secret was right', async () => {
    const { clientId, secret } = await addApp(stage, { isConfidential: true });
    const named = async (clientSecret: string) => {
      const shown = { client_id: clientId, client_secret: clientSecret, token: 'guess' };
      const answer = await forward(stage, {
        ...{ method: 'POST', path: '/oauth/revoke', body: `${new URLSearchParams(shown)}` },
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      return [answer.counts, answer.owner, answer.clientId];
    };
    expect(await named(String(secret))).toEqual(['valid', 'spa', clientId]);
    expect(await named('guess')).toEqual(['refused', undefined, undefined]);
  });
});
