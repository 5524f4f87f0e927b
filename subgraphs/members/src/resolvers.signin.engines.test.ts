// Signing in and changing an address, through the subgraph and from the mail that it sends, on each engine; an attack each by its name.
import {
  createInProcessTransport,
  createLog,
  createMetrics,
  type Scope,
  type Transport,
} from '@partner-loyalty/runtime';
import { createLocalJWKSet, jwtVerify } from 'jose';
import {
  type MailServer,
  startMailServer,
  tokenIn,
} from '../../../test/support/servers/mailserver.ts';
import { until } from '../../../test/support/until.ts';
import { ENGINES, newPlace, type Place, record } from '../test/engine.ts';
import { createMembers, startMembers } from './index.ts';
import type { MembersStore } from './store/store.ts';

const BASE = 'https://api.example';
const SERVICE: Scope = { kind: 'service' };
const partner = (partnerId: string): Scope => ({ kind: 'partner', partnerId });
const member = (memberId: string, partnerId?: string): Scope => ({
  kind: 'member',
  memberId,
  partnerId,
});

const REQUEST =
  'mutation ($email: String!) { answer: requestMagicLink(email: $email) { accepted } }';
const EXCHANGE =
  'mutation ($token: String!) { answer: exchangeMagicLink(token: $token) { memberId idToken expiresAt } }';
const REQUEST_CHANGE =
  'mutation ($email: String!) { answer: requestEmailChange(email: $email) { accepted } }';
const CONFIRM_OWN =
  'mutation ($token: String!) { answer: confirmEmailChange(token: $token) { memberId email activePartnerIds } }';
const SIGN_IN =
  'mutation ($token: String!) { answer: signIn(token: $token) { memberId idToken expiresAt } }';
const CONFIRM =
  'mutation ($token: String!) { answer: confirmChange(token: $token) { memberId email } }';
const UNDO = 'mutation ($token: String!) { answer: undoChange(token: $token) { memberId email } }';
const ACCEPTED = { accepted: true };

