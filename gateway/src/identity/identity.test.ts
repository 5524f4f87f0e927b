// Who calls: keys, ID tokens, staff.

import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Table } from '@partner-loyalty/runtime/store/table.ts';
import fc from 'fast-check';
import type { JSONWebKeySet, JWK } from 'jose';
import { withFakeDate } from '../../../test/support/clock.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { type OpenedTables, openTables } from '../../../test/support/store/tables.ts';
import { anyText } from '../../../test/support/text.ts';
import { openKeyStore } from '../stores.ts';
import { hashKey, issueKey, newKey, parseKey } from './apikey.ts';
import { createJwks } from './jwks.ts';
import type { KeyStore, Partner } from './keystore.ts';
import { createOnce, OUTCOMES, type Outcome, type SentForm } from './outcomes.ts';
import { fetchProviderKeys } from './providerkeys.ts';
import {
  changeRole,
  inviteStaff,
  listStaff,
  MAX_STAFF,
  NotAdminError,
  placesOf,
  removeStaff,
  type StaffRole,
  type StaffTables,
} from './staff.ts';
import { createSuspensions } from './suspensions.ts';

// The format of keys.

const environment = fc.constantFrom('sandbox' as const, 'production' as const);

test.each([
  ['sandbox', 'graphql', /^pk_test_[0-9A-Za-z]{36}$/],
  ['sandbox', 'mcp', /^mk_test_[0-9A-Za-z]{36}$/],
  ['production', 'graphql', /^pk_live_[0-9A-Za-z]{36}$/],
  ['production', 'mcp', /^mk_live_[0-9A-Za-z]{36}$/],
] as const)(
  'a key for %s at %s has its prefix, and is malformed elsewhere',
  (env, endpoint, form) => {
    const key = newKey(env, endpoint);
    expect(key).toMatch(form);
    expect(parseKey(key, endpoint)).toEqual({ environment: env });
    expect(parseKey(key, endpoint === 'mcp' ? 'graphql' : 'mcp')).toBeUndefined();
  },
);

test('the checksum is the CRC32 of the 30 characters, in base62 with leading zeros', () => {
  // Computed apart from this code, with Python's zlib: 0xf0c344af and 0x000204fd.
  expect(parseKey('pk_test_0123456789ABCDEFGHIJKLMNOPQRST4PMbyp')).toEqual({
    environment: 'sandbox',
  });
  expect(parseKey('pk_test_000000000000000000000000037127000YQf')).toEqual({
    environment: 'sandbox',
  });
  expect(parseKey('pk_test_0123456789ABCDEFGHIJKLMNOPQRST4PMbyq')).toBeUndefined();
});

test('a key with one changed character is malformed', () => {
  const other = fc.constantFrom(
    ...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_- é',
  );
  fc.assert(
    fc.property(environment, fc.nat(43), other, (env, at, character) => {
      const key = newKey(env);
      const changed = key.slice(0, at) + character + key.slice(at + 1);
      fc.pre(changed !== key);
      expect(parseKey(changed)).toBeUndefined();
    }),
  );
});

test('malformed: other lengths, white space, two keys joined, any other string', () => {
  const key = newKey('sandbox');
  for (const text of [
    '',
    'pk_test_',
    key.slice(1),
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    `${key}, ${key}`,
    key.toUpperCase(),
  ]) {
    expect(parseKey(text)).toBeUndefined();
  }
  fc.assert(fc.property(anyText({ maxLength: 100 }), (text) => parseKey(text) === undefined));
});

test('the record of an issued key has its hash and last four characters, not the key', () => {
  const at = new Date('2026-01-02T03:04:05Z');
  const { key, record } = issueKey('production', 'hotel', at);
  expect(parseKey(key)).toEqual({ environment: 'production' });
  expect(record).toEqual({
    keyId: expect.stringMatching(/^key_[0-9A-Za-z]{16}$/),
    partnerId: 'hotel',
    hash: hashKey(key),
    lastFour: key.slice(-4),
    createdAt: at,
  });
  expect(JSON.stringify(record)).not.toContain(key.slice(8));
  const limits = { expiresAt: at, scopes: ['read' as const], allow: ['10.0.0.0/8'] };
  expect(issueKey('production', 'hotel', at, limits).record).toMatchObject(limits);
});

