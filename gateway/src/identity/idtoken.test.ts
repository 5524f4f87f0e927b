// Verification of ID tokens.
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { type JWK, SignJWT, type SignOptions, UnsecuredJWT } from 'jose';
import { createTokenVerifier, type TokenRules } from './idtoken.ts';
import { createJwks } from './jwks.ts';
import { createOwnTokens } from './ownprovider.ts';

const ISSUER = 'https://id.example';
const AUDIENCE = 'loyalty';
const NOW = Date.UTC(2026, 2, 4);
const seconds = NOW / 1_000;

type Signer = { alg: string; kid: string; privateKey: KeyObject; publicKey: KeyObject };
const SIGNERS: Signer[] = [
  { alg: 'ES256', kid: 'es', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
  { alg: 'RS256', kid: 'rs', ...generateKeyPairSync('rsa', { modulusLength: 2048 }) },
  { alg: 'EdDSA', kid: 'ed', ...generateKeyPairSync('ed25519') },
];
const [es, rs] = SIGNERS as [Signer, Signer, Signer];
const attacker: Signer = { ...es, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };

const publicJwk = ({ publicKey, kid, alg }: Signer): JWK => ({
  ...(publicKey.export({ format: 'jwk' }) as JWK),
  kid,
  alg,
  use: 'sig',
});
const base64url = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const CLAIMS = { iss: ISSUER, aud: AUDIENCE, sub: 'm1', iat: seconds, exp: seconds + 3_600 };

function sign(
  claims: object = {},
  header: object = {},
  signer = es,
  crit?: SignOptions['crit'],
): Promise<string> {
  const payload = Object.fromEntries(
    Object.entries({ ...CLAIMS, ...claims }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(payload)
    .setProtectedHeader({ alg: signer.alg, kid: signer.kid, ...header })
    .sign(signer.privateKey, crit && { crit });
}

function createVerifier(rules: Partial<TokenRules> = {}) {
  const keys = createJwks({ fetchKeys: async () => ({ keys: SIGNERS.map(publicJwk) }) });
  const isPartner = (azp: string) => azp === 'inn';
  return createTokenVerifier({
    issuer: ISSUER,
    audiences: [AUDIENCE],
    keys,
    memberClaim: 'sub',
    isPartner,
    caches: createCaches(),
    now: () => NOW,
    ...rules,
  });
}

const verify = async (token: string | Promise<string>, rules?: Partial<TokenRules>) =>
  createVerifier(rules).verify(await token);

const VALID = { memberId: 'm1', expiresAt: new Date(NOW + 3_600_000) };

describe('a valid token names its member', () => {
  test.each(SIGNERS)('signed with $alg', async (signer) => {
    expect(await verify(sign({}, {}, signer))).toEqual(VALID);
  });

  test('with the audience in a list, with typ JWT, or with another member claim', async () => {
    expect(await verify(sign({ aud: [AUDIENCE] }))).toEqual(VALID);
    expect(await verify(sign({}, { typ: 'JWT' }))).toEqual(VALID);
    expect(
      await verify(sign({ sub: 'account', loyalty_id: 'm1' }), { memberClaim: 'loyalty_id' }),
    ).toEqual(VALID);
  });

  test('within 30 seconds of clock tolerance', async () => {
    expect(await verify(sign({ exp: seconds - 29 }))).toMatchObject({ memberId: 'm1' });
    expect(await verify(sign({ iat: seconds + 29 }))).toMatchObject({ memberId: 'm1' });
  });

  test('and the partner that its azp names, if there is one', async () => {
    expect(await verify(sign({ azp: 'inn' }))).toEqual({ ...VALID, partnerId: 'inn' });
    expect(await verify(sign({ azp: 'web-client' }))).toEqual(VALID);
    expect(await verify(sign({ azp: 'inn' }), { isPartner: async () => true })).toEqual({
      ...VALID,
      partnerId: 'inn',
    });
  });

  test('as an access token, which the partner that its client_id names holds', async () => {
    expect(await verify(sign({ client_id: 'web-client' }, { typ: 'at+jwt' }))).toEqual(VALID);
    expect(await verify(sign({ client_id: 'inn', azp: 'web-client' }, { typ: 'at+jwt' }))).toEqual({
      ...VALID,
      partnerId: 'inn',
    });
    expect(await verify(sign({}, { typ: 'application/at+JWT' }))).toEqual(VALID);
  });
});

describe('the built-in provider', () => {
  const own = { audiences: [ISSUER], isPartner: undefined, isCurrent: () => true };
  const app = { client_id: 'app', sid: 's1', partner_id: 'inn' };
  const ofApp = { ...VALID, clientId: 'app', sid: 's1', partnerId: 'inn', scopes: 'openid' };
  const access = (claims: object, typ = 'at+jwt') =>
    verify(sign({ aud: ISSUER, ...app, ...claims }, { typ }), own);

  test('issues ID tokens for this service, whose azp is always the partner that holds it', async () => {
    expect(await verify(sign({ aud: ISSUER }), own)).toEqual(VALID);
    const held = await verify(sign({ aud: ISSUER, azp: 'gone' }), own);
    expect(held).toEqual({ ...VALID, partnerId: 'gone' });
  });

  test('issues access tokens for this service, and ID tokens for an app', async () => {
    expect(await access({})).toEqual({ ...ofApp, isIdOfApp: false });
    expect(await verify(sign({ ...app, aud: 'app' }), own)).toEqual({ ...ofApp, isIdOfApp: true });
    const firstParty = { ...ofApp, partnerId: undefined, firstPartyOf: 'inn', isIdOfApp: false };
    const claims = { partner_id: undefined, first_party_of: 'inn', scope: 'openid' };
    expect(await access(claims)).toEqual({ ...firstParty, scopes: undefined });
  });

  test.each([
    [undefined, 'openid'],
    [7, 'openid'],
    ['openid offline_access profiles', 'openid'],
    ['email openid', 'openid email'],
    ['openid profile', 'openid profile'],
    ['openid profile email offline_access', undefined],
  ])('limits an app with the scope %j to %j', async (scope, scopes) => {
    expect(await access({ scope })).toMatchObject({ clientId: 'app', scopes });
    expect(await verify(sign({ ...app, aud: 'app', scope }), own)).toMatchObject({ scopes });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['an access token for another audience', () => access({ aud: 'app' })],
    ['an access token for another audience too', () => access({ aud: [ISSUER, 'app'] })],
    ['an access token of no app', () => access({ client_id: undefined })],
    ['an access token of no session', () => access({ sid: undefined })],
    ['an access token whose partner is no text', () => access({ partner_id: 7 })],
    ['an access token of no partner', () => access({ partner_id: undefined })],
    ['an access token of two partners', () => access({ first_party_of: 'b' })],
    ['an ID token of no session', () => verify(sign({ aud: 'app' }), own)],
    ['an ID token for two apps', () => verify(sign({ ...app, aud: ['app', 'b'] }), own)],
    ['an ID token for two', () => verify(sign({ ...app, aud: [ISSUER, 'app'] }), own)],
    ['a token for logout', () => access({}, 'logout+jwt')],
  ])('does not issue %s', async (_, verified) => {
    expect(await verified()).toBe('unknown');
  });

  test('ends what belongs to a member, a session, an app, or a use of an app', async () => {
    const token = await sign({ aud: ISSUER, ...app }, { typ: 'at+jwt' });
    const ends = ['member:m1', 'sid:s1', 'app:m1/app', 'client:app', 'sid:s2', 'app:m2/app'];
    const outcomes = ends.map(async (subject) => {
      const { isCurrent, jwks } = createOwnTokens(
        {
          signingKeys: async () => ({ keys: SIGNERS.map(publicJwk) }),
          endedSubjects: async () => [{ subject, endedAt: NOW }],
          appOrigins: async () => [],
        },
        () => NOW,
      );
      return verify(token, { ...own, keys: jwks, isCurrent });
    });
    const current = { ...ofApp, isIdOfApp: false };
    expect(await Promise.all(outcomes)).toEqual([...Array(4).fill('revoked'), current, current]);
  });

  test('ends what a partner holds itself of a member who has left', async () => {
    const ends = ['app:m1/inn', 'app:m1/spa', 'app:m2/inn'].map(async (subject) => {
      const { isCurrent, jwks } = createOwnTokens(
        {
          signingKeys: async () => ({ keys: SIGNERS.map(publicJwk) }),
          endedSubjects: async () => [{ subject, endedAt: NOW }],
          appOrigins: async () => [],
        },
        () => NOW,
      );
      const token = await sign({ aud: ISSUER, azp: 'inn' });
      return verify(token, { ...own, keys: jwks, isCurrent });
    });
    const held = expect.objectContaining({ memberId: 'm1', partnerId: 'inn' });
    expect(await Promise.all(ends)).toEqual(['revoked', held, held]);
  });

  test('an end covers what was issued until its millisecond, or in its second if that is all that is known', async () => {
    const { isCurrent, jwks } = createOwnTokens(
      {
        signingKeys: async () => ({ keys: SIGNERS.map(publicJwk) }),
        endedSubjects: async () => [{ subject: 'member:m1', endedAt: NOW + 500 }],
        appOrigins: async () => [],
      },
      () => NOW + 1_000,
    );
    const issued = { aud: ISSUER, ...app, iat: NOW / 1_000 };
    const outcomes = [NOW + 501, NOW + 500, undefined].map(async (iat_ms) =>
      verify(sign({ ...issued, iat_ms }, { typ: 'at+jwt' }), { ...own, keys: jwks, isCurrent }),
    );
    const current = { ...ofApp, isIdOfApp: false };
    expect(await Promise.all(outcomes)).toEqual([current, 'revoked', 'revoked']);
  });

  test('an end that is dated ahead hides none that comes after it', async () => {
    const ends = [{ subject: 'member:m9', endedAt: NOW + 300_000 }];
    let now = NOW;
    const { isCurrent, jwks } = createOwnTokens(
      {
        signingKeys: async () => ({ keys: SIGNERS.map(publicJwk) }),
        endedSubjects: async (since) => ends.filter(({ endedAt }) => endedAt >= since),
        appOrigins: async () => [],
      },
      () => now,
    );
    const uptime = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const isOpen = async () => {
      await jwks.latest();
      return isCurrent({ memberId: 'm1', issuedAt: NOW / 1_000 });
    };
    expect(await isOpen()).toBe(true);
    ends.unshift({ subject: 'member:m1', endedAt: NOW });
    now += 10_000;
    expect(await isOpen()).toBe(false);
    uptime.mockRestore();
  });

  test('filling what ended: nothing of an app is kept for over an hour, and of a member for a day', async () => {
    let now = NOW;
    const ended = ['member:m1', 'sid:s1'].map((subject) => ({ subject, endedAt: NOW }));
    const { isCurrent, jwks } = createOwnTokens(
      {
        signingKeys: async () => ({ keys: SIGNERS.map(publicJwk) }),
        endedSubjects: async () => ended.splice(0),
        appOrigins: async () => [],
      },
      () => now,
    );
    const uptime = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const [issuedAt, clientId] = [NOW / 1_000 - 1, 'app'];
    const outcomesAt = async (at: number) => {
      now = at;
      await jwks.latest();
      return [
        isCurrent({ memberId: 'm1', issuedAt }),
        isCurrent({ memberId: 'm2', clientId, sid: 's1', issuedAt }),
      ];
    };
    expect(await outcomesAt(NOW)).toEqual([false, false]);
    expect(await outcomesAt(NOW + 3_600_000)).toEqual([false, false]);
    expect(await outcomesAt(NOW + 3_700_000)).toEqual([false, true]);
    expect(await outcomesAt(NOW + 25 * 3_600_000)).toEqual([true, true]);
    uptime.mockRestore();
  });
});

describe('a token is refused', () => {
  const attacks: [string, () => string | Promise<string>][] = [
    ['that is unsigned, with alg none', () => new UnsecuredJWT(CLAIMS).encode()],
    [
      'that is signed with HS256 and the public key as the secret',
      () => hmacToken({ alg: 'HS256', kid: 'rs' }),
    ],
    [
      'that is signed with HS256 while its header names RS256',
      () => hmacToken({ alg: 'RS256', kid: 'rs' }),
    ],
    ['whose algorithm is not one of the three', () => sign({}, { alg: 'PS256' }, rs)],
    ['whose algorithm is not that of the key', () => sign({}, { kid: 'ed' })],
    ['that an attacker signed with a known kid', () => sign({}, {}, attacker)],
    ['whose kid is unknown', () => sign({}, { kid: 'other' })],
    [
      'whose jku points to keys of an attacker',
      () => sign({}, { jku: 'https://evil.example/jwks.json' }, attacker),
    ],
    [
      'whose x5u points to keys of an attacker',
      () => sign({}, { x5u: 'https://evil.example/cert.pem' }, attacker),
    ],
    [
      'whose header contains the key of an attacker',
      () => sign({}, { jwk: publicJwk(attacker) }, attacker),
    ],
    [
      'whose header has an unknown critical extension',
      () => sign({}, { crit: ['x'], x: 1 } as object, es, { x: false }),
    ],
    ['of another issuer', () => sign({ iss: 'https://evil.example' })],
    ['without an issuer', () => sign({ iss: undefined })],
    ['for another audience', () => sign({ aud: 'other' })],
    ['for another audience too', () => sign({ aud: [AUDIENCE, 'other'] })],
    ['without an audience', () => sign({ aud: undefined })],
    ['without exp', () => sign({ exp: undefined })],
    ['whose exp is a string', () => sign({ exp: `${seconds + 60}` })],
    ['that expired more than 30 seconds ago', () => sign({ exp: seconds - 31 })],
    ['that is not yet valid', () => sign({ nbf: seconds + 31 })],
    ['without iat', () => sign({ iat: undefined })],
    ['that comes from the future', () => sign({ iat: seconds + 31 })],
    ['without sub', () => sign({ sub: undefined })],
    ['whose sub is not a string', () => sign({ sub: 7 })],
    ['whose sub is longer than an id', () => sign({ sub: 'm'.repeat(129) })],
    ['whose azp is not a string', () => sign({ azp: ['inn'] })],
    ['that is another kind of token of the provider', () => sign({}, { typ: 'logout+jwt' })],
    ['whose client_id is not a string', () => sign({ client_id: ['inn'] }, { typ: 'at+jwt' })],
    [
      'whose claims were changed',
      async () => (await sign()).replace(/\.[^.]+\./, `.${base64url({ ...CLAIMS, sub: 'm2' })}.`),
    ],
    ['that is truncated', async () => (await sign()).slice(0, -4)],
    ['whose signature has a blank', async () => (await sign()).replace(/(?=.{5}$)/, ' ')],
    ['that is not a token', () => 'a b.c'],
    ['that is encrypted', () => 'e30.e30.e30.e30.e30'],
    ['that is larger than 8 KiB', () => sign({ pad: 'x'.repeat(8_192) })],
  ];

  test.each(attacks)('%s', async (_, token) => {
    expect(await verify(token())).toEqual(expect.any(String));
  });

  test('without the member claim, even if objects inherit a property of its name', async () => {
    expect(await verify(sign(), { memberClaim: 'loyalty_id' })).toBe('unknown');
    expect(await verify(sign(), { memberClaim: 'constructor' })).toBe('unknown');
  });
});

function hmacToken(header: object): string {
  const secret = rs.publicKey.export({ type: 'spki', format: 'pem' });
  const text = [header, CLAIMS].map(base64url).join('.');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

test('a verified token needs no wait until it expires, and is then refused', async () => {
  let now = NOW;
  const verifier = createVerifier({ now: () => now });
  const token = await sign({ exp: seconds + 60 });
  expect(verifier.verify(token, () => false)).toBe('unverified');
  expect(verifier.verify(token)).toBeInstanceOf(Promise);
  await verifier.verify(token);
  now = NOW + 59_999;
  expect(verifier.verify(token, () => false)).toMatchObject({ memberId: 'm1' });
  now = NOW + 60_000 + 31_000;
  expect(await verifier.verify(token)).toBe('expired');
});

test('a changed copy of a verified token is refused', async () => {
  const verifier = createVerifier();
  const token = await sign();
  await verifier.verify(token);
  const last = token.at(-1) === 'A' ? 'Q' : 'A';
  expect(await verifier.verify(token.slice(0, -1) + last)).toBe('unknown');
});

test('the reason of a refusal tells a token that has expired from what is none', async () => {
  expect(await verify(sign({ exp: seconds - 31 }))).toBe('expired');
  expect(await verify(sign({ exp: seconds - 31 }, {}, attacker))).toBe('unknown');
  for (const token of ['a b.c', 'x', 'x'.repeat(8_193)])
    expect(await verify(token)).toBe('malformed');
});

describe('a key that the provider has withdrawn', () => {
  const MINUTE_MS = 60_000;

  /** A provider whose keys change, and a verifier that has seen a token of the first one. */
  async function setUp(header = {}) {
    const provider = { signers: [es], down: false };
    let time = 0;
    const keys = createJwks({
      async fetchKeys() {
        if (provider.down) throw new Error('connection refused');
        return { keys: provider.signers.map(publicJwk) };
      },
      uptime: () => time,
    });
    const verifier = createVerifier({ keys });
    const token = await sign({ exp: seconds + 2 * 86_400 }, header);
    const pass = (ms: number) => {
      time += ms;
    };
    expect(await verifier.verify(token)).toMatchObject({ memberId: 'm1' });
    return { provider, verifier, token, pass };
  }

  test('ends a token that was seen before within 10 minutes, used or not meanwhile', async () => {
    const { provider, verifier, token, pass } = await setUp();
    provider.signers = [rs];
    pass(10 * MINUTE_MS);
    expect(await verifier.verify(token)).toBe('unknown');
    expect(await verifier.verify(token)).toBe('unknown');
  });

  test.each([
    ['replaced by another with its name', {}],
    ['named by no token', { kid: undefined }],
  ])('ends it also if it is %s', async (_, header) => {
    const { provider, verifier, token, pass } = await setUp(header);
    provider.signers = [{ ...attacker }];
    pass(10 * MINUTE_MS);
    expect(await verifier.verify(token)).toBe('unknown');
  });

  test('ends no token of the keys that stay, which are verified without a wait again', async () => {
    const { provider, verifier, token, pass } = await setUp();
    provider.signers = [rs, es];
    pass(10 * MINUTE_MS);
    expect(await verifier.verify(token)).toMatchObject({ memberId: 'm1' });
    expect(verifier.verify(token)).toMatchObject({ memberId: 'm1' });
  });

  test('ends nothing while the provider is down, for 24 hours, nor makes tokens wait', async () => {
    const { provider, verifier, token, pass } = await setUp();
    provider.down = true;
    pass(10 * MINUTE_MS);
    expect(await verifier.verify(token)).toMatchObject({ memberId: 'm1' });
    pass(MINUTE_MS / 2);
    expect(verifier.verify(token)).toMatchObject({ memberId: 'm1' });
    pass(24 * 60 * MINUTE_MS);
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

test('a token is unavailable, not refused, while keys or partners cannot be read', async () => {
  const down = async () => {
    throw new Error('connection refused');
  };
  const unavailable = { code: 'SERVICE_UNAVAILABLE' };
  await expect(verify(sign(), { keys: createJwks({ fetchKeys: down }) })).rejects.toMatchObject(
    unavailable,
  );
  await expect(verify(sign({ azp: 'inn' }), { isPartner: down })).rejects.toMatchObject(
    unavailable,
  );
});
