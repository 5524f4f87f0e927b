// Signing in at /sign-in, and the account page.

import { profileOf } from '@partner-loyalty/members/resolvers/profile.ts';
import { hashToken } from '@partner-loyalty/members/rules/mailedtoken.ts';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import {
  SERVICE,
  type SignInStage,
  startSignIn,
} from '../../../../subgraphs/members/test/signin.ts';
import { tokenIn } from '../../../../test/support/servers/mailserver.ts';
import { until } from '../../../../test/support/until.ts';
import { type Answer, type Browser, createBrowser } from '../../test/browser.ts';
import {
  addApp,
  authorization,
  authorize,
  begin,
  configure,
  signInByCode,
} from '../../test/identity.ts';
import { createManageApps } from './apps.ts';
import { claimsOf } from './claims.ts';
import * as provider from './extension.ts';

// The first request has 2 seconds, and Jest takes longer to transform the library.
beforeAll(() => import('./handle.ts'));

const ADA = 'ada@example.com';
const ADDRESS = { typed: ADA, canonical: ADA };

describe('signing in', () => {
  let stage: SignInStage;
  let browser: Browser;
  beforeEach(async () => {
    stage = await startSignIn([provider]);
    browser = createBrowser(stage);
  });
  afterEach(() => stage.release());

  const begun = async (email = ADA, by = browser) =>
    begin(stage, by, await by.open('/sign-in'), email);
  const signIn = async (email = ADA, by = browser) => {
    const { codePage, code } = await begun(email, by);
    return by.submit(codePage, { code });
  };
  const counted = async (outcome: string) =>
    Number(
      new RegExp(`^loyalty_sign_in_total{outcome="${outcome}"} (\\d+)`, 'm').exec(
        await stage.metrics.text(),
      )?.[1],
    );
  const session = (by: Browser) =>
    [...by.cookies].find(([key]) => key.startsWith('__Host-session '))?.[1].value;

  test('the code in any spelling signs in, and leads to the account', async () => {
    const { codePage, code, text } = await begun();
    expect(codePage.page).toEqual({ name: 'code', action: '/sign-in', address: ADA });
    expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(text).toContain('15 minutes');
    const wide = [...code.replace('-', '')].map((letter) => letter.charCodeAt(0) + 0xfee0);
    const typed = ` ${String.fromCharCode(...wide).toLowerCase()} `;
    const account = await browser.submit(codePage, { code: typed });
    expect(account.page).toMatchObject({
      name: 'account',
      sessions: [{ browser: 'Firefox, Linux', isThis: true }],
    });
    expect((await browser.open('/sign-in')).page?.name).toBe('account');
    expect(await counted('success')).toBe(1);
  });

  test('the link signs in where the sign-in began, and shows nothing anywhere else', async () => {
    const { text } = await begun();
    const link = `/sign-in?token=${tokenIn(text)}`;
    const elsewhere = createBrowser(stage);
    expect((await elsewhere.open(link)).page).toEqual({ name: 'elsewhere', action: '' });
    const other = createBrowser(stage);
    await begun('bob@example.com', other);
    expect((await other.open(link)).page?.name).toBe('elsewhere');
    expect((await browser.open(link)).page?.name).toBe('account');
    expect((await browser.open('/account')).page?.name).toBe('account');
    expect(elsewhere.cookies.size).toBe(0);
  });

  test('every mail works in the browser that asked, however often and in however many tabs', async () => {
    const config = configure(stage, await addApp(stage, { isFirstParty: true }));
    const first = await begun();
    const page = await browser.open((await authorization(config)).url);
    const app = await begin(stage, browser, page, ADA);
    const bob = await begun('bob@example.com');
    const last = await begun();
    const account = await browser.submit(last.codePage, { code: first.code });
    expect(account.page?.name).toBe('account');
    expect((await browser.open(`/sign-in?token=${tokenIn(last.text)}`)).page?.name).toBe('account');
    // Where it was begun for, whichever tab it is typed in.
    await browser.submit(account, { 'sign-out': 'yes' });
    const { location = '' } = await browser.submit(bob.codePage, { code: app.code });
    expect(new URL(location).searchParams.has('code')).toBe(true);
    expect((await browser.open(`/sign-in?token=${tokenIn(bob.text)}`)).page?.name).toBe('account');
    const kept = await stage.store.signIns.select(() => true);
    for (const { expiresAt } of kept) expect(expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  test('code guessing: a wrong code counts for every sign-in of the browser', async () => {
    const first = await begun();
    for (let n = 0; n < 3; n += 1) await browser.submit(first.codePage, { code: 'BBBB-BBBB' });
    const second = await begun('bob@example.com');
    for (const problem of ['wrong', 'wrong'])
      expect((await browser.submit(first.codePage, { code: 'BBBB-BBBB' })).page).toMatchObject({
        address: 'bob@example.com',
        problem,
      });
    expect((await browser.submit(first.codePage, { code: first.code })).page).toMatchObject({
      problem: 'wrong',
    });
    expect((await browser.submit(second.codePage, { code: second.code })).page?.name).toBe(
      'account',
    );
    expect(await counted('wrong_code')).toBe(6);
  });

  test('code guessing: the fifth wrong code ends code and link', async () => {
    const { codePage, code, text } = await begun();
    for (const problem of ['wrong', 'wrong', 'wrong', 'wrong', 'expired'])
      expect((await browser.submit(codePage, { code: 'BBBB-BBBB' })).page).toMatchObject({
        name: 'code',
        problem,
      });
    expect((await browser.submit(codePage, { code })).page).toMatchObject({ problem: 'expired' });
    expect((await browser.open(`/sign-in?token=${tokenIn(text)}`)).page?.name).toBe('elsewhere');
    expect([await counted('wrong_code'), await counted('expired')]).toEqual([4, 1]);
  });

  test('mail bombing: an address gets 5 mails from a client address, and its own browser more', async () => {
    await signIn();
    await browser.submit(await browser.open('/account'), { 'sign-out': 'yes' });
    const attacker = createBrowser(stage);
    const page = await attacker.open('/sign-in');
    for (let i = 0; i < 4; i += 1) await attacker.submit(page, { email: ADA });
    const limited = { name: 'address', problem: 'limited' };
    expect((await attacker.submit(page, { email: ADA })).page).toMatchObject(limited);
    expect((await attacker.submit(page, { email: 'nobody@example.com' })).page?.name).toBe('code');
    expect((await browser.submit(await browser.open('/sign-in'), { email: ADA })).page?.name).toBe(
      'code',
    );
    expect(await counted('limited')).toBe(1);
  });

  test('a flood of sign-ins takes the oldest of its own client address, and of no other', async () => {
    const { codePage, code } = await begun();
    const flood = createBrowser(stage, '198.51.100.7');
    const page = await flood.open('/sign-in');
    for (let i = 0; i < 21; i += 1) await flood.submit(page, { email: `m${i}@example.com` });
    expect(await stage.store.signIns.select(() => true)).toHaveLength(21);
    expect((await browser.submit(codePage, { code })).page?.name).toBe('account');
  });

  test('no app confirms a partner silently, nor by a page with openid only, nor once it is removed', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    const agree = async (scope: string) => {
      const page = await browser.open((await authorization(config, { scope })).url);
      const isNew = page.page?.name === 'address';
      const consent = isNew ? await signInByCode(stage, browser, page, 'eve@example.com') : page;
      expect(consent.page?.name).toBe('consent');
      await browser.submit(consent, { agree: 'yes' });
    };
    const isUnconfirmed = async () => {
      const found = await stage.store.memberByEmail('spa', 'eve@example.com');
      const record = await stage.store.member(found?.memberId ?? '');
      return record?.enrollments.map((one) => one.unconfirmed);
    };
    const silently = async (scope: string) => {
      const { url } = await authorization(config, { scope, prompt: 'none' });
      expect((await browser.open(url)).location).toContain('code=');
    };
    const address = { typed: 'eve@example.com', canonical: 'eve@example.com' };
    await stage.store.enroll({ partnerId: 'spa', address });
    await agree('openid');
    await silently('openid');
    expect(await isUnconfirmed()).toEqual([true]);
    await agree('openid email');
    expect(await isUnconfirmed()).toEqual([undefined]);
    const manage = createManageApps(stage.store, { environment: 'sandbox' });
    await manage({ action: 'remove', partnerId: 'spa', clientId: app.clientId }, 'staff');
    expect(await isUnconfirmed()).toEqual([true]);
  });

  test('a silent authorization does not confirm what was enrolled after the member agreed', async () => {
    const config = configure(stage, await addApp(stage, { partnerId: 'bar' }));
    await authorize(stage, browser, config);
    await stage.store.enroll({ partnerId: 'bar', address: ADDRESS });
    const { url } = await authorization(config, { prompt: 'none' });
    expect((await browser.open(url)).location).toContain('code=');
    expect((await stage.store.memberById('bar', 'ada'))?.firstName).toBeUndefined();
  });

  test.each(['revoked', 'removed'])(
    'an app that is %s while the member agrees to it confirms its partner no longer',
    async (how) => {
      let meanwhile = async () => {};
      const openProvider: typeof provider.openProvider = (core) => {
        const { access, tokens } = core.store;
        const [{ revoke }, { confirmSignIn }] = [{ ...access }, { ...tokens }];
        if (how === 'revoked')
          jest.spyOn(access, 'revoke').mockImplementation(async (...given) => {
            await meanwhile();
            return revoke(...given);
          });
        else
          jest.spyOn(tokens, 'confirmSignIn').mockImplementation(async (...given) => {
            await meanwhile();
            return confirmSignIn(...given);
          });
        return provider.openProvider(core);
      };
      await stage.release();
      stage = await startSignIn([{ openProvider }]);
      browser = createBrowser(stage);
      const app = await addApp(stage, { partnerId: 'bar' });
      const of = { partnerId: 'bar', clientId: app.clientId };
      const config = configure(stage, app);
      await stage.store.enroll({ partnerId: 'bar', address: ADDRESS });
      await authorize(stage, browser, config);
      const seen = async () => (await stage.store.memberById('bar', 'ada'))?.firstName;
      expect(await seen()).toBe('Ada');
      if (how === 'revoked') {
        meanwhile = async () => void (await stage.store.tokens.confirmSignIn('ada', of));
        await browser.submit(await browser.open('/account'), { revoke: app.clientId });
      } else {
        const manage = createManageApps(stage.store, { environment: 'sandbox' });
        meanwhile = async () => void (await manage({ action: 'remove', ...of }, 'staff'));
        const { url } = await authorization(config, { prompt: 'consent' });
        await browser.submit(await browser.open(url), { agree: 'yes' });
      }
      expect(await seen()).toBeUndefined();
    },
  );

  test('an app that is removed is gone at once, however long it takes to take back what it confirmed', async () => {
    const cores: Parameters<typeof provider.openProvider>[0][] = [];
    let hold: Promise<void> | undefined;
    let fail = (_: Error) => {};
    let held = 0;
    const openProvider: typeof provider.openProvider = (given) => {
      cores.push(given);
      const { tokens } = given.store;
      const { takeBackRemoved } = tokens;
      tokens.takeBackRemoved = async (stopping) => {
        if (hold !== undefined) held += 1;
        await hold;
        return takeBackRemoved(stopping);
      };
      return provider.openProvider(given);
    };
    await stage.release();
    stage = await startSignIn([{ openProvider }]);
    browser = createBrowser(stage);
    const app = await addApp(stage, { partnerId: 'bar' });
    await stage.store.enroll({ partnerId: 'bar', address: ADDRESS });
    await authorize(stage, browser, configure(stage, app));
    const seen = async () => (await stage.store.memberById('bar', 'ada'))?.firstName;
    hold = new Promise((_, reject) => {
      fail = reject;
    });
    const remove = { action: 'remove', partnerId: 'bar', clientId: app.clientId };
    const asked = stage.ask(
      SERVICE,
      'mutation ($request: String!) { answer: manageApps(request: $request) }',
      { request: JSON.stringify(remove) },
    );
    await until(() => held === 1);
    expect(await stage.store.apps.find(app.clientId)).toBeUndefined();
    expect(JSON.parse(String(await asked))).toMatchObject({ app: { clientId: app.clientId } });
    expect(await seen()).toBe('Ada');
    hold = undefined;
    fail(new Error('outage'));
    await new Promise(setImmediate);
    expect(await seen()).toBe('Ada');
    // Whatever a process has left, the next one takes up.
    const opened = cores.map((core) => provider.openProvider(core));
    await until(async () => (await seen()) === undefined);
    for (const { close } of opened) await close?.();
  });

  test('the account page changes names and address, leaves a partner, and says so', async () => {
    const account = await signIn();
    const named = await browser.submit(account, { firstName: 'Adele', lastName: ' ' });
    expect(named.page).toMatchObject({ notice: { name: 'namesChanged' } });
    const long = await browser.submit(account, { firstName: 'x'.repeat(101) });
    expect(long.page).toMatchObject({ notice: { name: 'invalidNames' } });
    const left = await browser.submit(account, { leave: 'inn' });
    expect(left.page).toMatchObject({ notice: { name: 'left' } });
    const [ended] = await stage.store.endedSubjects.list(0, 10);
    expect(ended?.subject).toBe('app:ada/inn');
    const member = await stage.store.member('ada');
    expect(member && profileOf(member, undefined)).toMatchObject({
      firstName: 'Adele',
      activePartnerIds: ['spa'],
    });
    await stage.store.enroll({ partnerId: 'inn', address: ADDRESS });
    expect((await stage.store.memberById('inn', 'ada'))?.firstName).not.toBe('Adele');
    const sent = await browser.submit(account, { 'new-email': 'yes', email: 'New@example.com' });
    expect(sent.page).toMatchObject({ notice: { name: 'linkSent', email: 'New@example.com' } });
    const wrong = await browser.submit(account, { 'new-email': 'yes', email: 'new' });
    expect(wrong.page).toMatchObject({ notice: { name: 'invalidAddress' } });
  });

  test('revoking an app ends what it holds; it has to be agreed to again, signed in as before', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    const first = await authorize(stage, browser, config);
    const account = await browser.open('/account');
    expect(account.page).toMatchObject({
      apps: [{ clientId: app.clientId, appName: 'Spa Guide', partnerName: 'spa' }],
    });
    const revoked = await browser.submit(account, { revoke: app.clientId });
    expect(revoked.page).toMatchObject({ apps: [], notice: { name: 'revoked' } });
    const ended = await stage.store.endedSubjects.list(0, 10);
    expect(ended).toEqual([{ subject: `app:ada/${app.clientId}`, endedAt: expect.any(Number) }]);
    await expect(
      client.refreshTokenGrant(config, first.tokens.refresh_token ?? ''),
    ).rejects.toMatchObject({ error: 'invalid_grant' });
    const { url } = await authorization(config);
    expect((await browser.open(url)).page?.name).toBe('consent');
  });

  test('revoking an app again and again: no token is dated ahead, so that every later end covers it', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    await authorize(stage, browser, config);
    const { endedSessions, endedSubjects } = stage.store;
    for (let turn = 0; turn < 3; turn += 1) {
      await browser.submit(await browser.open('/account'), { revoke: app.clientId });
      const endedAt = (await endedSubjects.find(`app:ada/${app.clientId}`)) ?? 0;
      const { tokens } = await authorize(stage, browser, config);
      for (const token of [tokens.access_token, tokens.id_token ?? '']) {
        expect(decodeJwt(token).iat_ms).toBeGreaterThan(endedAt);
        expect(decodeJwt(token).iat_ms).toBeLessThanOrEqual(Date.now());
      }
    }
    const ahead = Date.now() + 5_000;
    await endedSubjects.end([`app:ada/${app.clientId}`], () => ahead);
    await expect(authorize(stage, browser, config)).rejects.toMatchObject({
      error: 'temporarily_unavailable',
      status: 429,
    });
    expect(await endedSessions.find('ada')).toBeUndefined();
  });

  test('apps that are gone leave in one change when the member sees the others', async () => {
    const changes: { mock: { calls: unknown[] } }[] = [];
    const openProvider: typeof provider.openProvider = (core) => {
      const { access, tokens } = core.store;
      changes.push(jest.spyOn(access, 'revoke'), jest.spyOn(tokens, 'takeBack'));
      return provider.openProvider(core);
    };
    await stage.release();
    stage = await startSignIn([{ openProvider }]);
    browser = createBrowser(stage);
    const { access, apps, endedSubjects } = stage.store;
    const made = [await addApp(stage), await addApp(stage), await addApp(stage)];
    for (const app of made) await authorize(stage, browser, configure(stage, app));
    const [{ clientId: kept = '' } = {}, ...gone] = made;
    for (const { clientId } of gone) await apps.remove(clientId);
    expect((await browser.open('/account')).page).toMatchObject({ apps: [{ clientId: kept }] });
    expect(changes.map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
    expect((await access.find('ada'))?.apps).toMatchObject([{ clientId: kept }]);
    const ended = (await endedSubjects.list(0, 10)).map(({ subject }) => subject).sort();
    expect(ended).toEqual(gone.map(({ clientId }) => `app:ada/${clientId}`).sort());
  });

  test('a session can be ended from another one', async () => {
    await signIn();
    const phone = createBrowser(stage, '192.0.2.9');
    const account = await signIn(ADA, phone);
    const sessions = account.page?.sessions ?? [];
    expect(sessions).toHaveLength(2);
    const other = sessions.find(({ isThis }) => !isThis);
    await phone.submit(account, { end: other?.sessionId ?? '' });
    expect((await browser.open('/account')).page?.name).toBe('address');
    expect((await phone.open('/account')).page).toMatchObject({ sessions: [{ isThis: true }] });
  });

  test('erasing a member ends everything and leaves nothing', async () => {
    const config = configure(stage, await addApp(stage));
    await authorize(stage, browser, config);
    await stage.store.rights.erase('ada');
    const left = await stage.store.payloads.select(() => true);
    expect(JSON.stringify([left, await stage.store.access.find('ada')])).not.toMatch(/"ada"/);
    expect((await browser.open('/account')).page?.name).toBe('address');
  });

  test('the link finishes an app’s request that waits in the same browser', async () => {
    const config = configure(stage, await addApp(stage, { isFirstParty: true }));
    const { url } = await authorization(config);
    const { text } = await begin(stage, browser, await browser.open(url), ADA);
    const { location = '' } = await browser.open(`/sign-in?token=${tokenIn(text)}`);
    expect(new URL(location).searchParams.has('code')).toBe(true);
  });

  test('an unknown address gets the same page and no mail', async () => {
    const page = await browser.open('/sign-in');
    const unknown = await browser.submit(page, { email: 'nobody@example.com' });
    const known = await begun();
    const masked = ({ status, page, headers }: Answer) => [
      status,
      { ...page, address: '' },
      Object.keys(headers),
    ];
    expect(masked(unknown)).toEqual(masked(known.codePage));
    expect(stage.server.mails.map(({ recipients }) => recipients)).toEqual([['Ada@example.com']]);
  });

  test.each(['', 'ada', 'a b@example.com', `${'a'.repeat(300)}@example.com`])(
    'no address: %s',
    async (email) => {
      const page = await browser.submit(await browser.open('/sign-in'), { email });
      expect(page.page).toMatchObject({ name: 'address', problem: 'invalid' });
    },
  );

  test('code guessing: a code is of no use in another browser, nor twice', async () => {
    const { codePage, code } = await begun();
    const thief = createBrowser(stage);
    expect((await thief.submit(codePage, { code })).page).toMatchObject({ problem: 'expired' });
    await browser.submit(codePage, { code });
    await browser.submit(await browser.open('/account'), { 'sign-out': 'yes' });
    expect((await browser.submit(codePage, { code })).page).toMatchObject({ problem: 'expired' });
  });

  test('a code that is used by many requests at once signs in once', async () => {
    const { codePage, code } = await begun();
    const held = new Map(browser.cookies);
    const uses = Array.from({ length: 30 }, (_, n) => {
      const use = createBrowser(stage);
      for (const [key, cookie] of held) use.cookies.set(key, cookie);
      if (n >= 15) use.cookies.set('__Host-known /', { value: `forged ${n}`, path: '/' });
      return use;
    });
    for (const some of [uses.slice(0, 15), uses.slice(15)])
      await Promise.all(some.map((use) => use.submit(codePage, { code })));
    const known = (by: Browser) => by.cookies.get('__Host-known /')?.value;
    expect(new Set(uses.map((use) => `${session(use)} ${known(use)}`)).size).toBe(1);
    const { sessions } = (await stage.store.access.find('ada')) ?? {};
    expect(sessions).toHaveLength(1);
    const kept = await stage.store.payloads.select(() => true);
    expect(kept.filter(({ id }) => id.startsWith('Session:'))).toHaveLength(1);
    const { browsers } = JSON.parse(kept.find(({ id }) => id.startsWith('Known:'))?.json ?? '{}');
    expect(browsers).toHaveLength(1);
    for (const use of uses) expect((await use.open('/account')).page?.name).toBe('account');
  });

  test('mail bombing: a forged cookie makes no browser one that the address knows', async () => {
    const attacker = createBrowser(stage);
    const page = await attacker.open('/sign-in');
    for (let i = 0; i < 5; i += 1) await attacker.submit(page, { email: ADA });
    attacker.cookies.set('__Host-known /', { value: `id.${'A'.repeat(22)}`, path: '/' });
    expect((await attacker.submit(page, { email: ADA })).page).toMatchObject({
      problem: 'limited',
    });
  });

  test('session fixation: signing in gives the session a new ID', async () => {
    browser.cookies.set('__Host-session /', { value: 'known-to-an-attacker', path: '/' });
    await signIn();
    const first = session(browser);
    expect(first).not.toBe('known-to-an-attacker');
    const mailed = await stage.link('inn');
    await browser.send('/sign-in', { token: mailed });
    expect(session(browser)).not.toBe(first);
    const attacker = createBrowser(stage);
    attacker.cookies.set('__Host-session /', { value: first ?? '', path: '/' });
    expect((await attacker.open('/account')).page?.name).toBe('address');
  });

  test('a browser keeps the last five that it has begun', async () => {
    const { text, codePage } = await begun();
    for (let n = 0; n < 4; n += 1) await browser.submit(codePage, { email: `m${n}@example.com` });
    const kept = [...browser.cookies];
    await browser.submit(codePage, { email: 'm4@example.com' });
    const link = `/sign-in?token=${tokenIn(text)}`;
    expect((await browser.open(link)).page?.name).toBe('elsewhere');
    for (const [key, cookie] of kept) browser.cookies.set(key, cookie);
    expect((await browser.open(link)).page?.name).toBe('account');
  });

  test('login CSRF: a code of another request does not finish an app’s', async () => {
    const config = configure(stage, await addApp(stage));
    const { code } = await begun();
    const page = await browser.open((await authorization(config)).url);
    expect((await browser.submit(page, { code })).page?.name).toBe('account');
    const victim = createBrowser(stage);
    expect((await victim.submit(page, { email: ADA })).page).toMatchObject({ message: 'expired' });
  });

  test('an address that is changed or locked meanwhile does not sign in', async () => {
    const { codePage, code } = await begun();
    await stage.store.locks.lock(ADA, Date.now());
    const refused = await browser.submit(codePage, { code });
    expect(refused.page).toMatchObject({ name: 'message', message: 'invalidLink' });
    expect(await counted('refused')).toBe(1);
  });

  const REFUSED = { status: 410, page: { message: 'invalidLink' } };
  const open = async () => (await stage.store.access.find('ada'))?.sessions;
  const endAll = () => stage.store.endedSessions.end({ memberId: 'ada', endedAt: Date.now() });
  const signOut = (by: Browser) => by.send('/account', { 'sign-out': 'yes' });

  test.each(['all sessions', 'its own'])(
    'replaying a code: what has ended since its first use does not begin again: %s',
    async (which) => {
      const { codePage, code } = await begun();
      const cookies = new Map(browser.cookies);
      expect((await browser.submit(codePage, { code })).page?.name).toBe('account');
      await (which === 'its own' ? signOut(browser) : endAll());
      for (const [name, value] of cookies) browser.cookies.set(name, value);
      expect(await browser.submit(codePage, { code })).toMatchObject(REFUSED);
      expect(await open()).toEqual([]);
    },
  );

  test('replaying a partner’s link: one session, which does not begin again', async () => {
    const token = await stage.link('inn');
    const use = async (by: Browser) => ({ by, ...(await by.send('/sign-in', { token }, 'form')) });
    const uses = await Promise.all(Array.from({ length: 5 }, () => use(createBrowser(stage))));
    expect(new Set(uses.map(({ by, status }) => `${status} ${session(by)}`)).size).toBe(1);
    expect(await open()).toHaveLength(1);
    const [first = await use(browser)] = uses;
    expect((await first.by.open('/account')).page?.name).toBe('account');
    await signOut(first.by);
    expect(await use(browser)).toMatchObject(REFUSED);
    expect(await open()).toEqual([]);
  });

  test('replaying a partner’s link while its session ends: it does not begin again', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const openProvider: typeof provider.openProvider = ({ store, ...core }) => {
      const has: typeof store.access.has = async (...asked) => {
        const found = await store.access.has(...asked);
        await meanwhile?.();
        return found;
      };
      return provider.openProvider({
        ...core,
        store: { ...store, access: { ...store.access, has } },
      });
    };
    await stage.release();
    stage = await startSignIn([{ openProvider }]);
    const token = await stage.link('inn');
    const use = () => createBrowser(stage).send('/sign-in', { token }, 'form');
    expect(await use()).toMatchObject({ status: 303 });
    const [{ sessionId = '' } = {}] = (await open()) ?? [];
    meanwhile = () => stage.store.access.endSession('ada', sessionId);
    expect(await use()).toMatchObject(REFUSED);
    expect(await open()).toEqual([]);
  });

  test('replaying a partner’s link whose answer was lost: not after all sessions have ended', async () => {
    const [token, lost] = [await stage.link('inn'), await stage.link('inn')];
    const use = (link: string, by = 'form') =>
      stage.store.tokens.redeemSignIn(hashToken('sign-in', link) ?? '', 'own-page', Date.now(), by);
    await use(token);
    expect(await browser.send('/sign-in', { token }, 'form')).toMatchObject({ status: 303 });
    await use(lost);
    await endAll();
    expect(await browser.send('/sign-in', { token: lost }, 'form')).toMatchObject(REFUSED);
    expect(await open()).toEqual([]);
  });

  test('a session that ends while an app’s request begins it: the app is told so', async () => {
    let meanwhile: (() => Promise<void>) | undefined;
    const openProvider: typeof provider.openProvider = ({ store, ...core }) => {
      const find: typeof store.apps.find = async (clientId) => {
        await meanwhile?.();
        return store.apps.find(clientId);
      };
      return provider.openProvider({ ...core, store: { ...store, apps: { ...store.apps, find } } });
    };
    await stage.release();
    stage = await startSignIn([{ openProvider }]);
    const by = createBrowser(stage);
    const config = configure(stage, await addApp(stage, { isFirstParty: true }));
    const page = await by.open((await authorization(config)).url);
    const { codePage, code } = await begin(stage, by, page, ADA);
    const { location = '' } = await by.send(codePage.page?.action ?? '', { code });
    meanwhile = endAll;
    expect((await by.send(location)).location).toMatch(/^https:\/\/spa\..*error=access_denied/);
  });

  test('filling an app’s grants: the tokens of those that it loses have ended', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    const { tokens } = await authorize(stage, browser, config);
    const sid = `sid:${decodeJwt(tokens.access_token).sid}`;
    const { access, endedSubjects } = stage.store;
    const sessionId = (await access.find('ada'))?.sessions[0]?.sessionId ?? '';
    const agreed = { clientId: app.clientId, agreedAt: 0, scopes: ['openid'] };
    for (let n = 0; n < 49; n += 1)
      await access.grant('ada', agreed, { sid: `s${n}`, sessionId }, true);
    expect(await endedSubjects.find(sid)).toBeUndefined();
    const { url } = await authorization(config, { prompt: 'consent' });
    await browser.submit(await browser.open(url), { agree: 'yes' });
    expect(await endedSubjects.find(sid)).toEqual(expect.any(Number));
  });

  test('filling a member’s grants: the oldest of all apps ends, and nothing of it is kept', async () => {
    const [app, last] = [await addApp(stage), await addApp(stage)];
    const { tokens } = await authorize(stage, browser, configure(stage, app));
    const { access, endedSubjects, payloads } = stage.store;
    const find = () => endedSubjects.find(`sid:${decodeJwt(tokens.access_token).sid}`);
    const sessionId = (await access.find('ada'))?.sessions[0]?.sessionId ?? '';
    for (let n = 0; n < 499; n += 1) {
      const agreed = { clientId: `app_${n % 10}`, agreedAt: 0, scopes: ['openid'] };
      expect(await access.grant('ada', agreed, { sid: `s${n}`, sessionId }, true)).toEqual([]);
    }
    const { url } = await authorization(configure(stage, last));
    await browser.submit(await browser.open(url), { agree: 'yes' });
    expect(await find()).toEqual(expect.any(Number));
    expect(await payloads.select(({ id }) => id.startsWith('Grant:'))).toHaveLength(1);
    const { apps = [] } = (await access.find('ada')) ?? {};
    expect([apps[0]?.grants, apps.flatMap(({ grants }) => grants)]).toMatchObject([
      [],
      { length: 500 },
    ]);
  });

  test('an app that falls out of a member’s 100 confirms its partner no longer', async () => {
    let takenBack: { mock: { calls: unknown[] } } | undefined;
    const openProvider: typeof provider.openProvider = (core) => {
      takenBack = jest.spyOn(core.store.tokens, 'takeBack');
      return provider.openProvider(core);
    };
    await stage.release();
    stage = await startSignIn([{ openProvider }]);
    browser = createBrowser(stage);
    const [app, last] = [await addApp(stage), await addApp(stage)];
    await authorize(stage, browser, configure(stage, app));
    const { access } = stage.store;
    const sessionId = (await access.find('ada'))?.sessions[0]?.sessionId ?? '';
    for (let n = 0; n < 99; n += 1) {
      const agreed = { clientId: `app_${n}`, agreedAt: 0, scopes: ['openid'] };
      await access.grant('ada', agreed, { sid: `s${n}`, sessionId }, true);
    }
    const { url } = await authorization(configure(stage, last));
    await browser.submit(await browser.open(url), { agree: 'yes' });
    expect(takenBack?.mock.calls).toEqual([['ada', [app.clientId]]]);
  });

  test('filling a member’s sessions: the tokens of those that are lost have ended', async () => {
    const { tokens } = await authorize(stage, browser, configure(stage, await addApp(stage)));
    const { access, endedSubjects } = stage.store;
    const session = { usedAt: Date.now(), browser: '' };
    for (let n = 0; n < 49; n += 1) await access.begin('ada', { sessionId: `s${n}`, ...session });
    const find = () => endedSubjects.find(`sid:${decodeJwt(tokens.access_token).sid}`);
    expect([await open(), await find()]).toEqual([expect.any(Array), undefined]);
    await signIn(ADA, createBrowser(stage));
    expect([await open(), await find()]).toMatchObject([{ length: 50 }, expect.any(Number)]);
    const kept = await stage.store.payloads.select(({ id }) => id.startsWith('Grant:'));
    expect(kept).toEqual([]);
    expect((await access.find('ada'))?.apps).toMatchObject([{ grants: [] }]);
  });

  test('a partner’s mailed link begins a session too, and a used one counts as refused', async () => {
    const token = await stage.link('inn');
    const { status, location } = await browser.send('/sign-in', { token });
    expect([status, location]).toEqual([303, '/sign-in']);
    expect((await browser.open('/account')).page?.name).toBe('account');
    const again = await createBrowser(stage).send('/sign-in', { token });
    expect(again).toMatchObject({ status: 410, counts: 'refused' });
  });

  test('a flood of revocations of apps that are not used ends nothing', async () => {
    const account = await signIn();
    await browser.submit(account, { revoke: 'app_unknown' });
    expect(await stage.store.endedSubjects.list(0, 100)).toEqual([]);
  });

  test('a grant that an app has lost to newer ones is not kept', async () => {
    const app = await addApp(stage);
    const config = configure(stage, app);
    await authorize(stage, browser, config);
    const agreed = { clientId: app.clientId, scopes: ['openid'], agreedAt: 0 };
    await stage.store.access.begin('ada', { sessionId: 's', usedAt: Date.now(), browser: '' });
    for (let n = 0; n < 49; n += 1)
      await stage.store.access.grant('ada', agreed, { sid: `${n}`, sessionId: 's' }, true);
    await browser.send((await authorization(config)).url);
    const grants = await stage.store.payloads.select(({ id }) => id.startsWith('Grant:'));
    expect(grants).toHaveLength(1);
  });

  test('signing out ends the session on the server, so a copied cookie is of no use', async () => {
    const account = await signIn();
    const copied = session(browser) ?? '';
    const { page } = await browser.submit(account, { 'sign-out': 'yes' });
    expect(page).toMatchObject({ message: 'signedOut' });
    const thief = createBrowser(stage);
    thief.cookies.set('__Host-session /', { value: copied, path: '/' });
    expect((await thief.open('/account')).page?.name).toBe('address');
  });

  test('mail is in the language of the page that caused it, or of the last one', async () => {
    const german = createBrowser(stage, '192.0.2.1', 'de');
    expect((await begun(ADA, german)).text).toContain(
      'geben Sie dort, wo Sie angefangen haben, diesen Code ein',
    );
    await signIn(ADA, german);
    expect((await begun()).text).toContain('enter this code');
    await stage.link('inn');
    expect(stage.server.mails.at(-1)?.html).toContain('<html lang="de">');
  });

  test('an app gets names that the version before stored without what alters text', async () => {
    await stage.store.updateOwnNames('ada', { firstName: 'A\u202ed\u200ba\u2028' });
    const member = await stage.store.member('ada');
    const app = { clientId: 'app', partnerId: 'inn', name: 'App', createdAt: 0 };
    const claims = member && claimsOf(member, { ...app, redirectUris: [], origins: [] });
    expect(claims).toMatchObject({ name: 'Ada', given_name: 'Ada' });
  });

  test('a gateway of the version before gets pages, which it sends without a policy', async () => {
    const asked = { method: 'GET', path: '/sign-in', search: '', headers: {}, body: '' };
    const request = JSON.stringify({ ...asked, clientAddress: '192.0.2.1', language: 'de' });
    const query = 'mutation ($request: String!) { answer: identityRequest(request: $request) }';
    const answer = await stage.ask(SERVICE, query, { request });
    const { status, body } = JSON.parse(String(answer));
    expect([status, body]).toEqual([200, expect.stringContaining('<html lang="de">')]);
    expect(body).toMatch(/<meta http-equiv="content-security-policy" content="default-src &#39;/);
    await signIn();
    const cookie = `__Host-session=${session(browser)}`;
    const known = JSON.stringify({ ...JSON.parse(request), headers: { cookie } });
    const account = await stage.ask(SERVICE, query, { request: known });
    const page = { name: 'account', action: '/sign-in', sessions: [{ isThis: true }] };
    expect(JSON.parse(String(account))).toMatchObject({ page });
  });
});
