// A provider's public keys for verifying ID tokens: a cache that limits how often it fetches them.
import { setTimeout } from 'node:timers/promises';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import { type CompactVerifyGetKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';

const USABLE_MS = 24 * 3_600_000;
const NO_KEYS_COOLDOWN_MS = 1_000;

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

/** How old keys may be and how often they are fetched, in milliseconds. */
type JwksTimes = {
  /** Older keys are fetched again in the background. */
  refreshAfter: number;
  /** Calls wait for a fetch of older keys, unless it fails or one has failed a moment ago. */
  waitAfter: number;
  /** The least time between two fetches, while there are keys. */
  cooldown: number;
  /** Whether a call for an unknown key waits until the next fetch is allowed. */
  waitsForUnknown: boolean;
};

/**
 * An external provider: it announces new keys well before it signs with them. One that it withdrew
 * is refused within 10 minutes.
 */
const EXTERNAL: JwksTimes = {
  refreshAfter: 5 * 60_000,
  waitAfter: 10 * 60_000,
  cooldown: 30_000,
  waitsForUnknown: false,
};

/** The built-in provider: keys and sessions that were revoked are refused within 5 seconds. */
export const BUILT_IN: JwksTimes = {
  refreshAfter: 2_000,
  waitAfter: 4_000,
  cooldown: 250,
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
  const keySet = createKeySet(fetchKeys, uptime);

  function usableKeys(): MaybePromise<Keys> {
    const { keys, ageMs } = keySet.current();
    if (keys === undefined || ageMs > USABLE_MS) return fetchKeysFirst();
    if (ageMs < times.refreshAfter) return keys;
    const refreshed = keySet.refresh(times.cooldown)?.catch(() => {});
    const waits = ageMs >= times.waitAfter && keySet.sinceFailureMs() >= 2 * times.cooldown;
    if (refreshed === undefined || !waits) return keys;
    return refreshed.then(() => keySet.current().keys ?? keys);
  }

  async function fetchKeysFirst(): Promise<Keys> {
    await keySet
      .refresh(NO_KEYS_COOLDOWN_MS)
      ?.catch((error) => fail('SERVICE_UNAVAILABLE', undefined, { cause: error }));
    const { keys, ageMs } = keySet.current();
    return keys && ageMs <= USABLE_MS ? keys : fail('SERVICE_UNAVAILABLE');
  }

  /** Fetches the keys for one that is unknown; false if the last fetch was too recent. */
  async function fetchUnknown(): Promise<boolean> {
    let refreshed = keySet.refresh(times.cooldown);
    while (refreshed === undefined && times.waitsForUnknown) {
      // A timer may fire a little early.
      await setTimeout(keySet.cooldownLeft(times.cooldown) + 1);
      refreshed = keySet.refresh(times.cooldown);
    }
    await refreshed?.catch(() => {});
    return refreshed !== undefined;
  }

  return {
    async find(header, token) {
      const { find } = await usableKeys();
      try {
        return await find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !(await fetchUnknown())) throw error;
        return (keySet.current().keys?.find ?? find)(header, token);
      }
    },
    latest: usableKeys,
  };
}

type Keys = { find: CompactVerifyGetKey; text: string };

/** The latest keys, and the one fetch of them that may be in flight. */
function createKeySet(fetchKeys: () => Promise<JSONWebKeySet>, uptime: () => number) {
  let keys: Keys | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<void> | undefined;

  async function fetchNow(): Promise<void> {
    triedAt = uptime();
    const fetched = await fetchKeys().catch((error) => {
      failedAt = uptime();
      throw error;
    });
    const text = JSON.stringify(fetched.keys);
    if (text !== keys?.text) keys = { find: createLocalJWKSet(fetched), text };
    fetchedAt = triedAt;
  }

  return {
    current: () => ({ keys, ageMs: uptime() - fetchedAt }),
    sinceFailureMs: () => uptime() - failedAt,
    cooldownLeft: (cooldownMs: number) => Math.max(0, triedAt + cooldownMs - uptime()),
    /** Joins the fetch in flight or starts one; undefined if the last one was too recent. */
    refresh(cooldownMs: number): Promise<void> | undefined {
      if (inFlight === undefined && uptime() - triedAt >= cooldownMs)
        inFlight = fetchNow().finally(() => {
          inFlight = undefined;
        });
      return inFlight;
    },
  };
}
