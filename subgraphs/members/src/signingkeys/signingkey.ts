// The keys that the built-in identity provider signs with: current, next and retired ones.
import { randomBytes } from 'node:crypto';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { createVault } from '@partner-loyalty/runtime/store/vault.ts';
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWK } from 'jose';

/** A retired key has lost its private half. `retiredAt` is in milliseconds since 1970. */
export type SigningKey = { kid: string; publicKey: JWK } & (
  | { state: 'current' | 'next'; privateKey: StoredPrivateKey }
  | { state: 'retired'; retiredAt: number }
);

export const ID_TOKEN_LIFETIME_MS = 60 * 60_000;
/**
 * How long the last token of a retired key may outlast its lifetime, by verifiers' clocks or a
 * signature in progress.
 */
const MARGIN_MS = 60 * 60_000;

/**
 * The former version signs with ES256 and the keys in `provider`, the row with the issuer, where it
 * could not use any for RS256.
 */
const ROWS = ['provider-rs256', 'provider'] as const;
type Row = (typeof ROWS)[number];
type Provider = { id: Row; keys: readonly SigningKey[]; issuer?: string | undefined };

export const SIGNING_KEYS: TableDefinition<Provider> = { name: 'signingkeys', id: 'id' };

export type SigningKeyStore = Awaited<ReturnType<typeof openSigningKeys>>;

export async function openSigningKeys(open: OpenTable, vault: KeyVault) {
  const table = await open(SIGNING_KEYS);
  const keysIn = async (id: Row) => (await table.get(id))?.keys ?? [];
  return {
    ...vault,
    keysIn,
    /** All keys, those in use first; none before the first start. */
    keys: async () => (await Promise.all(ROWS.map(keysIn))).flat(),
    /**
     * Replaces the keys of a row by what `next` makes of them, unless that is undefined. Resolves
     * with the keys that it has stored, if any. `next` may be called several times.
     */
    async change(
      id: Row,
      next: (before: readonly SigningKey[]) => SigningKey[] | undefined,
    ): Promise<readonly SigningKey[] | undefined> {
      const changed = await table.update(id, (before) => {
        const keys = next(before?.keys ?? []);
        return keys === undefined ? before : { ...before, id, keys };
      });
      return changed?.keys;
    },
    /** The issuer of tokens: the base address that the service last started with. */
    issuer: () => mapMaybe(table.get('provider'), (provider) => provider?.issuer),
    async setIssuer(issuer: string): Promise<void> {
      await table.update('provider', (before) => ({
        id: 'provider',
        keys: [],
        ...before,
        issuer,
      }));
    },
  };
}

/** Stock libraries expect it of a provider (OpenID Connect Core, section 15.1). */
export const ALGORITHM = 'RS256';

/**
 * Creates the first keys if there are none; encrypts those that are not encrypted yet. If several
 * processes start at the same time, one of them does it. Rejects if the keys cannot be decrypted.
 */
export async function ensureSigningKey(store: SigningKeyStore): Promise<void> {
  for (const id of ROWS) await sealKeys(store, id);
  if ((await store.keysIn('provider-rs256')).length > 0) return;
  const first = await Promise.all([newKey(store, 'current'), newKey(store, 'next')]);
  await store.change('provider-rs256', (now) => (now.length === 0 ? first : undefined));
}

async function sealKeys(store: SigningKeyStore, id: Row): Promise<void> {
  const before = await store.keysIn(id);
  const sealed = await Promise.all(
    before.map(async (key) => {
      if (key.state === 'retired') return key;
      await store.unseal(key.privateKey);
      return { ...key, privateKey: await store.seal(key.privateKey) };
    }),
  );
  const known = JSON.stringify(before);
  if (JSON.stringify(sealed) !== known)
    await store.change(id, (now) => (JSON.stringify(now) === known ? sealed : undefined));
}

/**
 * Starts signing with the next key, which verifiers know already, and creates the one after it.
 * Deletes the private half of the former key; its public half stays published until an hour after
 * its last token has expired. Returns the ID of the key in use.
 */
export async function rotateSigningKey(store: SigningKeyStore, now: number): Promise<string> {
  await ensureSigningKey(store);
  const nextKey = await newKey(store, 'next');
  const changed = await store.change('provider-rs256', (before) => [
    ...before.flatMap((key) => rotate(key, now)),
    nextKey,
  ]);
  // The former version is not expected to sign any more.
  await store.change('provider', (before) =>
    before.flatMap((key) => (key.state === 'next' ? [] : rotate(key, now))),
  );
  const kid = currentKid(changed);
  if (kid === undefined) throw new Error('there is no signing key');
  return kid;
}