// The cache of a provider's keys.
describe('jwks', () => {
  const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };
  const TOKEN = { payload: '', signature: '' };
  const newJwk = (kid: string): JWK => ({
    ...(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
      format: 'jwk',
    }) as JWK),
    kid,
  });

  /** A provider that can be down, a cache of its keys, and a clock. */
  function setUp() {
    const provider = { keys: [newJwk('a')], down: false, fetches: 0 };
    let time = 0;
    const fetchKeys = async (): Promise<JSONWebKeySet> => {
      provider.fetches += 1;
      await new Promise(setImmediate);
      if (provider.down) throw new Error('connection refused');
      return { keys: provider.keys };
    };
    const jwks = createJwks({ fetchKeys, uptime: () => time });
    const find = (kid: string) => Promise.resolve(jwks.find({ alg: 'ES256', kid }, TOKEN));
    const pass = (ms: number) => {
      time += ms;
    };
    return { provider, find, latest: jwks.latest, pass };
  }

  const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

  test('concurrent look-ups share one fetch, and later ones are served from memory', async () => {
    const { provider, find } = setUp();
    await Promise.all(Array.from({ length: 20 }, () => find('a')));
    await find('a');
    expect(provider.fetches).toBe(1);
  });

  test('a key that the provider added is found for the first token that names it', async () => {
    const { provider, find, pass } = setUp();
    await find('a');
    provider.keys = [newJwk('a'), newJwk('b')];
    pass(30_000);
    await Promise.all([find('b'), find('b')]);
    expect(provider.fetches).toBe(2);
  });

  test('a flood of unknown kids is refused from memory', async () => {
    const { provider, find, pass } = setUp();
    await find('a');
    pass(30_000);
    for (let i = 0; i < 100; i++) {
      pass(100);
      await expect(find(`x${i}`)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    }
    expect(provider.fetches).toBe(2);
  });

  test('keys in use are fetched every 5 minutes, without a wait', async () => {
    const { provider, find, latest, pass } = setUp();
    await find('a');
    provider.keys = [newJwk('b')];
    pass(5 * 60_000);
    const before = latest();
    expect(before).not.toBeInstanceOf(Promise);
    await settled();
    expect(provider.fetches).toBe(2);
    expect(latest()).not.toBe(before);
  });

  test('an unknown kid is refused while a provider with known keys is down', async () => {
    const { provider, find, pass } = setUp();
    await find('a');
    provider.down = true;
    pass(30_000);
    await expect(find('b')).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });

  test('without any keys, the provider is queried at most once a second', async () => {
    const { provider, find, pass } = setUp();
    provider.down = true;
    for (let i = 0; i < 20; i++) {
      await expect(find('a')).rejects.toMatchObject(UNAVAILABLE);
      pass(100);
    }
    expect(provider.fetches).toBe(2);
  });
});

// A form that is sent twice, at several gateways on one store, while processes fail.

const SECRET = 'pk_test_secret';
const PAGE: HttpResponse = {
  status: 200,
  headers: { 'set-cookie': ['a=b', 'c=d'], 'referrer-policy': 'same-origin' },
  body: `<p>${SECRET}</p>`,
};