describe.each(ENGINES)('signing in on %s', (engine) => {
  let place: Place;
  let store: MembersStore;
  let server: MailServer;
  let transport: Transport;

  beforeEach(async () => {
    place = newPlace(engine);
    server = await startMailServer();
    store = await place.open();
    await store.importMembers([
      record('Ada@Example.com', {
        memberId: 'ada',
        firstName: 'Ada',
        enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa' }],
      }),
      record('bob@example.com', { memberId: 'bob', enrollments: [{ partnerId: 'spa' }] }),
    ]);
    const settings = {
      environment: 'production' as const,
      sandboxUrl: 'https://sandbox.example',
      productionUrl: BASE,
      smtpUrl: server.url,
      mailFrom: 'Loyalty <no-reply@api.example>',
      dataDir: place.settings.dataDir,
    };
    const log = createLog('silent');
    transport = createInProcessTransport(
      await startMembers(await place.open(), settings, { log, metrics: createMetrics() }),
      log,
    );
  });
  afterEach(async () => {
    await transport.close();
    await server.down();
    await place.release();
  });

  /** The answer, or its error code. */
  const ask = async (scope: Scope, query: string, variables: Record<string, unknown> = {}) => {
    const { data, errors } = await transport.execute({ query, variables, scope, requestId: 'r1' });
    return errors?.[0]?.extensions.code ?? (data?.answer as Record<string, string>);
  };
  /** The token of the next mail to an address that arrives while it is asked for. */
  const mailed = async (to: string, asked: () => Promise<unknown>) => {
    const before = server.mails.length;
    await asked();
    let text: string | undefined;
    await until(() => {
      text = server.mails.slice(before).find(({ recipients }) => recipients[0] === to)?.text;
      return text !== undefined;
    });
    return tokenIn(text);
  };
  const link = (partnerId = 'inn', email = 'ada@example.com') =>
    mailed(email, async () =>
      expect(await ask(partner(partnerId), REQUEST, { email })).toEqual(ACCEPTED),
    );
  const change = (email: string, memberId = 'ada') =>
    mailed(email, async () =>
      expect(await ask(member(memberId), REQUEST_CHANGE, { email })).toEqual(ACCEPTED),
    );
  const keys = async () => {
    const { data } = await transport.execute({
      query: '{ signingKeys }',
      scope: SERVICE,
      requestId: 'r1',
    });
    return createLocalJWKSet(JSON.parse(String(data?.signingKeys)));
  };

  test('a partner asks for a link, exchanges its token, and holds an ID token that names the member and the partner', async () => {
    const session = await ask(partner('inn'), EXCHANGE, { token: await link() });
    if (typeof session !== 'object') throw new Error(session);
    const { payload } = await jwtVerify(session.idToken ?? '', await keys(), {
      issuer: BASE,
      audience: BASE,
      algorithms: ['ES256'],
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

  test('on the own page the member gets an ID token that names no partner', async () => {
    const session = await ask(SERVICE, SIGN_IN, { token: await link() });
    if (typeof session !== 'object') throw new Error(session);
    const { payload } = await jwtVerify(session.idToken ?? '', await keys(), {
      issuer: BASE,
      audience: BASE,
    });
    expect(payload).toMatchObject({ sub: 'ada' });
    expect(payload).not.toHaveProperty('azp');
  });

  test('a link replayed, 20 times at once: one session', async () => {
    const token = await link();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask(partner('inn'), EXCHANGE, { token })),
    );
    expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'INVALID_TOKEN')).toHaveLength(19);
    expect(await ask(SERVICE, SIGN_IN, { token })).toBe('INVALID_TOKEN');
  });

  test("a link of partner A exchanged with partner B's key is refused and not used up", async () => {
    const token = await link('inn');
    expect(await ask(partner('spa'), EXCHANGE, { token })).toBe('INVALID_TOKEN');
    expect(await ask(partner('inn'), EXCHANGE, { token })).toMatchObject({ memberId: 'ada' });
  });

  test("a link to a partner's page used on ours, to get rid of the partner's name in the ID token, is refused", async () => {
    await store.partners.put({
      partnerId: 'inn',
      name: 'The Inn',
      magicLinkUrl: 'https://inn.example/in',
    });
    const token = await link('inn');
    expect(await ask(SERVICE, SIGN_IN, { token })).toBe('INVALID_TOKEN');
    expect(await ask(partner('inn'), EXCHANGE, { token })).toMatchObject({ memberId: 'ada' });
  });

  test('guessed, cut, foreign and endless tokens are refused with one answer', async () => {
    const token = await link();
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
      expect(await ask(partner('inn'), EXCHANGE, { token: guess })).toBe('INVALID_TOKEN');
      expect(await ask(SERVICE, UNDO, { token: guess })).toBe('INVALID_TOKEN');
      expect(await ask(member('ada'), CONFIRM_OWN, { token: guess })).toBe('INVALID_TOKEN');
    }
    for (const unfit of ['', ' ', 'ml_\0', 'ml_\ud800'])
      expect(await ask(partner('inn'), EXCHANGE, { token: unfit })).toBe('BAD_USER_INPUT');
  });

  test('enumeration by answer and by mail: every request is accepted with the same bytes, and only the enrolled member gets mail', async () => {
    const answers = [];
    for (const email of [
      'eve@example.com',
      'bob@example.com',
      'no address',
      'ADA@example.com',
      'ada@xn--.example',
      'ada@example.com',
    ]) {
      const { data, errors } = await transport.execute({
        query: REQUEST,
        variables: { email },
        scope: partner('inn'),
        requestId: 'r1',
      });
      answers.push(JSON.stringify({ data, errors }));
    }
    expect(new Set(answers)).toEqual(new Set(['{"data":{"answer":{"accepted":true}}}']));
    await until(() => server.mails.length >= 2);
    await transport.close();
    expect(server.mails.map(({ recipients }) => recipients)).toEqual([
      ['ada@example.com'],
      ['ada@example.com'],
    ]);
  });

  test('enumeration by time: the answer waits for one and the same write, whoever is asked for', async () => {
    const quiet = await place.open();
    const wake = jest.fn();
    const parts = { baseAddress: BASE, wake };
    const resting = createInProcessTransport(createMembers(quiet, parts), createLog('silent'));
    await transport.close();
    const jobs = [];
    for (const email of [
      'ada@example.com',
      'eve@example.com',
      'bob@example.com',
      ...Array(10).fill('ada@example.com'),
    ]) {
      await resting.execute({
        query: REQUEST,
        variables: { email },
        scope: partner('inn'),
        requestId: 'r1',
      });
      const {
        jobId: _,
        requestedAt: __,
        dueAt: ___,
        errand,
        ...job
      } = (await quiet.outbox.claim(Date.now() + 1, 1_000)) ?? { errand: undefined };
      jobs.push(JSON.stringify({ ...job, ...errand, address: '' }));
    }
    expect([new Set(jobs).size, jobs.length, wake.mock.calls.length]).toEqual([1, 13, 13]);
  });

  test('CRLF, other controls and lone surrogates in an address are refused, and so is an over-long one', async () => {
    const unfit = [
      'ada@example.com\r\nBcc: eve@example.com',
      'ada@example.com\0',
      'ada\u0085@example.com',
      'ada\ud800@example.com',
      '',
      `${'a'.repeat(250)}@x.io`,
    ];
    for (const email of unfit) {
      expect(await ask(partner('inn'), REQUEST, { email })).toBe('BAD_USER_INPUT');
      expect(await ask(member('ada'), REQUEST_CHANGE, { email })).toBe('BAD_USER_INPUT');
    }
    for (const email of [
      'no address',
      'ada@example.com, eve@example.com',
      '"ada bcc:eve"@example.com',
      'Ada <ada@example.com>',
    ]) {
      expect(await ask(member('ada'), REQUEST_CHANGE, { email })).toBe('BAD_USER_INPUT');
    }
  });

  test('a change of address: proven by the new mailbox, noticed in the former one, and undone from there', async () => {
    const token = await change('next@example.com');
    let profile: unknown;
    const undo = await mailed('ada@example.com', async () => {
      profile = await ask(member('ada'), CONFIRM_OWN, { token });
    });
    expect(profile).toEqual({
      memberId: 'ada',
      email: 'next@example.com',
      activePartnerIds: ['inn', 'spa'],
    });
    expect(await ask(member('ada'), CONFIRM_OWN, { token })).toBe('INVALID_TOKEN');
    expect(await store.memberByEmail('inn', 'ada@example.com')).toMatchObject({
      memberId: 'ada',
      email: 'next@example.com',
    });
    expect(await ask(SERVICE, UNDO, { token: undo })).toEqual({
      memberId: 'ada',
      email: 'Ada@Example.com',
    });
    expect(await ask(SERVICE, UNDO, { token: undo })).toBe('INVALID_TOKEN');
    expect(await store.memberByEmail('inn', 'next@example.com')).toBeUndefined();
  });

  test('on the own page a change is confirmed by the token alone', async () => {
    expect(await ask(SERVICE, CONFIRM, { token: await change('next@example.com') })).toEqual({
      memberId: 'ada',
      email: 'next@example.com',
    });
  });

  test('a change of member A confirmed by member B is refused and not used up', async () => {
    const token = await change('next@example.com', 'ada');
    expect(await ask(member('bob'), CONFIRM_OWN, { token })).toBe('INVALID_TOKEN');
    expect(await ask(member('ada'), CONFIRM_OWN, { token })).toMatchObject({
      email: 'next@example.com',
    });
  });

  test('an ID token that has been in a partner’s hands neither asks for a change nor confirms one', async () => {
    const token = await change('next@example.com');
    expect(await ask(member('ada', 'inn'), REQUEST_CHANGE, { email: 'evil@example.com' })).toBe(
      'INVALID_TOKEN',
    );
    expect(await ask(member('ada', 'inn'), CONFIRM_OWN, { token })).toBe('INVALID_TOKEN');
    expect(await ask(member('ada'), CONFIRM_OWN, { token })).toMatchObject({
      email: 'next@example.com',
    });
  });

  test('an address that is current elsewhere is refused, and only after the proof', async () => {
    const token = await change('bob@example.com');
    expect(await ask(member('ada'), CONFIRM_OWN, { token })).toBe('EMAIL_IN_USE');
    expect(await ask(SERVICE, CONFIRM, { token })).toBe('EMAIL_IN_USE');
    expect(await store.memberByEmail('spa', 'bob@example.com')).toMatchObject({ memberId: 'bob' });
  });

  test('no other scope than its own reaches a field', async () => {
    const token = 'ml_x';
    for (const scope of [partner('inn'), member('ada')]) {
      for (const query of [SIGN_IN, CONFIRM, UNDO])
        expect(await ask(scope, query, { token })).toBe('INTERNAL_SERVER_ERROR');
      expect(await ask(scope, '{ answer: signingKeys }')).toBe('INTERNAL_SERVER_ERROR');
    }
    for (const scope of [SERVICE, member('ada')]) {
      expect(await ask(scope, EXCHANGE, { token })).toBe('INTERNAL_SERVER_ERROR');
      expect(await ask(scope, REQUEST, { email: 'ada@example.com' })).toBe('INTERNAL_SERVER_ERROR');
    }
    for (const scope of [SERVICE, partner('inn')]) {
      expect(await ask(scope, CONFIRM_OWN, { token })).toBe('INTERNAL_SERVER_ERROR');
      expect(await ask(scope, REQUEST_CHANGE, { email: 'ada@example.com' })).toBe(
        'INTERNAL_SERVER_ERROR',
      );
    }
  });
});
