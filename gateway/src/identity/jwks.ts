// A provider's public keys for verifying ID tokens: a cache that limits how often it fetches them.
import { fail } from '@partner-loyalty/runtime';
import { type CompactVerifyGetKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';

const FRESH_MS = 10 * 60_000;
const USABLE_MS = FRESH_MS + 24 * 3_600_000;
const REFRESH_COOLDOWN_MS = 30_000;
const NO_KEYS_COOLDOWN_MS = 1_000;

/**
 * Finds a token's key by the token's header. Rejects if there is none; with SERVICE_UNAVAILABLE if
 * the keys could not be fetched at all.
 */
export type Jwks = CompactVerifyGetKey;

/**
 * A cache over `fetchKeys`. Keys older than 10 minutes are fetched again in the background, and
 * stay usable for another 24 hours while that fails. An unknown key triggers a fetch at most once
 * in 30 seconds; between fetches it is refused from memory. `uptime` counts milliseconds.
 */
export function createJwks({
  fetchKeys,
  uptime = () => performance.now(),
}: {
  fetchKeys: () => Promise<JSONWebKeySet>;
  uptime?: () => number;
}): Jwks {
  const keySet = createKeySet(fetchKeys, uptime);

  async function usableKeys(): Promise<Jwks> {
    const { find, ageMs } = keySet.current();
    if (find && ageMs < USABLE_MS) {
      if (ageMs >= FRESH_MS) keySet.refresh(REFRESH_COOLDOWN_MS)?.catch(() => {});
      return find;
    }
    await keySet
      .refresh(NO_KEYS_COOLDOWN_MS)
      ?.catch((error) => fail('SERVICE_UNAVAILABLE', undefined, error));
    const fetched = keySet.current();
    return fetched.find && fetched.ageMs < USABLE_MS ? fetched.find : fail('SERVICE_UNAVAILABLE');
  }

  return async (header, token) => {
    const find = await usableKeys();
    try {
      return await find(header, token);
    } catch (error) {
      const refresh =
        error instanceof errors.JWKSNoMatchingKey && keySet.refresh(REFRESH_COOLDOWN_MS);
      if (!refresh) throw error;
      await refresh.catch(() => {});
      return (keySet.current().find ?? find)(header, token);
    }
  };
}

/** The latest keys, and the one fetch of them that may be in flight. */
function createKeySet(fetchKeys: () => Promise<JSONWebKeySet>, uptime: () => number) {
  let find: Jwks | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<void> | undefined;

  async function fetchNow(): Promise<void> {
    triedAt = uptime();
    find = createLocalJWKSet(await fetchKeys());
    fetchedAt = uptime();
  }

  return {
    current: () => ({ find, ageMs: uptime() - fetchedAt }),
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
