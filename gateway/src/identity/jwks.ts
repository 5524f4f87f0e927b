// A provider's public keys for verifying ID tokens: a cache that limits how often it fetches them.
import { setTimeout } from 'node:timers/promises';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { type CompactVerifyGetKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import { createFreshRecords, type FreshTimes } from './freshrecords.ts';

const NO_KEYS_COOLDOWN_MS = 1_000;
const USABLE_MS = 24 * 3_600_000;
const COMMON = { outageMs: USABLE_MS + 1, deadlineMs: 30_000 };

export type Jwks = {
  /**
   * Finds a token's key by the token's header. Rejects if there is none; with SERVICE_UNAVAILABLE
   * if the keys could not be fetched at all.
   */
  find: CompactVerifyGetKey;
  /**
   * Stands for the latest keys: the same object as long as they stay the same. A promise if they
   * have to be fetched first; rejects as `find` does.
   */
  latest(): MaybePromise<object>;
};

/** `retryMs` is the least time between two fetches, while there are keys. */
type JwksTimes = FreshTimes & {
  /** Whether a call for an unknown key waits until the next fetch is allowed. */
  waitsForUnknown: boolean;
};

/**
 * An external provider: it announces new keys well before it signs with them. One that it withdrew
 * is refused within 10 minutes.
 */
const EXTERNAL: JwksTimes = {
  ...COMMON,
  refreshMs: 5 * 60_000,
  staleMs: 10 * 60_000,
  retryMs: 30_000,
  noWaitMs: 60_000,
  waitsForUnknown: false,
};

/** The built-in provider: keys and sessions that were revoked are refused within 5 seconds. */
export const BUILT_IN: JwksTimes = {
  ...COMMON,
  refreshMs: 2_000,
  staleMs: 4_000,
  retryMs: 250,
  noWaitMs: 500,
  waitsForUnknown: true,
};

/**
 * A cache over `fetchKeys`. While fetching fails, keys stay usable for 24 hours. Between
 * fetches, an unknown key is refused from memory. `uptime` counts milliseconds.
 */
export function createJwks({
  fetchKeys,
  times = EXTERNAL,
  uptime = () => performance.now(),
}: {
  fetchKeys: () => Promise<JSONWebKeySet>;
  times?: JwksTimes;
  uptime?: () => number;
}): Jwks {
  let keys: Keys | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetchedAt = Number.NEGATIVE_INFINITY;

  async function fetchAgain(): Promise<Keys> {
    const isUsable = uptime() - fetchedAt <= USABLE_MS;
    if (!isUsable && uptime() - triedAt < NO_KEYS_COOLDOWN_MS)
      throw new Error('the keys could not be fetched a moment ago');
    triedAt = uptime();
    const fetched = await fetchKeys();
    const text = JSON.stringify(fetched.keys);
    if (text !== keys?.text) keys = { find: createLocalJWKSet(fetched), text };
    fetchedAt = triedAt;
    return keys;
  }

  const kept = { caches: createCaches(), weigh: () => 1, log: { outage() {} } };
  const records = createFreshRecords({ find: fetchAgain, times, uptime, ...kept }, () => {});
  const latest = () => mapMaybe(records.find(''), (found) => found ?? fail('SERVICE_UNAVAILABLE'));

  /** Fetches the keys for one that is unknown; false if the last fetch was too recent. */
  async function fetchUnknown(): Promise<boolean> {
    const cooldownLeftMs = () => triedAt + times.retryMs - uptime();
    while (records.reading('') === undefined && cooldownLeftMs() > 0) {
      if (!times.waitsForUnknown) return false;
      // A timer may fire a little early.
      await setTimeout(cooldownLeftMs() + 1);
    }
    await records.read('');
    return true;
  }

  return {
    async find(header, token) {
      const { find } = await latest();
      try {
        return await find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !(await fetchUnknown())) throw error;
        return (keys?.find ?? find)(header, token);
      }
    },
    latest,
  };
}

type Keys = { find: CompactVerifyGetKey; text: string };
