// The resolvers of members.

import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import { decodeJwt } from 'jose';
import { until } from '../../../../test/support/until.ts';
import {
  ACCEPT,
  BASE,
  CONFIRM,
  CONFIRM_OWN,
  CONTEST,
  ENROLL,
  EXCHANGE,
  INVITATION,
  INVITE,
  member,
  partner,
  REQUEST,
  REQUEST_CHANGE,
  SERVICE,
  SIGN_IN,
  type SignInStage,
  startSignIn,
  UNDO,
} from '../../test/signin.ts';
import { createMembers } from '../index.ts';
import { hashToken } from '../rules/mailedtoken.ts';

// Changing an address, through the subgraph and its mail.

describe('changing an address', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
  });
  afterEach(() => stage.release());

  test('undoing ends the sessions and mails a notice to the address taken away, which contests it', async () => {
    const { endedSessions } = stage.store;
    const change = await stage.change('Next@Example.com');
    const undo = await stage.mailed('ada@example.com', async () =>
      expect(await stage.ask(SERVICE, CONFIRM, { token: change })).toMatchObject({
        email: 'Next@Example.com',
      }),
    );
    expect(await stage.ask(SERVICE, CONFIRM, { token: change })).toBe('INVALID_TOKEN');
    expect(await endedSessions.find('ada')).toBeUndefined();
    const token = await stage.mailed('next@example.com', async () =>
      expect(await stage.ask(SERVICE, UNDO, { token: undo })).toEqual({
        memberId: 'ada',
        email: 'Ada@Example.com',
      }),
    );
    const ended = (await endedSessions.find('ada')) ?? 0;
    expect(ended).toBeGreaterThan(0);
    expect(token).toMatch(/^co_/);
    // Mail goes to the local part as its owner typed it, and to the ASCII domain.
    expect(stage.server.mails.map(({ recipients }) => recipients)).toEqual([
      ['Next@example.com'],
      ['Ada@example.com'],
      ['Next@example.com'],
    ]);
    expect(await stage.ask(member('ada'), CONTEST, { token })).toBe('INTERNAL_SERVER_ERROR');
    expect(await stage.ask(SERVICE, CONTEST, { token: `co_${'x'.repeat(43)}` })).toBe(
      'INVALID_TOKEN',
    );
    expect(await stage.ask(SERVICE, CONTEST, { token })).toBe('ada');
    expect(await endedSessions.find('ada')).toBeGreaterThan(ended);
    expect(await stage.ask(SERVICE, CONTEST, { token })).toBe('INVALID_TOKEN');
    expect(await stage.ask(SERVICE, UNDO, { token: undo })).toBe('INVALID_TOKEN');
  });

  test('a link to the address taken away that is exchanged meanwhile gives no token', async () => {
    const change = await stage.change('next@example.com');
    const undo = await stage.mailed('ada@example.com', () =>
      stage.ask(SERVICE, CONFIRM, { token: change }),
    );
    const token = await stage.link('inn', 'next@example.com');
    const { endedSessions, tokens } = stage.store;
    // The token has to wait for it, once the link is used.
    await endedSessions.end({ memberId: 'ada', endedAt: Date.now() + 900 });
    const exchanged = stage.ask(partner('inn'), EXCHANGE, { token });
    const hash = hashToken('sign-in', token) ?? '';
    await until(async () => (await tokens.findSignIn(hash, Date.now())) === undefined);
    expect(await stage.ask(SERVICE, UNDO, { token: undo })).toMatchObject({ memberId: 'ada' });
    const { idToken } = Object(await exchanged);
    const at = idToken === undefined ? 0 : decodeJwt(idToken).iat_ms;
    expect(at).toBeLessThanOrEqual((await endedSessions.find('ada')) ?? 0);
  });

  test('exhaustion: a link that changes nothing, however often it is used, queues one notice', async () => {
    const token = await stage.change('next@example.com');
    const next = { typed: 'next@example.com', canonical: 'next@example.com' };
    await stage.store.enroll({ partnerId: 'inn', address: next });
    const idleStore = await stage.place.open();
    const idle = createInProcessTransport(
      createMembers(idleStore, { baseAddress: BASE, wake() {} }),
      createLog('silent'),
      createCaches(),
    );
    await stage.transport.close();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Math.ceil(Date.now() / 3e4) * 3e4);
    for (let use = 0; use < 5; use += 1) {
      const request = { query: CONFIRM, variables: { token }, caller: SERVICE, requestId: 'r' };
      const { errors } = await idle.execute(request);
      expect(errors?.[0]?.extensions.code).toBe('EMAIL_IN_USE');
    }
    const claim = () => idleStore.outbox.claim(Date.now() + 1, 60_000);
    expect((await claim())?.task).toMatchObject({ kind: 'changed', memberId: 'ada' });
    expect(await claim()).toBeUndefined();
    clock.mockRestore();
  });

  const WEEK = 7 * 24 * 3_600_000;

  /** Changes to `next` at some time; false if no change could start. */
  async function change(next: string, at: number): Promise<boolean> {
    const address = { typed: next, canonical: next };
    const hash = `${at}`.padStart(64, '0');
    const token = { use: 'change', hash, expiresAt: at + 1, address } as const;
    if (!(await stage.store.tokens.addChange(token, 'ada', at))) return false;
    await stage.store.tokens.confirmChange(hash, hash, at);
    return true;
  }

  test('exhaustion: a member has 100 addresses at most, and then the one that it has', async () => {
    let at = Date.now();
    let added = 0;
    for (; added < 150 && (await change(`next-${added}@example.com`, at)); added += 1)
      at += WEEK / 10;
    expect(added).toBe(100);
    expect(await change('last@example.com', at + WEEK)).toBe(false);
  });

  test('exhaustion: within 7 days an address changes 20 times, even to and fro', async () => {
    const now = Date.now();
    const to = (n: number) => change(`${n % 2}@example.com`, now + n);
    let added = 0;
    while (added < 50 && (await to(added))) added += 1;
    expect(added).toBe(20);
    expect(await to(WEEK)).toBe(true);
  });

  test("member A's change confirmed by member B is refused and not used up", async () => {
    const token = await stage.change('next@example.com', 'ada');
    expect(await stage.ask(member('bob'), CONFIRM_OWN, { token })).toBe('INVALID_TOKEN');
    expect(await stage.ask(member('ada'), CONFIRM_OWN, { token })).toEqual({
      memberId: 'ada',
      email: 'next@example.com',
      activePartnerIds: ['inn', 'spa'],
    });
  });
});

