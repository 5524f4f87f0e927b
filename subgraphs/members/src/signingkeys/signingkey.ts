// The keys that the built-in identity provider signs with: current, next and retired ones.
import { randomBytes } from 'node:crypto';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWK } from 'jose';
import type { KeyVault, StoredPrivateKey } from './keyvault.ts';

/** A retired key has lost its private half. `retiredAt` is in milliseconds since 1970. */
export type SigningKey = { kid: string; publicKey: JWK } & (
  | { state: 'current' | 'next'; privateKey: StoredPrivateKey }
  | { state: 'retired'; retiredAt: number }
);

/** Implemented by signingkey.lmdb.ts and signingkey.mongo.ts. */
export type SigningKeyStore = KeyVault & {
  /** All keys; none before the first start. */
  keys(): MaybePromise<readonly SigningKey[]>;
  /** Replaces the keys if they are still those of `before`; false if another process was faster. */
  replace(before: readonly SigningKey[], next: readonly SigningKey[]): Promise<boolean>;
  /** The issuer of tokens: the base address that the service last started with. */
  issuer(): MaybePromise<string | undefined>;
  setIssuer(issuer: string): Promise<void>;
};

export const ID_TOKEN_LIFETIME_MS = 60 * 60_000;
/**
 * How long the last token of a retired key may outlast its lifetime, by verifiers' clocks or a
 * signature in progress.
 */
const MARGIN_MS = 60 * 60_000;
const MAX_ATTEMPTS = 20;

/** Identifies keys and their states: it changes whenever one of them does. */
export function versionOf(keys: readonly SigningKey[]): string {
  return keys.map(({ kid, state }) => `${kid}:${state}`).join(' ');
}

/**
 * Creates the first keys if there are none, and encrypts those that are not encrypted yet. If
 * several processes start at the same time, one of them does it. Rejects if the keys cannot be
 * decrypted.
 */
export async function ensureSigningKey(store: SigningKeyStore): Promise<void> {
  const before = await store.keys();
  if (before.length > 0) return sealKeys(store, before);
  await store.replace([], [await newKey(store, 'current'), await newKey(store, 'next')]);
}

async function sealKeys(store: SigningKeyStore, before: readonly SigningKey[]): Promise<void> {
  const sealed = await Promise.all(
    before.map(async (key) => {
      if (key.state === 'retired') return key;
      await store.unseal(key.privateKey);
      return { ...key, privateKey: await store.seal(key.privateKey) };
    }),
  );
  if (JSON.stringify(sealed) !== JSON.stringify(before)) await store.replace(before, sealed);
}

/**
 * Starts signing with the next key, which verifiers know already, and creates the one after it.
 * Deletes the private half of the former key; its public half stays published until an hour after
 * its last token has expired. Returns the ID of the key in use.
 */
export async function rotateSigningKey(store: SigningKeyStore, now: number): Promise<string> {
  await ensureSigningKey(store);
  const nextKey = await newKey(store, 'next');
  const kid = await change(store, (before) => [
    ...before.flatMap((key) => rotate(key, now)),
    nextKey,
  ]);
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
  return change(store, (before) => {
    const revoked = before.find((key) => key.kid === kid);
    if (revoked === undefined) return undefined;
    const kept = before.filter((key) => key !== revoked);
    if (revoked.state === 'retired') return kept;
    // Without the current key, the next one is promoted; nothing is left to retire.
    return [
      ...(revoked.state === 'current' ? kept.flatMap((key) => rotate(key, now)) : kept),
      nextKey,
    ];
  });
}

/** The keys that verify tokens, as a JWK Set (RFC 7517). */
export async function publicKeys(store: SigningKeyStore, now: number): Promise<JSONWebKeySet> {
  const keys = (await store.keys()).filter((key) => !isExpired(key, now));
  return {
    keys: keys.map(({ kid, publicKey }) => ({ ...publicKey, kid, alg: 'ES256', use: 'sig' })),
  };
}

/**
 * Replaces the keys, again if another process was faster. Returns the ID of the key in use;
 * undefined if `next` returns undefined.
 */
async function change(
  store: SigningKeyStore,
  next: (before: readonly SigningKey[]) => SigningKey[] | undefined,
): Promise<string | undefined> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const before = await store.keys();
    const changed = next(before);
    if (changed === undefined) return undefined;
    if (await store.replace(before, changed))
      return changed.find(({ state }) => state === 'current')?.kid;
  }
  throw new Error(`other processes changed the signing keys ${MAX_ATTEMPTS} times in a row`);
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
  const pair = await generateKeyPair('ES256', { extractable: true });
  const [publicKey, privateKey] = await Promise.all([
    exportJWK(pair.publicKey),
    exportJWK(pair.privateKey),
  ]);
  const kid = randomBytes(12).toString('base64url');
  return { kid, publicKey, privateKey: await store.seal(privateKey), state };
}
