// Identifying the caller from the request headers.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { createRefusals } from '../budget/refusals.ts';
import { DEFAULT_SCOPES, EVERY_SCOPE, scopeBits, scopeNames } from '../schema/scopes.ts';
import { openKeyStore } from '../stores.ts';
import { hashKey, issueKey, newKey } from './apikey.ts';
import { type Authenticate, createAuthenticator, createMcpAuthenticator } from './authenticate.ts';
import type { MemberToken, TokenVerifier } from './idtoken.ts';
import { createKeyring } from './keyring.ts';
import type { KeyEndpoint, KeyStore } from './keystore.ts';

const AT = new Date('2026-03-04T05:06:07Z');
const expiresAt = new Date(8_000_000_000_000);
const TOKENS: Record<string, MemberToken> = {
  good: { memberId: 'm1', expiresAt },
  'of-out': { memberId: 'm1', partnerId: 'out', expiresAt },
  'of-inn': { memberId: 'm1', partnerId: 'inn', expiresAt },
  limited: { memberId: 'm1', partnerId: 'inn', scopes: 'openid', expiresAt },
  'first-party': { memberId: 'm2', firstPartyOf: 'inn', clientId: 'c', expiresAt },
};
const tokens: TokenVerifier = { verify: (token) => TOKENS[token] ?? 'expired' };

let folder: { path: string; remove(): void };
let store: KeyStore;
let from: Authenticate;
let fromMcp: Authenticate;
const authenticate = (headers: Parameters<Authenticate>[0], address = '192.0.2.1') =>
  from(headers, { address });
const [inn, spa, revoked, expired, reader, listed, assistant, foreign, ended, elsewhere] = [
  issueKey('sandbox', 'inn', AT),
  issueKey('sandbox', 'spa', AT),
  issueKey('sandbox', 'inn', AT),
  issueKey('sandbox', 'inn', AT, { expiresAt: AT }),
  issueKey('sandbox', 'inn', AT, { scopes: ['read', 'ingest'] }),
  issueKey('sandbox', 'spa', AT, { allow: ['10.0.0.0/8', '::ffff:172.16.0.0/108', 'fd00::/8'] }),
  issueKey('sandbox', 'inn', AT, { endpoint: 'mcp' }),
  newKey('production'),
  issueKey('sandbox', 'inn', AT, { endpoint: 'mcp', expiresAt: AT }),
  issueKey('sandbox', 'inn', AT, { endpoint: 'mcp', allow: ['10.0.0.0/8'] }),
] as const;

beforeAll(async () => {
  folder = temporaryFolder();
  store = await openKeyStore({ dataDir: folder.path, environment: 'sandbox' });
  await store.createPartner({ partnerId: 'inn', name: 'Inn', budget: 7, createdAt: AT });
  await store.createPartner({ partnerId: 'spa', name: 'Spa', createdAt: AT });
  const issued = [inn, spa, revoked, expired, reader, listed, assistant, ended, elsewhere];
  for (const { record } of issued) await store.createKey(record);
  await store.revokeKey(revoked.record.keyId, AT);
  const keys = {
    environment: 'sandbox',
    keyring: createKeyring({
      store,
      caches: createCaches(),
      log: createLog('silent'),
      refusals: createRefusals(60),
    }),
    keyBudget: 600,
  } as const;
  from = createAuthenticator({
    ...keys,
    tokens,
    isSuspended: (partnerId) => partnerId === 'out',
    isOver: () => false,
  });
  fromMcp = createMcpAuthenticator(keys);
});

afterAll(async () => {
  await store.close();
  folder.remove();
});

const key = { policy: 'key', surface: 'partner', scopes: scopeBits(DEFAULT_SCOPES) };
const member = { policy: 'member', surface: 'member', scopes: EVERY_SCOPE, budget: 120 };