// Inviting a person and accepting, through the subgraph and its mail.

const ACCEPTED = { accepted: true };
const DAY = 24 * 3_600_000;

describe('inviting', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
  });
  afterEach(() => stage.release());

  const invite = (email: string, more: object = {}, partnerId = 'pub') =>
    stage.ask(partner(partnerId), INVITE, { input: { email, ...more } });
  const invited = (email: string, more: object = {}, to = email.toLowerCase()) =>
    stage.mailed(to, async () => expect(await invite(email, more)).toEqual(ACCEPTED));
  const accept = (token: string) => stage.ask(SERVICE, ACCEPT, { token });
  const who = async (email: string, partnerId = 'pub') =>
    (await stage.store.memberByEmail(partnerId, email))?.memberId;
  const later = async <T>(ms: number, act: () => Promise<T>): Promise<T> => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
    try {
      return await act();
    } finally {
      clock.mockRestore();
    }
  };

  test('an address that was locked meanwhile is not enrolled', async () => {
    const token = await invited('ada@example.com');
    await stage.store.locks.lock('ada@example.com', Date.now());
    expect(await accept(token)).toBe('INVALID_TOKEN');
    expect(await who('ada@example.com')).toBeUndefined();
  });

  test('INVALID_TOKEN for an invitation that is used, expired, unknown or of another kind', async () => {
    const [used, expired] = [await invited('eve@example.com'), await invited('fay@example.com')];
    await accept(used);
    await later(7 * DAY, async () => expect(await accept(expired)).toBe('INVALID_TOKEN'));
    const magicLink = await stage.link();
    for (const token of [
      used,
      `in_${'x'.repeat(43)}`,
      magicLink,
      `in_${magicLink.slice(3)}`,
      'in_',
    ]) {
      expect(await accept(token)).toBe('INVALID_TOKEN');
      expect(await stage.ask(SERVICE, INVITATION, { token })).toBe('INVALID_TOKEN');
    }
    expect(await who('fay@example.com')).toBeUndefined();
    expect(await stage.ask(partner('pub'), ACCEPT, { token: expired })).toBe(
      'INTERNAL_SERVER_ERROR',
    );
  });

  test('a partner whose members have to agree cannot enroll anybody, known or unknown', async () => {
    await stage.store.partners.put({ partnerId: 'pub', name: 'The Pub', consent: 'required' });
    await stage.store.locks.lock('bob@example.com', Date.now());
    for (const email of ['ada@example.com', 'eve@example.com', 'bob@example.com']) {
      expect(await stage.ask(partner('pub'), ENROLL, { input: { email } })).toBe(
        'CONSENT_REQUIRED',
      );
      expect(await stage.ask(partner('inn'), ENROLL, { input: { email } })).toMatchObject({});
    }
    expect(await accept(await invited('eve@example.com'))).toMatchObject({
      partnerName: 'The Pub',
    });
    await stage.store.partners.put({ partnerId: 'pub', name: 'The Pub' });
    expect(
      await stage.ask(partner('pub'), ENROLL, { input: { email: 'ada@example.com' } }),
    ).toEqual({ created: true });
  });
});