describe('on the embedded store', () => {
  let place: ReturnType<typeof emptyPlace>;
  let store: OpenedTables;
  let table: Table<Outcome>;
  let gateways: ReturnType<typeof createOnce>[];
  beforeAll(async () => {
    place = emptyPlace();
    store = await openTables(place.settings, [OUTCOMES]);
    table = await store.open(OUTCOMES);
    gateways = [createOnce(async () => table), createOnce(async () => table)];
  });
  afterAll(async () => {
    await store.close();
    await place.release();
  });

  let made = 0;
  const newForm = (): SentForm => {
    made += 1;
    const key = Buffer.alloc(32, made).toString('base64');
    return { formId: `form-${made}`, key, client: 'c', isSignedIn: false };
  };
  const send = (form: SentForm, handle: Parameters<(typeof gateways)[0]>[1], gateway = 0) =>
    (gateways[gateway] ?? createOnce(async () => table))(form, handle);
  const never = () => Promise.reject(new Error('handled twice'));

  test('leads where it led first, cookies included, at every gateway', async () => {
    const form = newForm();
    expect(await send(form, async () => PAGE)).toEqual(PAGE);
    expect([await send(form, never), await send(form, never, 1)]).toEqual([PAGE, PAGE]);
    const redirect = { status: 303, headers: { location: '/account' }, body: '' };
    const other = newForm();
    await send(other, async () => redirect);
    expect(await send(other, never, 1)).toEqual(redirect);
  });

  test('is handled once while it is still being handled, here and elsewhere', async () => {
    const form = newForm();
    let finish = (_: HttpResponse) => {};
    let times = 0;
    const handle = () => {
      times += 1;
      return new Promise<HttpResponse>((resolve) => {
        finish = resolve;
      });
    };
    const sent = [0, 1, 0, 1].map((gateway) => send(form, handle, gateway));
    while (times === 0) await new Promise(setImmediate);
    finish(PAGE);
    expect(await Promise.all(sent)).toEqual([PAGE, PAGE, PAGE, PAGE]);
    expect(times).toBe(1);
  });

  test.each([400, 503])('can be sent again after a %i', async (status) => {
    const form = newForm();
    expect((await send(form, async () => ({ ...PAGE, status }))).status).toBe(status);
    expect(await send(form, async (isAgain) => ({ ...PAGE, body: `${isAgain}` }))).toEqual({
      ...PAGE,
      body: 'false',
    });
  });

  test('can be sent again after what it asks for has failed', async () => {
    const form = newForm();
    await expect(send(form, () => Promise.reject(new Error('outage')))).rejects.toThrow('outage');
    expect(await send(form, async () => PAGE, 1)).toEqual(PAGE);
  });

  test('says so to the next process if one was killed, whose work nobody knows', async () => {
    const form = newForm();
    const [now, { formId }] = [Date.now(), form];
    await table.put({ formId, expiresAt: now + 60_000, busyUntil: now });
    expect(await send(form, async (isAgain) => ({ ...PAGE, body: `${isAgain}` }))).toMatchObject({
      body: 'true',
    });
    expect(await send(form, never, 1)).toMatchObject({ body: 'true' });
  });

  test('a duplicate that is handled too late leaves the first outcome', async () => {
    const form = newForm();
    const { formId } = form;
    const late = await send(form, async () => {
      await table.put({ formId, expiresAt: Date.now() + 60_000, busyUntil: 0 });
      expect(await send(form, async () => PAGE, 1)).toEqual(PAGE);
      return { ...PAGE, status: 410 };
    });
    expect(late.status).toBe(410);
    expect(await send(form, never)).toEqual(PAGE);
  });

  test('is forgotten after a minute', () =>
    withFakeDate(async (advance) => {
      const form = newForm();
      await send(form, async () => PAGE);
      advance(59_000);
      expect(await send(form, never)).toEqual(PAGE);
      advance(2_000);
      const later = { ...PAGE, body: 'later' };
      expect(await send(form, async () => later)).toEqual(later);
    }));

  test('what is stored says nothing, and opens with no other key', async () => {
    const form = newForm();
    await send(form, async () => PAGE);
    const stored = await table.get(form.formId);
    expect(Object.keys(stored ?? {}).sort()).toEqual([
      'busyUntil',
      'expiresAt',
      'formId',
      'sealed',
    ]);
    expect(JSON.stringify(stored)).not.toMatch(/pk_test|a=b/);
    const key = Buffer.alloc(32, 99).toString('base64');
    await expect(send({ ...form, key }, never)).rejects.toThrow();
  });

  test('floods and large pages are handled, and not kept', async () => {
    await table.removeWhere(() => true);
    const flood = createOnce(async () => table);
    const forms = Array.from({ length: 125 }, () => ({ ...newForm(), client: 'd' }));
    await Promise.all(forms.map((form) => flood(form, async () => PAGE)));
    expect(await table.count('expiresAt')).toBe(120);
    const large = { ...PAGE, body: 'x'.repeat(300_000) };
    const form = newForm();
    expect(await send(form, async () => large)).toEqual(large);
    expect(await table.get(form.formId)).toBeUndefined();
  });

  test('without the store, forms are handled as they come', async () => {
    const once = createOnce(() => Promise.reject(new Error('down')));
    expect(await once(newForm(), async () => PAGE)).toEqual(PAGE);
  });
});

