// The keys that the built-in identity provider signs with: current, next and retired ones.
import { randomBytes } from 'node:crypto';
import type { MaybePromise } from '@partner-loyalty/runtime';
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWK } from 'jose';

/** A retired key has lost its private half. `retiredAt` is in milliseconds since 1970. */
export type SigningKey = { kid: string; publicKey: JWK } & (
  | { state: 'current' | 'next'; privateKey: JWK }
  | { state: 'retired'; retiredAt: number }
);

/** Implemented by signingkey.lmdb.ts and signingkey.mongo.ts. */
export type SigningKeyStore = {
  /** All keys; none before the first start. */
  keys(): MaybePromise<readonly SigningKey[]>;
  /** Replaces the keys if they are still those of `before`; false if another process was faster. */
  replace(before: readonly SigningKey[], next: readonly SigningKey[]): Promise<boolean>;
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
 * Creates the first keys if there are none. If several processes start at the same time, one of
 * them creates the keys.
 */
export async function ensureSigningKey(store: SigningKeyStore): Promise<void> {
  if ((await store.keys()).length > 0) return;
  await store.replace([], [await newKey('current'), await newKey('next')]);
}

/**
 * Starts signing with the next key, which verifiers know already, and creates the one after it.
 * Deletes the private half of the former key; its public half stays published until an hour after
 * its last token has expired. Returns the ID of the key in use.
 */
export async function rotateSigningKey(store: SigningKeyStore, now: number): Promise<string> {
  const nextKey = await newKey('next');
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    await ensureSigningKey(store);
    const before = await store.keys();
    const rotated = before.flatMap((key) => rotate(key, now));
    const current = rotated.find(({ state }) => state === 'current');
    if (current && (await store.replace(before, [...rotated, nextKey]))) return current.kid;
  }
  throw new Error(`other processes changed the signing keys ${MAX_ATTEMPTS} times in a row`);
}

/** The keys that verify tokens, as a JWK Set (RFC 7517). */
export async function publicKeys(store: SigningKeyStore, now: number): Promise<JSONWebKeySet> {
  const keys = (await store.keys()).filter((key) => !isExpired(key, now));
  return {
    keys: keys.map(({ kid, publicKey }) => ({ ...publicKey, kid, alg: 'ES256', use: 'sig' })),
  };
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

async function newKey(state: 'current' | 'next'): Promise<SigningKey> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const [publicKey, privateKey] = await Promise.all([
    exportJWK(pair.publicKey),
    exportJWK(pair.privateKey),
  ]);
  return { kid: randomBytes(12).toString('base64url'), publicKey, privateKey, state };
}