// Signing in by magic link, through the subgraph and its mail; attacks are tested by name.

describe('signing in', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
  });
  afterEach(() => stage.release());

  test('enumeration by time: the response waits for the same write, whoever it is about', async () => {
    const idleStore = await stage.place.open();
    const wake = jest.fn();
    const idle = createInProcessTransport(
      createMembers(idleStore, { baseAddress: BASE, wake }),
      createLog('silent'),
      createCaches(),
    );
    await stage.transport.close();
    const jobs = [];
    for (const email of [
      'ada@example.com',
      'eve@example.com',
      'bob@example.com',
      ...Array(10).fill('ada@example.com'),
    ]) {
      await idle.execute({
        query: REQUEST,
        variables: { email },
        caller: partner('inn'),
        requestId: 'r1',
      });
      const {
        jobId: _,
        requestedAt: __,
        dueAt: ___,
        task,
        ...job
      } = (await idleStore.outbox.claim(Date.now() + 1, 60_000)) ?? { task: undefined };
      jobs.push(JSON.stringify({ ...job, ...task, address: '' }));
    }
    expect([new Set(jobs).size, jobs.length, wake.mock.calls.length]).toEqual([1, 13, 13]);
  });

  test('a field is reached by its own callers only', async () => {
    const token = 'ml_x';
    for (const caller of [partner('inn'), member('ada')]) {
      for (const query of [SIGN_IN, CONFIRM, UNDO])
        expect(await stage.ask(caller, query, { token })).toBe('INTERNAL_SERVER_ERROR');
      expect(await stage.ask(caller, '{ answer: signingKeys }')).toBe('INTERNAL_SERVER_ERROR');
    }
    for (const caller of [SERVICE, member('ada')]) {
      expect(await stage.ask(caller, EXCHANGE, { token })).toBe('INTERNAL_SERVER_ERROR');
      expect(await stage.ask(caller, REQUEST, { email: 'ada@example.com' })).toBe(
        'INTERNAL_SERVER_ERROR',
      );
    }
    for (const caller of [SERVICE, partner('inn')]) {
      expect(await stage.ask(caller, CONFIRM_OWN, { token })).toBe('INTERNAL_SERVER_ERROR');
      expect(await stage.ask(caller, REQUEST_CHANGE, { email: 'ada@example.com' })).toBe(
        'INTERNAL_SERVER_ERROR',
      );
    }
  });
});

