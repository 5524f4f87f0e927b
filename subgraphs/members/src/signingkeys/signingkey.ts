// The keys that the built-in identity provider signs with: one in use, the next one published ahead, retired ones published until their tokens are gone.

import { randomBytes } from 'node:crypto';
import type { MaybePromise } from '@partner-loyalty/runtime';
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWK } from 'jose';
import { ID_TOKEN_LIFETIME_MS } from './idtoken.ts';

/** Of a retired key only the public half is left. `retiredAt` counts milliseconds since 1970. */
export type SigningKey = { kid: string; publicKey: JWK } & (
  | { state: 'current' | 'next'; privateKey: JWK }
  | { state: 'retired'; retiredAt: number }
);

export type SigningKeyStore = {
  /** All of them; none before the first start. */
  keys(): MaybePromise<readonly SigningKey[]>;
  /** Sets them, where they are still those of `before`; false where another process came first. */
  replace(before: readonly SigningKey[], next: readonly SigningKey[]): Promise<boolean>;
};

/** Names keys and their states, so that it changes whenever one of them does. */
export function versionOf(keys: readonly SigningKey[]): string {
  return keys.map(({ kid, state }) => `${kid}:${state}`).join(' ');
}

/** What verifiers' clocks and a signature under way may add to the lifetime of a retired key's last token. */
const MARGIN_MS = 60 * 60_000;
const MAX_ATTEMPTS = 20;

/** Makes the first keys where there are none. Of several processes that start at once, one makes them. */
export async function ensureSigningKey(store: SigningKeyStore): Promise<void> {
  if ((await store.keys()).length > 0) return;
  await store.replace([], [await newKey('current'), await newKey('next')]);
}

/**
 * From now on signs with the key that has been published ahead, so verifiers know it already, and makes the one after it. The private half of
 * the former key is deleted, its public half published until an hour after its last token has expired. Returns the id of the key in use.
 */
export async function rotateSigningKey(store: SigningKeyStore, now: number): Promise<string> {
  const made = await newKey('next');
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    await ensureSigningKey(store);
    const before = await store.keys();
    const rotated = before.flatMap((key) => turn(key, now));
    const current = rotated.find(({ state }) => state === 'current');
    if (current && (await store.replace(before, [...rotated, made]))) return current.kid;
  }
  throw new Error(`the signing keys were changed by others ${MAX_ATTEMPTS} times in a row`);
}

/** The keys that verify tokens, as a JWK Set (RFC 7517). */
export async function publicKeys(store: SigningKeyStore, now: number): Promise<JSONWebKeySet> {
  const keys = (await store.keys()).filter((key) => !isGone(key, now));
  return {
    keys: keys.map(({ kid, publicKey }) => ({ ...publicKey, kid, alg: 'ES256', use: 'sig' })),
  };
}

function turn(key: SigningKey, now: number): SigningKey[] {
  const { kid, publicKey } = key;
  if (key.state === 'current') return [{ kid, publicKey, state: 'retired', retiredAt: now }];
  if (key.state === 'next') return [{ ...key, state: 'current' }];
  return isGone(key, now) ? [] : [key];
}

function isGone(key: SigningKey, now: number): boolean {
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