// Fetching an external identity provider's keys.
describe('providerkeys', () => {
  const KEY_SET = { keys: [{ kty: 'EC', crv: 'P-256', kid: 'a' }] };

  let handler: RequestListener;
  let issuer: string;
  const server = createServer((request, response) => handler(request, response));

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const json =
    (body: unknown, status = 200): RequestListener =>
    (_, response) =>
      void response.writeHead(status).end(JSON.stringify(body));

  const discovery =
    (metadata: object): RequestListener =>
    (request, response) =>
      json(
        request.url === '/.well-known/openid-configuration'
          ? { issuer, jwks_uri: `${issuer}/keys`, ...metadata }
          : KEY_SET,
      )(request, response);

  test('keys are fetched by discovery, or from the configured address', async () => {
    handler = discovery({});
    expect(await fetchProviderKeys(issuer)).toEqual(KEY_SET);
    handler = json(KEY_SET);
    expect(await fetchProviderKeys(issuer, `${issuer}/jwks`)).toEqual(KEY_SET);
  });

  test.each([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['without an address', { jwks_uri: undefined }],
  ])('a discovery document %s is refused', async (_, metadata) => {
    handler = discovery(metadata);
    await expect(fetchProviderKeys(issuer)).rejects.toThrow('not usable');
  });

  test.each<[string, RequestListener]>([
    ['another status code', json(KEY_SET, 500)],
    ['no key set', json({ keys: {} })],
    ['no JSON object', json(null)],
    ['no JSON', (_, response) => void response.end('<html>')],
    ['more than 256 KiB', json({ ...KEY_SET, pad: 'x'.repeat(256 * 1_024) })],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/other' }).end()],
  ])('a provider is refused that sends %s', async (_, respond) => {
    handler = respond;
    await expect(fetchProviderKeys(issuer, `${issuer}/jwks`)).rejects.toThrow();
  });

  test.each<[string, RequestListener]>([
    ['nothing for over 2 seconds', () => {}],
    ['a response that never ends', (_, response) => void response.write('{"keys":[')],
  ])('a provider is refused that sends %s', async (_, respond) => {
    handler = respond;
    const after = AbortSignal.timeout.bind(AbortSignal);
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => after(ms / 20));
    await expect(fetchProviderKeys(issuer, `${issuer}/jwks`)).rejects.toThrow('timeout');
    expect(timeout).toHaveBeenCalledWith(2_000);
    timeout.mockRestore();
  });
});

// Partners' staff of the key store.

describe('staff', () => {
  let keys: KeyStore;
  let tables: StaffTables;
  let release: () => unknown;
  beforeEach(async () => {
    const place = emptyPlace();
    release = place.release;
    keys = await openKeyStore({ ...place.settings, environment: 'sandbox' });
    tables = await keys.staffTables();
  });
  afterEach(async () => {
    await keys.close();
    await release();
  });

  async function invite(partnerId: string, email: string, role: StaffRole = 'viewer') {
    const invited = await inviteStaff(tables, { partnerId, email, role });
    if (typeof invited === 'string') throw new Error(invited);
    return invited;
  }
  const listed = async (partnerId: string) =>
    (await listStaff(tables, partnerId)).map(({ email, role }) => `${email} ${role}`);
  const session = (sessionId: string, address: string, staffId?: string) =>
    tables.sessions.put({ sessionId, address, staffId, expiresAt: Date.now() + 60_000 });

  test('inviting again, in any spelling and at the same time, changes the role alone', async () => {
    const first = await Promise.all(
      ['ada@example.com', 'ADA@example.com', 'ada@EXAMPLE.com'].map((email) =>
        invite('inn', email),
      ),
    );
    const again = await invite('inn', 'Ada@example.com', 'admin');
    expect(new Set(first.map(({ staffId }) => staffId))).toEqual(new Set([again.staffId]));
    expect(again.role).toBe('admin');
    expect(await listed('inn')).toHaveLength(1);
  });

  test('what is no address is refused, and a staff of 200 is full', async () => {
    for (const email of ['', 'ada', 'ada@b c.example'])
      expect(await inviteStaff(tables, { partnerId: 'inn', email, role: 'admin' })).toBe('invalid');
    for (let n = 0; n < MAX_STAFF; n += 1) await invite('inn', `${n}@example.com`);
    const more = { partnerId: 'inn', email: 'more@example.com', role: 'viewer' } as const;
    expect(await inviteStaff(tables, more)).toBe('full');
    expect(await invite('inn', '7@example.com', 'admin')).toMatchObject({ role: 'admin' });
    expect(await invite('spa', 'more@example.com')).toMatchObject({ role: 'viewer' });
  });

  test('removing ends the sessions there, and nothing for another partner', async () => {
    const inn = await invite('inn', ' Ada@Example.com ', 'admin');
    const spa = await invite('spa', 'ada@example.com');
    expect(inn).toMatchObject({ email: 'Ada@Example.com', role: 'admin' });
    expect(await placesOf(tables, 'ada@example.com')).toEqual([inn, spa]);
    await session('at inn', 'ada@example.com', inn.staffId);
    await session('at spa', 'ada@example.com', spa.staffId);
    await session('not chosen', 'ada@example.com');
    expect(await removeStaff(tables, inn.staffId, 'spa')).toBe(false);
    expect(await listed('inn')).toEqual(['Ada@Example.com admin']);
    expect(await removeStaff(tables, inn.staffId)).toBe(true);
    expect(await removeStaff(tables, inn.staffId)).toBe(false);
    const left = await tables.sessions.select(() => true);
    expect(left.map(({ sessionId }) => sessionId)).toEqual(['at spa', 'not chosen']);
    expect([await listed('inn'), await listed('in')]).toEqual([[], []]);
    expect(await placesOf(tables, 'ada@example.com')).toEqual([spa]);
    expect((await invite('inn', 'ada@example.com')).staffId).not.toBe(inn.staffId);
  });

  test('whoever is no admin any more changes nothing', async () => {
    const ada = await invite('inn', 'ada@example.com', 'admin');
    const bob = await invite('inn', 'bob@example.com', 'admin');
    await invite('inn', 'ada@example.com', 'viewer');
    const [of, by] = [{ staffId: ada.staffId, role: 'admin' as const }, [ada.staffId]];
    const eve = { partnerId: 'inn', email: 'eve@example.com', role: 'admin' } as const;
    await expect(changeRole(tables, of, by)).rejects.toThrow(NotAdminError);
    await expect(inviteStaff(tables, eve, by)).rejects.toThrow(NotAdminError);
    await expect(removeStaff(tables, bob.staffId, 'inn', by)).rejects.toThrow(NotAdminError);
    expect(await listed('inn')).toEqual(['ada@example.com viewer', 'bob@example.com admin']);
    expect(await changeRole(tables, of, [bob.staffId])).toBe(true);
    await removeStaff(tables, ada.staffId, 'inn', [bob.staffId]);
    await expect(changeRole(tables, of, by)).rejects.toThrow(NotAdminError);
    expect(await changeRole(tables, of, [bob.staffId])).toBe(false);
    expect(await placesOf(tables, 'ada@example.com')).toEqual([]);
  });

  test('two admins who remove each other at once do not both succeed', async () => {
    const ada = await invite('inn', 'ada@example.com', 'admin');
    const bob = await invite('inn', 'bob@example.com', 'admin');
    const removals = [
      removeStaff(tables, ada.staffId, 'inn', [bob.staffId]),
      removeStaff(tables, bob.staffId, 'inn', [ada.staffId]),
    ];
    const states = (await Promise.allSettled(removals)).map(({ status }) => status);
    expect(states.sort()).toEqual(['fulfilled', 'rejected']);
    expect(await listed('inn')).toHaveLength(1);
  });

  test('whoever is removed while being invited is staff or not, and never half', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { staffId } = await invite('inn', 'ada@example.com');
      await Promise.all([removeStaff(tables, staffId), invite('inn', 'ada@example.com', 'admin')]);
      expect(await listStaff(tables, 'inn')).toEqual(await placesOf(tables, 'ada@example.com'));
    }
  });
});

