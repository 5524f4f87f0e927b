// Tells which partner key a text is: a bounded cache in front of the key store that keeps the contract's times (section 2).
import {
  fail,
  type MaybePromise,
  type Metrics,
  mapMaybe,
  withTimeout,
} from '@partner-loyalty/runtime';
import { LRUCache } from 'lru-cache';
import { hashKey } from './apikey.ts';
import type { FoundKey, KeyStore } from './keystore.ts';

// A revoked key stops within STALE_MS. From REFRESH_MS on the store is asked again beside the requests, so that none of a busy key waits.
const REFRESH_MS = 2_500;
const STALE_MS = 5_000;
const READ_DEADLINE_MS = 2_000;
// While the store cannot be asked: how long a key goes on after it was last read, how often it is tried again beside the requests, and how
// long a failed try spares requests the wait for another one. The last is below STALE_MS: a revocation after the outage counts in time.
const OUTAGE_MS = 60_000;
const RETRY_MS = 500;
const SPARED_MS = 4_000;
const MAX_KEYS = 10_000;

/** A key that is not revoked, and what counts of its partner. */
export type Key = { keyId: string; partnerId: string; budget?: number; expiresAt?: Date };

export type Keyring = {
  /**
   * The valid key with this text; undefined where it is unknown, revoked or expired. The plain value wherever no store has to be waited for.
   * A key works as soon as it is created and stops at its expiry, and within 5 seconds of its revocation. Fails with SERVICE_UNAVAILABLE,
   * after at most 2 seconds, where the store cannot be asked and did not confirm the key in the last 60 seconds.
   */
  find(text: string): MaybePromise<Key | undefined>;
};

/** `readAt` is when the read that found the key was begun: what it told was true then or later. `failedAt` is when a later read failed. */
type Entry = { key: Key; readAt: number; failedAt: number };

/** `now` is the time in milliseconds since 1970; `uptime` counts milliseconds and never jumps. */
export function createKeyring({
  store,
  metrics = { keyCache() {} },
  now = Date.now,
  uptime = () => performance.now(),
}: {
  store: Pick<KeyStore, 'keyByHash'>;
  metrics?: Pick<Metrics, 'keyCache'>;
  now?: () => number;
  uptime?: () => number;
}): Keyring {
  const entries = new LRUCache<string, Entry>({ max: MAX_KEYS });
  const reads = new Map<string, Promise<Key | undefined>>();

  function find(text: string): MaybePromise<Key | undefined> {
    const hash = hashKey(text);
    const entry = entries.get(hash);
    if (entry === undefined) return mapMaybe(findUnseen(hash), unexpired);
    const age = uptime() - entry.readAt;
    if (age >= REFRESH_MS) return mapMaybe(findSeen(hash, entry, age), unexpired);
    metrics.keyCache('hit');
    return unexpired(entry.key);
  }

  function findUnseen(hash: string): MaybePromise<Key | undefined> {
    metrics.keyCache('miss');
    const underWay = reads.get(hash);
    // One that began before this request may have missed a key created in between: its "unknown" is asked once more.
    return underWay ? underWay.then((key) => key ?? reads.get(hash) ?? read(hash)) : read(hash);
  }

  function findSeen(
    hash: string,
    { key, failedAt }: Entry,
    age: number,
  ): MaybePromise<Key | undefined> {
    const sinceFailure = uptime() - failedAt;
    const goOn = (error?: unknown): Key => {
      if (age >= OUTAGE_MS) throw error;
      metrics.keyCache('stale');
      return key;
    };
    const asked = (found: Key | undefined) => {
      metrics.keyCache('miss');
      return found;
    };
    if (sinceFailure < RETRY_MS && age < OUTAGE_MS) return goOn();
    try {
      const answer = reads.get(hash) ?? read(hash);
      if (!(answer instanceof Promise)) return asked(answer);
      const spared = sinceFailure < SPARED_MS && age < OUTAGE_MS;
      if (age >= STALE_MS && !spared) return answer.then(asked, goOn);
      answer.catch(() => {}); // This request does not wait for it.
      if (spared) return goOn();
      metrics.keyCache('hit');
      return key;
    } catch (error) {
      return goOn(error);
    }
  }

  function read(hash: string): MaybePromise<Key | undefined> {
    const readAt = uptime();
    try {
      const answer = store.keyByHash(hash);
      if (!(answer instanceof Promise)) return keep(hash, readAt, answer);
      const kept = withTimeout(
        answer,
        READ_DEADLINE_MS,
        () => new Error('the key store did not answer in time'),
      )
        .then((found) => keep(hash, readAt, found))
        .catch((error) => failed(hash, error))
        .finally(() => reads.delete(hash));
      reads.set(hash, kept);
      return kept;
    } catch (error) {
      return failed(hash, error);
    }
  }

  function keep(hash: string, readAt: number, found: FoundKey | undefined): Key | undefined {
    if (found === undefined || found.key.revokedAt !== undefined) {
      entries.delete(hash);
      return undefined;
    }
    const { keyId, partnerId, expiresAt } = found.key;
    const key = { keyId, partnerId, budget: found.partner.budget, expiresAt };
    entries.set(hash, { key, readAt, failedAt: Number.NEGATIVE_INFINITY });
    return key;
  }

  function failed(hash: string, error: unknown): never {
    const entry = entries.peek(hash);
    if (entry) entry.failedAt = uptime();
    return fail('SERVICE_UNAVAILABLE', undefined, error);
  }

  function unexpired(key: Key | undefined): Key | undefined {
    return key?.expiresAt === undefined || key.expiresAt.getTime() > now() ? key : undefined;
  }

  return { find };
}