test('a key makes its partner the principal, with its own or the default budget', () => {
  for (const [{ key: text, record }, partnerId, budget, authorization] of [
    [inn, 'inn', 7, ''],
    [spa, 'spa', 600, 'Basic dTpw'],
    [spa, 'spa', 600, 'Bearer '],
  ] as const) {
    const id = record.keyId;
    const caller = { kind: 'partner', partnerId, keyId: id };
    const principal = { ...key, id, caller, budget, owner: partnerId, isSuspended: false };
    const headers = { 'x-partner-api-key': text, authorization };
    expect(authenticate(headers)).toEqual({ kind: 'principal', principal });
  }
});

test.each<[string, object, string, string]>([
  ['Bearer good', {}, 'm1', 'member m1'],
  ['bearer good', {}, 'm1', 'member m1'],
  ['BEARER  good', {}, 'm1', 'member m1'],
  ['Bearer of-inn', { partnerId: 'inn' }, 'm1\ninn', 'inn'],
  ['Bearer limited', { partnerId: 'inn', scopes: 'openid' }, 'm1\ninn', 'inn'],
])(
  '%s makes its member the principal, restricted to a partner that it names',
  (authorization, more, id, owner) => {
    const caller = { kind: 'member', memberId: 'm1', ...more };
    const principal = { ...member, id, caller, owner, isSuspended: false };
    expect(authenticate({ authorization, 'x-partner-api-key': '' })).toEqual({
      kind: 'principal',
      principal,
    });
  },
);

test('a partner gets one share for the members’ tokens of its apps too', () => {
  expect(authenticate({ authorization: 'Bearer first-party' })).toMatchObject({
    principal: { owner: 'inn' },
  });
});

test.each([
  {},
  { 'x-partner-api-key': '' },
  { authorization: '' },
  { authorization: 'Bearer' },
  { authorization: 'Basic dTpw' },
  { 'x-api-key': 'pk_test_0123456789ABCDEFGHIJKLMNOPQRST4PMbyp' },
])('no credential: %j', (headers) => {
  expect(authenticate(headers)).toEqual({ kind: 'none' });
});

test.each([
  ['unknown', 'unknown', newKey('sandbox'), undefined],
  ['revoked', 'revoked', revoked.key, revoked.record],
  ['expired', 'expired', expired.key, expired.record],
  ['malformed', 'malformed', `${inn.key}0`, undefined],
  ['sent twice', 'malformed', `${inn.key}, ${inn.key}`, undefined],
  [
    'of the other environment but with a wrong checksum',
    'malformed',
    foreign.slice(0, -1) + (foreign.endsWith('0') ? '1' : '0'),
    undefined,
  ],
])('a key that is %s is refused, as %s, with its ID if it exists', (_, reason, key, record) => {
  const { keyId, partnerId } = record ?? {};
  const expected = { kind: 'refused', reason, keyId, partnerId };
  expect(authenticate({ 'x-partner-api-key': key })).toEqual(expected);
});

test('a token that is not valid is refused', () => {
  const expected = { kind: 'refused', reason: 'expired' };
  expect(authenticate({ authorization: 'Bearer bad' })).toEqual(expected);
});

test('a well-formed key of the other environment is reported before anything else', () => {
  expect(authenticate({ 'x-partner-api-key': foreign })).toEqual({ kind: 'mismatch' });
  expect(authenticate({ 'x-partner-api-key': foreign, authorization: 'Bearer good' })).toEqual({
    kind: 'mismatch',
  });
});

test('a key and a token together are ambiguous, valid or not', () => {
  for (const key of [inn.key, revoked.key, newKey('sandbox'), 'nonsense']) {
    for (const authorization of ['Bearer good', 'Bearer bad']) {
      const { keyId } = inn.record;
      expect(authenticate({ 'x-partner-api-key': key, authorization })).toEqual({
        kind: 'ambiguous',
        principal: key === inn.key ? expect.objectContaining({ id: keyId }) : undefined,
        refused: key === inn.key ? undefined : expect.objectContaining({ kind: 'refused' }),
      });
    }
  }
});