/**
 * Takes a key out: tokens that it signed are no longer valid. The next key takes the place of the
 * current one. Returns the ID of the key in use; undefined if there is no such key.
 */
export async function revokeSigningKey(
  store: SigningKeyStore,
  kid: string,
  now: number,
): Promise<string | undefined> {
  const nextKey = await newKey(store, 'next');
  const revokeIn = (id: Row, added: SigningKey[]) =>
    store.change(id, (before) => {
      const revoked = before.find((key) => key.kid === kid);
      if (revoked === undefined) return undefined;
      const kept = before.filter((key) => key !== revoked);
      if (revoked.state === 'retired') return kept;
      // Without the current key, the next one is promoted; nothing is left to retire.
      return [
        ...(revoked.state === 'current' ? kept.flatMap((key) => rotate(key, now)) : kept),
        ...added,
      ];
    });
  const changed = (await revokeIn('provider-rs256', [nextKey])) ?? (await revokeIn('provider', []));
  return changed && currentKid(await store.keys());
}

/** The keys that verify tokens, as a JWK Set (RFC 7517). */
export async function publicKeys(store: SigningKeyStore, now: number): Promise<JSONWebKeySet> {
  const keys = (await store.keys()).filter((key) => !isExpired(key, now));
  return {
    keys: keys.map(({ kid, publicKey }) => ({
      ...publicKey,
      kid,
      alg: publicKey.kty === 'RSA' ? ALGORITHM : 'ES256',
      use: 'sig',
    })),
  };
}

function currentKid(keys: readonly SigningKey[] = []): string | undefined {
  return keys.find(({ state }) => state === 'current')?.kid;
}

function rotate(key: SigningKey, now: number): SigningKey[] {
  const { kid, publicKey } = key;
  if (key.state === 'current') return [{ kid, publicKey, state: 'retired', retiredAt: now }];
  if (key.state === 'next') return [{ ...key, state: 'current' }];
  return isExpired(key, now) ? [] : [key];
}

/** Whether every token that the key signed has expired. */
function isExpired(key: SigningKey, now: number): boolean {
  return key.state === 'retired' && key.retiredAt + ID_TOKEN_LIFETIME_MS + MARGIN_MS <= now;
}

async function newKey(store: KeyVault, state: 'current' | 'next'): Promise<SigningKey> {
  const pair = await generateKeyPair(ALGORITHM, { extractable: true });
  const [publicKey, privateKey] = await Promise.all([
    exportJWK(pair.publicKey),
    exportJWK(pair.privateKey),
  ]);
  // Commands would take one with a hyphen at its beginning for an option.
  const kid = randomBytes(8).toString('hex');
  return { kid, publicKey, privateKey: await store.seal(privateKey), state };
}

/** A private key as it is stored: a JWE (RFC 7516) in compact form, or the JWK itself. */
type StoredPrivateKey = JWK | { jwe: string };

export type KeyVault = ReturnType<typeof createKeyVault>;

/** Without `key`, 32 bytes in Base64, keys are stored as they are. */
export function createKeyVault(key: string | undefined) {
  const vault = key === undefined ? undefined : createVault(key);
  return {
    async seal(privateKey: StoredPrivateKey): Promise<StoredPrivateKey> {
      if (vault === undefined || isSealed(privateKey)) return privateKey;
      return { jwe: await vault.seal(JSON.stringify(privateKey)) };
    },
    /** Rejects if it was encrypted with another KEY_ENCRYPTION_KEY, or this one is not set. */
    async unseal(stored: StoredPrivateKey): Promise<JWK> {
      if (!isSealed(stored)) return stored;
      if (vault === undefined)
        throw new Error('the signing keys are encrypted: set KEY_ENCRYPTION_KEY');
      try {
        return JSON.parse(await vault.unseal(stored.jwe));
      } catch (cause) {
        throw new Error('the signing keys are encrypted with another KEY_ENCRYPTION_KEY', {
          cause,
        });
      }
    },
  };
}

function isSealed(stored: StoredPrivateKey): stored is { jwe: string } {
  return 'jwe' in stored;
}
