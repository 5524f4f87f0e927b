// Finds partner keys in a cache, which it trusts for a limited time (docs/contract.md, Keys).
import { type Caches, type MaybePromise, type Metrics, mapMaybe } from '@partner-loyalty/runtime';
import { hashKey } from './apikey.ts';
import { createKeyCache, type Entry, type Key, type KeyRead } from './keycache.ts';
import type { KeyStore } from './keystore.ts';

// A revoked key stops within STALE_MS. A look-up from REFRESH_MS on reads the key again in the
// background, so that no look-up of a busy key waits.
const REFRESH_MS = 2_500;
const STALE_MS = 5_000;
// While the store fails, a key stays valid for OUTAGE_MS after its last successful read. A failed
// read is retried after RETRY_MS, and look-ups within NO_WAIT_MS of it do not wait for the retry;
// that is below STALE_MS, so that a revocation takes effect in time after an outage.
export const OUTAGE_MS = 60_000;
const RETRY_MS = 500;
const NO_WAIT_MS = 4_000;

export type Keyring = {
  /**
   * The valid key with this text; undefined if it is unknown, revoked or expired. Returns the
   * plain value unless it has to wait for the store. A new key works at once. A key stops at its
   * expiry, and within 5 seconds of its revocation. Fails with SERVICE_UNAVAILABLE, after at most
   * 2 seconds, if the store does not respond and has not confirmed the key for 60 seconds.
   */
  find(text: string): MaybePromise<Key | undefined>;
  /** When the last read that found a key began, on `uptime`'s clock. */
  lastReadAt(): number;
};

/** `now` is the time in milliseconds since 1970; `uptime` counts milliseconds and never jumps. */
export function createKeyring({
  store,
  caches,
  metrics = { keyCache() {} },
  now = Date.now,
  uptime = () => performance.now(),
}: {
  store: Pick<KeyStore, 'keyByHash'>;
  caches: Caches;
  metrics?: Pick<Metrics, 'keyCache'>;
  now?: () => number;
  uptime?: () => number;
}): Keyring {
  const cache = createKeyCache(store, caches, uptime);

  function findCached(hash: string, entry: Entry, state: State): MaybePromise<Key | undefined> {
    if (state === 'failing') return counted(entry.key, 'stale');
    const read = cache.read(hash);
    if (read instanceof Promise && state === 'aging') return counted(entry.key, 'hit');
    if (read instanceof Promise && state === 'retrying') return counted(entry.key, 'stale');
    return mapMaybe(read, (result) => {
      if ('key' in result) return counted(result.key, 'miss');
      if (state === 'expired') throw result.error;
      return counted(entry.key, 'stale');
    });
  }

  function findUncached(hash: string): MaybePromise<Key | undefined> {
    metrics.keyCache('miss');
    const joined = cache.inFlight(hash);
    if (joined === undefined) return mapMaybe(cache.read(hash), keyOrThrow);
    // The joined read may have begun before the key was created: if it found none, read again.
    return joined.then(keyOrThrow).then((key) => key ?? mapMaybe(cache.read(hash), keyOrThrow));
  }

  function counted<T extends Key | undefined>(key: T, outcome: 'hit' | 'miss' | 'stale'): T {
    metrics.keyCache(outcome);
    return key;
  }

  function unlessExpired(key: Key | undefined): Key | undefined {
    return key?.expiresAt === undefined || key.expiresAt.getTime() > now() ? key : undefined;
  }

  return {
    find(text) {
      const hash = hashKey(text);
      const entry = cache.get(hash);
      if (entry === undefined) return mapMaybe(findUncached(hash), unlessExpired);
      const state = stateOf(entry, uptime());
      if (state === 'fresh') return unlessExpired(counted(entry.key, 'hit'));
      return mapMaybe(findCached(hash, entry, state), unlessExpired);
    },
    lastReadAt: cache.lastReadAt,
  };
}

/**
 * - fresh: use the entry.
 * - aging: use it, and read the key in the background.
 * - stale: wait for a read, and use the entry only if that fails.
 * - failing: use the entry, since a read failed a moment ago.
 * - retrying: use the entry, since a read failed recently, and read the key in the background.
 * - expired: wait for a read; the entry is no longer valid.
 *
 * A synchronous store responds without a wait, so every state that reads uses its response.
 */
type State = 'fresh' | 'aging' | 'stale' | 'failing' | 'retrying' | 'expired';

function stateOf({ readAt, failedAt }: Entry, time: number): State {
  const age = time - readAt;
  if (age < REFRESH_MS) return 'fresh';
  if (age >= OUTAGE_MS) return 'expired';
  const sinceFailure = time - failedAt;
  if (sinceFailure < RETRY_MS) return 'failing';
  if (sinceFailure < NO_WAIT_MS) return 'retrying';
  return age < STALE_MS ? 'aging' : 'stale';
}

function keyOrThrow(read: KeyRead): Key | undefined {
  if ('error' in read) throw read.error;
  return read.key;
}
