// The public keys that ID tokens are verified with: kept, refreshed in time, and not asked for more often than useful.
import { fail } from '@partner-loyalty/runtime';
import { type CompactVerifyGetKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';

const FRESH_MS = 10 * 60_000;
const KEPT_MS = FRESH_MS + 24 * 3_600_000;
const UNKNOWN_KEY_COOLDOWN_MS = 30_000;
const NO_KEYS_COOLDOWN_MS = 1_000;
const FETCH_DEADLINE_MS = 2_000;
const MAX_BYTES = 256 * 1_024;

/** Finds a token's key by its header. Rejects where there is none, with SERVICE_UNAVAILABLE where none at all could be had. */
export type Jwks = CompactVerifyGetKey;

/**
 * A cache over `fetchKeys`. Keys older than 10 minutes are fetched again beside the requests, and go on for 24 hours more while that fails.
 * An unknown key is looked for at most once in `cooldownMs`; in between it is refused from memory. `uptime` counts milliseconds.
 */
export function createJwks({
  fetchKeys,
  cooldownMs = UNKNOWN_KEY_COOLDOWN_MS,
  uptime = () => performance.now(),
}: {
  fetchKeys: () => Promise<JSONWebKeySet>;
  cooldownMs?: number;
  uptime?: () => number;
}): Jwks {
  let keys: { find: Jwks; fetchedAt: number } | undefined;
  let underWay: Promise<void> | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  function refresh(): Promise<void> {
    if (underWay) return underWay;
    triedAt = uptime();
    underWay = fetchKeys()
      .then((set) => {
        keys = { find: createLocalJWKSet(set), fetchedAt: uptime() };
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  }

  /** Rests after each try, but lets a request share one that is under way. */
  const mayTry = (restMs: number) => underWay !== undefined || uptime() - triedAt >= restMs;

  async function usableKeys(): Promise<Jwks> {
    const age = keys ? uptime() - keys.fetchedAt : Number.POSITIVE_INFINITY;
    if (keys && age < KEPT_MS) {
      if (age >= FRESH_MS && mayTry(cooldownMs)) refresh().catch(() => {});
      return keys.find;
    }
    if (mayTry(NO_KEYS_COOLDOWN_MS))
      await refresh().catch((error) => fail('SERVICE_UNAVAILABLE', undefined, error));
    if (!keys || uptime() - keys.fetchedAt >= KEPT_MS) return fail('SERVICE_UNAVAILABLE');
    return keys.find;
  }

  return async (header, token) => {
    const find = await usableKeys();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !mayTry(cooldownMs)) throw error;
      await refresh().catch(() => {});
      return (keys?.find ?? find)(header, token);
    }
  };
}

/**
 * Fetches an external provider's keys from `jwksUrl`, or from where its discovery document says (OpenID Connect Discovery 1.0, section 4).
 * Rejects where that takes over 2 seconds a document, is over 256 KiB, redirects, or names another issuer.
 */
export async function fetchProviderKeys(issuer: string, jwksUrl?: string): Promise<JSONWebKeySet> {
  const set = await fetchJson(jwksUrl ?? (await discoverJwksUrl(issuer)));
  if (!Array.isArray(set.keys)) throw new Error('the identity provider answered with no key set');
  return { keys: set.keys };
}

async function discoverJwksUrl(issuer: string): Promise<string> {
  const found = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const url = typeof found.jwks_uri === 'string' ? found.jwks_uri : '';
  const downgraded = issuer.startsWith('https:') && !url.startsWith('https:');
  if (found.issuer !== issuer || url === '' || downgraded)
    throw new Error('the discovery document is not usable');
  return url;
}

async function fetchJson(url: string): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(FETCH_DEADLINE_MS);
  const response = await fetch(url, {
    redirect: 'error',
    headers: { accept: 'application/json' },
    signal,
  });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error('the identity provider answered with too much');
    parts.push(part);
  }
  const parsed: unknown =
    response.status === 200 ? JSON.parse(Buffer.concat(parts).toString()) : undefined;
  if (typeof parsed !== 'object' || parsed === null)
    throw new Error(`the identity provider answered ${response.status} without a JSON object`);
  return parsed as Record<string, unknown>;
}