// Whether a token's partner is suspended: found by one read for all requests of a few seconds.
describe('suspensions', () => {
  const AT = new Date('2026-03-04T05:06:07Z');

  function setUp() {
    const partners = new Map<string, Partner>();
    const source = { reads: 0, fails: false };
    let time = 0;
    const isSuspended = createSuspensions(
      {
        async partner(partnerId) {
          source.reads += 1;
          if (source.fails) throw new Error('connection refused');
          return partners.get(partnerId);
        },
      },
      createCaches(),
      { outage() {} },
      () => time,
    );
    const put = (suspendedAt?: Date) =>
      partners.set('inn', { partnerId: 'inn', name: 'Inn', createdAt: AT, suspendedAt });
    const pass = (ms: number) => {
      time += ms;
    };
    return { isSuspended, put, source, pass };
  }

  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('a thousand requests cost one read, and a suspension shows within 5 seconds', async () => {
    const { isSuspended, put, source, pass } = setUp();
    put();
    expect(await isSuspended('inn')).toBe(false);
    for (let n = 0; n < 1_000; n += 1) expect(isSuspended('inn')).toBe(false);
    expect(source.reads).toBe(1);

    put(AT);
    pass(5_000);
    expect(await isSuspended('inn')).toBe(true);
    put();
    pass(2_500);
    expect(isSuspended('inn')).toBe(true);
    await settled();
    expect(isSuspended('inn')).toBe(false);
    expect(source.reads).toBe(3);
  });

  test('while the store is away, what was read in the last 60 seconds counts, and nothing else', async () => {
    const { isSuspended, put, source, pass } = setUp();
    put(AT);
    await isSuspended('inn');
    expect([await isSuspended('nobody'), isSuspended('nobody')]).toEqual([false, false]);
    source.fails = true;
    pass(59_000);
    expect(await isSuspended('inn')).toBe(true);
    pass(1_000);
    await expect(isSuspended('inn')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await expect(isSuspended('spa')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});