// Names, and what tokens that a partner holds show, through the subgraph and its mail.
describe('profile', () => {
  const SHOWN = '{ memberId email firstName lastName }';
  const ENROLL = `mutation ($input: EnrollMemberInput!) { answer: enrollMember(input: $input) { created member ${SHOWN} } }`;
  const UPDATE = `mutation ($memberId: ID!, $input: UpdateMemberInput!) { answer: updateMember(memberId: $memberId, input: $input) ${SHOWN} }`;
  const UPDATE_OWN = `mutation ($input: UpdateProfileInput!) { answer: updateProfile(input: $input) ${SHOWN} }`;
  const PROFILE = `query ($id: ID!) { answer: memberProfile(id: $id) ${SHOWN} }`;
  const BY_EMAIL = `query ($email: String!) { answer: memberByEmail(email: $email) ${SHOWN} }`;

  const ADA = { memberId: 'ada', email: 'Ada@Example.com', firstName: 'Ada', lastName: null };
  const EVE = { firstName: 'Eve', lastName: 'Moneypenny' };

  describe('on the embedded store', () => {
    let stage: SignInStage;
    beforeEach(async () => {
      stage = await startSignIn();
      await stage.store.partners.put({
        partnerId: 'pub',
        name: 'The Pub',
        magicLinkUrl: 'https://pub.example/in',
      });
    });
    afterEach(() => stage.release());

    const ask: SignInStage['ask'] = (...args) => stage.ask(...args);
    const profile = (partnerId?: string) => ask(member('ada', partnerId), PROFILE, { id: 'ada' });
    const enroll = (input: object) => ask(partner('pub'), ENROLL, { input });
    const update = (input: object, memberId = 'ada', partnerId = 'pub') =>
      ask(partner(partnerId), UPDATE, { memberId, input });
    const updateOwn = (input: object, partnerId?: string) =>
      ask(member('ada', partnerId), UPDATE_OWN, { input });

    test('names that the version before stored stay, and are shown without what alters text', async () => {
      const hidden = 'A\u202ed\u200ba\u2028';
      await stage.store.updateOwnNames('ada', { firstName: hidden, lastName: '\u2066' });
      await stage.store.partners.put({ partnerId: 'inn', name: 'The\u202e Inn' });
      const looked = await ask(partner('inn'), BY_EMAIL, { email: 'ada@example.com' });
      const standing = `query ($entities: [_Any!]!) { answer: _entities(representations: $entities) {
      ... on Standing { partnerName } } }`;
      const entities = [{ __typename: 'Standing', partnerId: 'inn' }];
      expect([looked, await profile(), await profile('inn')]).toEqual([ADA, ADA, ADA]);
      expect(await ask(partner('inn'), standing, { entities })).toEqual([
        { partnerName: 'The Inn' },
      ]);
      const record = await stage.store.member('ada');
      expect(record?.ownNames?.firstName).toBe(hidden);
    });

    test('MEMBER_NOT_FOUND for who is not enrolled with it, BAD_USER_INPUT for what is no name', async () => {
      for (const memberId of ['bob', 'ada', 'nobody'])
        expect(await update(EVE, memberId)).toBe('MEMBER_NOT_FOUND');
      for (const name of ['', ' ', 'x'.repeat(101), 'a\u0000'])
        expect(await update({ firstName: name }, 'ada', 'inn')).toBe('BAD_USER_INPUT');
      expect(await updateOwn({ lastName: ' ' })).toBe('BAD_USER_INPUT');
      expect(await ask(member('nobody'), UPDATE_OWN, { input: EVE })).toBe('MEMBER_NOT_FOUND');
    });

    test('with a token that a partner holds, profile and claims show what that partner sees', async () => {
      await enroll({ email: 'ADA@example.com', ...EVE });
      expect(await profile('pub')).toEqual({ memberId: 'ada', email: 'ADA@example.com', ...EVE });
      expect(await profile('inn')).toEqual(ADA);
      const token = await stage.link('pub');
      const { idToken = '' } = await ask(partner('pub'), EXCHANGE, { token }).then(Object);
      expect(decodeJwt(idToken)).toMatchObject({ email: 'ADA@example.com', azp: 'pub' });
      const own = await ask(SERVICE, SIGN_IN, { token: await stage.link('inn') }).then(Object);
      const claims = decodeJwt(own.idToken);
      expect(claims).toMatchObject({ sub: 'ada', email: 'Ada@Example.com' });
      expect(claims).not.toHaveProperty('azp');
      expect(await profile()).toEqual(ADA);
    });

    test('a token of an app shows the fields that the member has agreed to, whatever leads to them', async () => {
      const limited = (scopes: string) => ({ ...member('ada', 'inn'), scopes });
      const read = async (scopes: string, fields = '{ memberId email firstName lastName }') => {
        const query = `{ memberProfile(id: "ada") ${fields} }`;
        const caller = limited(scopes);
        const asked = { query, caller, requestId: 'r1' };
        const { data, errors = [] } = await stage.transport.execute(asked);
        const failed = errors.map(({ path, message, extensions }) => [
          extensions.code,
          path,
          message,
        ]);
        return [data?.memberProfile, ...failed];
      };
      const path = ['memberProfile', 'email'];
      const refused = [null, ['FORBIDDEN', path, 'the token lacks the scope email']];
      expect(await read('openid')).toEqual(refused);
      expect(await read('openid profile')).toEqual(refused);
      const noNames = { firstName: null, lastName: null };
      expect(await read('openid', '{ memberId firstName lastName }')).toEqual([
        { memberId: 'ada', ...noNames },
      ]);
      expect(await read('openid email')).toEqual([{ ...ADA, ...noNames }]);
      expect(await read('openid profile email')).toEqual([ADA]);
      const entity = `query ($entities: [_Any!]!) { answer: _entities(representations: $entities) {
      ... on MemberProfile { firstName email } } }`;
      const entities = [{ __typename: 'MemberProfile', memberId: 'ada' }];
      expect(await ask(limited('openid'), entity, { entities })).toBe('FORBIDDEN');
      expect(await ask(limited('openid email'), entity, { entities })).toEqual([
        { firstName: null, email: ADA.email },
      ]);
    });

    test('FORBIDDEN to change names without the scope profile, and an address without email', async () => {
      const [noNames, noAddress] = ['openid email', 'openid profile'].map((scopes) => ({
        ...member('ada'),
        scopes,
      }));
      const email = 'next@example.com';
      const token = await stage.change(email);
      expect([
        await ask(noNames ?? SERVICE, UPDATE_OWN, { input: EVE }),
        await ask(noAddress ?? SERVICE, REQUEST_CHANGE, { email }),
        await ask(noAddress ?? SERVICE, CONFIRM_OWN, { token }),
      ]).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
      expect(await profile()).toEqual(ADA);
      await ask(noNames ?? SERVICE, CONFIRM_OWN, { token });
      expect(await profile()).toEqual({ ...ADA, email });
    });

    test('a token of a partner without an enrollment shows no names but the own pair', async () => {
      expect(await profile('bar')).toEqual({ ...ADA, firstName: null });
      await updateOwn(EVE);
      expect(await profile('bar')).toEqual({ ...ADA, ...EVE });
    });
  });
});
