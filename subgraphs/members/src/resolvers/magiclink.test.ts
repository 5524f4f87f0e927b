// Signing in by magic link, through the subgraph and its mail; attacks are tested by name.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { until } from '../../../../test/support/until.ts';
import {
  BASE,
  CONFIRM,
  CONFIRM_OWN,
  EXCHANGE,
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

describe('signing in', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
  });
  afterEach(() => stage.release());

  const keys = async () => {
    const { data } = await stage.transport.execute({
      query: '{ signingKeys }',
      caller: SERVICE,
      requestId: 'r1',
    });
    return createLocalJWKSet(JSON.parse(String(data?.signingKeys)));
  };

  test('a partner requests a link and gets an ID token that names the member and the partner', async () => {
    const session = await stage.ask(partner('inn'), EXCHANGE, { token: await stage.link() });
    if (typeof session !== 'object') throw new Error(session);
    const { payload } = await jwtVerify(session.idToken ?? '', await keys(), {
      issuer: BASE,
      audience: BASE,
      algorithms: ['RS256'],
    });
    expect(payload).toMatchObject({
      sub: 'ada',
      email: 'Ada@Example.com',
      azp: 'inn',
      exp: (payload.iat ?? 0) + 3_600,
    });
    expect(session).toMatchObject({
      memberId: 'ada',
      expiresAt: new Date((payload.exp ?? 0) * 1_000).toISOString(),
    });
  });

  test('a link replayed 20 times at the same time: one session', async () => {
    const token = await stage.link();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => stage.ask(partner('inn'), EXCHANGE, { token })),
    );
    expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(1);
    const refused = answers.filter((answer) => typeof answer !== 'object');
    expect(refused).toHaveLength(19);
    for (const answer of refused) {
      // A store that is busy with the others may not answer in time.
      const again = () => stage.ask(partner('inn'), EXCHANGE, { token });
      expect(answer === 'SERVICE_UNAVAILABLE' ? await again() : answer).toBe('INVALID_TOKEN');
    }
    expect(await stage.ask(SERVICE, SIGN_IN, { token })).toBe('INVALID_TOKEN');
  });

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

  test('on our own page, the member gets an ID token that names no partner', async () => {
    const session = await stage.ask(SERVICE, SIGN_IN, { token: await stage.link() });
    if (typeof session !== 'object') throw new Error(session);
    const { payload } = await jwtVerify(session.idToken ?? '', await keys(), {
      issuer: BASE,
      audience: BASE,
    });
    expect(payload).toMatchObject({ sub: 'ada' });
    expect(payload).not.toHaveProperty('azp');
  });

  test("partner A's link exchanged with partner B's key is refused and not used up", async () => {
    const token = await stage.link('inn');
    expect(await stage.ask(partner('spa'), EXCHANGE, { token })).toBe('INVALID_TOKEN');
    expect(await stage.ask(partner('inn'), EXCHANGE, { token })).toMatchObject({ memberId: 'ada' });
  });

  test("a link to a partner's page, used on ours to keep the partner out of the ID token, is refused", async () => {
    await stage.store.partners.put({
      partnerId: 'inn',
      name: 'The Inn',
      magicLinkUrl: 'https://inn.example/in',
    });
    const token = await stage.link('inn');
    expect(await stage.ask(SERVICE, SIGN_IN, { token })).toBe('INVALID_TOKEN');
    expect(await stage.ask(partner('inn'), EXCHANGE, { token })).toMatchObject({ memberId: 'ada' });
  });

  test('guessed, shortened, foreign and very long tokens are refused with one code', async () => {
    const token = await stage.link();
    const guesses = [
      'ml_',
      token.slice(0, -1),
      `${token}x`,
      `ec_${token.slice(3)}`,
      `ml_${'x'.repeat(43)}`,
      `ml_${'x'.repeat(60_000)}`,
      '%00',
      "' or 1=1",
      '{"$ne":null}',
    ];
    for (const guess of guesses) {
      expect(await stage.ask(partner('inn'), EXCHANGE, { token: guess })).toBe('INVALID_TOKEN');
      expect(await stage.ask(SERVICE, UNDO, { token: guess })).toBe('INVALID_TOKEN');
      expect(await stage.ask(member('ada'), CONFIRM_OWN, { token: guess })).toBe('INVALID_TOKEN');
    }
    for (const invalid of ['', ' ', 'ml_\0', 'ml_\ud800'])
      expect(await stage.ask(partner('inn'), EXCHANGE, { token: invalid })).toBe('BAD_USER_INPUT');
  });

  test('enumeration by response or mail: all responses are equal, and only the member gets mail', async () => {
    const answers = [];
    for (const email of [
      'eve@example.com',
      'bob@example.com',
      'no address',
      'ADA@example.com',
      'ada@xn--.example',
      'ada@example.com',
    ]) {
      const { data, errors } = await stage.transport.execute({
        query: REQUEST,
        variables: { email },
        caller: partner('inn'),
        requestId: 'r1',
      });
      answers.push(JSON.stringify({ data, errors }));
    }
    expect(new Set(answers)).toEqual(new Set(['{"data":{"answer":{"accepted":true}}}']));
    await until(() => stage.server.mails.length >= 2);
    await stage.transport.close();
    expect(stage.server.mails.map(({ recipients }) => recipients)).toEqual([
      ['Ada@example.com'],
      ['Ada@example.com'],
    ]);
  });

  test('addresses with CRLF, other controls or lone surrogates, or too long, are refused', async () => {
    const invalid = [
      'ada@example.com\r\nBcc: eve@example.com',
      'ada@example.com\0',
      'ada\u0085@example.com',
      'ada\ud800@example.com',
      '',
      `${'a'.repeat(250)}@x.io`,
    ];
    for (const email of invalid) {
      expect(await stage.ask(partner('inn'), REQUEST, { email })).toBe('BAD_USER_INPUT');
      expect(await stage.ask(member('ada'), REQUEST_CHANGE, { email })).toBe('BAD_USER_INPUT');
    }
    for (const email of [
      'no address',
      'ada@example.com, eve@example.com',
      '"ada bcc:eve"@example.com',
      'Ada <ada@example.com>',
    ]) {
      expect(await stage.ask(member('ada'), REQUEST_CHANGE, { email })).toBe('BAD_USER_INPUT');
    }
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
