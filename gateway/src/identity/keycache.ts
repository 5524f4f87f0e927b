// A cache of keys and the reads that fill it: look-ups share a read, and each has a deadline.
import {
  ApiError,
  addressCheck,
  type Caches,
  type MaybePromise,
  withTimeout,
} from '@partner-loyalty/runtime';
import { DEFAULT_SCOPES, type ScopeBits, scopeBits } from '../planning/scopes.ts';
import type { FoundKey, KeyStore } from './keystore.ts';

const DEADLINE_MS = 2_000;
/** Measured (test/memory), with ids of 128 characters. */
const BYTES_PER_KEY = 1_024;
/** Of an address list: a parsed IPv6 address has eight numbers. */
const BYTES_PER_RANGE = 512;

/** A key that is not revoked, with its partner's budget. */
export type Key = {
  keyId: string;
  partnerId: string;
  budget?: number | undefined;
  expiresAt?: Date | undefined;
  scopes: ScopeBits;
  /** Undefined if every address may use the key. */
  allowed?: AddressList | undefined;
};

type AddressList = { ranges: number; has(address: string): boolean };

/** `readAt` is when the read that found the key began, `failedAt` when a later read failed. */
export type Entry = { key: Key; readAt: number; failedAt: number };

/** What a read found, undefined if the key is unknown or revoked; or why it failed. */
export type KeyRead = { key: Key | undefined } | { error: ApiError };

export type KeyCache = {
  get(hash: string): Entry | undefined;
  /**
   * Joins the read in flight or starts one, which updates the entry. Returns the plain value if the
   * store is synchronous. Never throws or rejects: a failure is the value SERVICE_UNAVAILABLE.
   */
  read(hash: string): MaybePromise<KeyRead>;
  inFlight(hash: string): Promise<KeyRead> | undefined;
  /** When the last read that found a key began. */
  lastReadAt(): number;
};

/**
 * `uptime` counts milliseconds and never jumps.
 *
 * lru-cache's own `fetch` does not fit: it returns a promise even for a hit, has one TTL for both
 * refresh and expiry, and joins a read that began before a key was created.
 */
export function createKeyCache(
  store: Pick<KeyStore, 'keyByHash'>,
  caches: Caches,
  uptime: () => number,
): KeyCache {
  const entries = caches.open<Entry>(weigh);
  const reads = new Map<string, Promise<KeyRead>>();
  let lastReadAt = Number.NEGATIVE_INFINITY;

  function start(hash: string): MaybePromise<KeyRead> {
    const readAt = uptime();
    const succeeded = (found: FoundKey | undefined) => keep(hash, validKey(found), readAt);
    const failed = (error: unknown) => keepFailure(hash, error);
    try {
      const found = store.keyByHash(hash);
      if (!(found instanceof Promise)) return succeeded(found);
      const read = withTimeout(found, DEADLINE_MS, timeoutError)
        .then(succeeded, failed)
        .finally(() => reads.delete(hash));
      reads.set(hash, read);
      return read;
    } catch (error) {
      return failed(error);
    }
  }

  function keep(hash: string, key: Key | undefined, readAt: number): KeyRead {
    if (key === undefined) {
      entries.delete(hash);
    } else {
      entries.set(hash, { key, readAt, failedAt: Number.NEGATIVE_INFINITY });
      lastReadAt = readAt;
    }
    return { key };
  }

  function keepFailure(hash: string, cause: unknown): KeyRead {
    const entry = entries.peek(hash);
    if (entry) entry.failedAt = uptime();
    return { error: new ApiError('SERVICE_UNAVAILABLE', undefined, { cause }) };
  }

  return {
    get: (hash) => entries.get(hash),
    read: (hash) => reads.get(hash) ?? start(hash),
    inFlight: (hash) => reads.get(hash),
    lastReadAt: () => lastReadAt,
  };
}

function validKey(found: FoundKey | undefined): Key | undefined {
  if (found === undefined || found.key.revokedAt !== undefined) return undefined;
  const { keyId, partnerId, expiresAt, scopes = DEFAULT_SCOPES, allow } = found.key;
  return {
    keyId,
    partnerId,
    budget: found.partner.budget,
    expiresAt,
    scopes: scopeBits(scopes),
    allowed: allow && { ranges: allow.length, has: addressCheck(allow) },
  };
}

function weigh({ key: { allowed } }: Entry): number {
  return BYTES_PER_KEY + (allowed?.ranges ?? 0) * BYTES_PER_RANGE;
}

function timeoutError(): Error {
  return new Error('the key store did not respond in time');
}