test('the principal of a suspended partner is marked, by its key and by a token it holds', async () => {
  await store.createPartner({ partnerId: 'out', name: 'Out', suspendedAt: AT, createdAt: AT });
  const { key, record } = issueKey('sandbox', 'out', AT);
  await store.createKey(record);
  for (const headers of [{ 'x-partner-api-key': key }, { authorization: 'Bearer of-out' }])
    expect(authenticate(headers)).toMatchObject({ principal: { isSuspended: true } });
});

test.each([
  ['10.0.0.1', 'principal'],
  ['10.255.255.255', 'principal'],
  ['::ffff:10.1.2.3', 'principal'],
  ['172.31.255.255', 'principal'],
  ['fd12::1', 'principal'],
  ['11.0.0.1', 'refused'],
  ['172.32.0.0', 'refused'],
  ['fe80::1', 'refused'],
  ['unknown', 'refused'],
  ['', 'refused'],
])('a key with a list of addresses, used from %j: %s', (address, kind) => {
  const headers = { 'x-partner-api-key': listed.key };
  const refused = { reason: 'address', keyId: listed.record.keyId, partnerId: 'spa' };
  expect(authenticate(headers, address)).toMatchObject({
    kind,
    ...(kind === 'refused' && refused),
  });
  expect(authenticate({ ...headers, authorization: 'Bearer x' }, address)).toMatchObject({
    kind: 'ambiguous',
    principal: kind === 'principal' ? expect.anything() : undefined,
  });
});

test('an MCP key is the credential of its endpoint alone, and reads', () => {
  const found = fromMcp({ 'x-api-key': assistant.key }, { address: '192.0.2.1' });
  expect(found).toMatchObject({
    kind: 'principal',
    principal: { id: assistant.record.keyId, surface: 'partner', budget: 7, policy: 'key' },
  });
  if (!('principal' in found) || found.principal === undefined) throw new Error('the key is valid');
  expect(scopeNames(found.principal.scopes)).toEqual(['read']);
  for (const key of [assistant.key, newKey('production', 'mcp')])
    expect(authenticate({ 'x-partner-api-key': key })).toMatchObject({ kind: 'refused' });
});

test.each([
  ['none', 'no key', {}],
  ['none', 'a partner key in its own header', { 'x-partner-api-key': inn.key }],
  ['none', 'a bearer token', { authorization: 'Bearer good' }],
  ['refused', 'a partner key', { 'x-api-key': inn.key }],
  ['refused', 'a partner key of the other environment', { 'x-api-key': foreign }],
  ['refused', 'an unknown key', { 'x-api-key': newKey('sandbox', 'mcp') }],
  ['refused', 'an expired key', { 'x-api-key': ended.key }],
  ['refused', 'a key from an address that is not on its list', { 'x-api-key': elsewhere.key }],
  ['mismatch', 'a key of the other environment', { 'x-api-key': newKey('production', 'mcp') }],
])('%s at /mcp: %s', (kind, _, headers) => {
  expect(fromMcp(headers, { address: '192.0.2.1' })).toMatchObject({ kind });
});

test('a key is refused where its record does not belong, whatever its text says', async () => {
  const [forMcp, forGraphql] = [newKey('sandbox', 'mcp'), newKey('sandbox')];
  const records: [string, KeyEndpoint | undefined][] = [
    [forMcp, undefined],
    [forGraphql, 'mcp'],
  ];
  for (const [text, endpoint] of records) {
    const { record } = issueKey('sandbox', 'inn', AT, { endpoint });
    await store.createKey({ ...record, hash: hashKey(text) });
  }
  const refused = { kind: 'refused', reason: 'unknown' };
  expect(fromMcp({ 'x-api-key': forMcp }, { address: '192.0.2.1' })).toEqual(refused);
  expect(authenticate({ 'x-partner-api-key': forGraphql })).toEqual(refused);
});
