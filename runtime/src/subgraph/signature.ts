// Signed requests from the gateway to a subgraph: HMAC-SHA256 over all that decides the answer, fresh, and good for one use.
import {
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { HEADERS } from '../http/headers.ts';

/** `path` includes the query string. `scopes` is the text of the header that names on whose behalf the request asks. */
export type SignedParts = { method: string; path: string; scopes: string; body: string | Buffer };

const WINDOW_MS = 30_000;
/** About 40 bytes each. Above it the oldest second is forgotten, and requests signed in it are refused from then on. */
const MOST_SEEN = 500_000;
const TIME = HEADERS.subgraphTime.name;
const NONCE = HEADERS.subgraphNonce.name;
const SCOPES = HEADERS.subgraphScopes.name;
const SIGNATURE = HEADERS.subgraphSignature.name;

/** Gives the headers that sign a request. No two requests of a signer are signed alike. */
export function createSigner(
  secret: string,
  now: () => number = Date.now,
): (parts: SignedParts) => Record<string, string> {
  const key = keyOf(secret);
  const start = randomBytes(9).toString('base64url');
  let count = 0;
  return (parts) => {
    const time = String(now());
    const nonce = `${start}-${(count++).toString(36)}`;
    return {
      [TIME]: time,
      [NONCE]: nonce,
      [SCOPES]: parts.scopes,
      [SIGNATURE]: digest(key, parts, time, nonce),
    };
  };
}

/** What a verifier is asked: first whether the headers can be those of a signed request, before its body is read, then whether they are. */
export type Verifier = {
  plausible(headers: IncomingHttpHeaders): boolean;
  /** True once for each request that was signed with one of the secrets at most 30 seconds ago. */
  verify(headers: IncomingHttpHeaders, parts: Omit<SignedParts, 'scopes'>): boolean;
};

/** Verifies requests against every secret, so that one can be changed for another without a gap. Remembers what it has let through. */
export function createVerifier(secrets: readonly string[], now: () => number = Date.now): Verifier {
  const keys = secrets.map(keyOf);
  const seen = new Map<number, Set<number>>();
  let size = 0;
  let floorMs = 0;

  const fresh = (timeMs: number) => timeMs >= floorMs && Math.abs(now() - timeMs) <= WINDOW_MS;

  function forget(second: number): void {
    size -= seen.get(second)?.size ?? 0;
    seen.delete(second);
  }

  /** False where this signature was seen before. Buckets are seconds of signing, so that whole ones can be forgotten. */
  function firstTime(timeMs: number, signature: string): boolean {
    const second = Math.floor(timeMs / 1000);
    let bucket = seen.get(second);
    if (bucket === undefined) {
      for (const old of seen.keys()) if (old * 1000 + 1000 < now() - WINDOW_MS) forget(old);
      bucket = new Set();
      seen.set(second, bucket);
    }
    // 52 bits of the signature, as a number: it takes no more memory than that.
    const print = Number.parseInt(signature.slice(0, 13), 16);
    if (bucket.has(print)) return false;
    bucket.add(print);
    size++;
    if (size > MOST_SEEN) {
      const oldest = Math.min(...seen.keys());
      floorMs = oldest * 1000 + 1000;
      forget(oldest);
    }
    return true;
  }

  return {
    plausible: (headers) => {
      const { [TIME]: time, [NONCE]: nonce, [SCOPES]: scopes, [SIGNATURE]: signature } = headers;
      if (
        typeof time !== 'string' ||
        typeof nonce !== 'string' ||
        typeof scopes !== 'string' ||
        typeof signature !== 'string'
      )
        return false;
      return (
        /^\d{1,15}$/.test(time) &&
        fresh(Number(time)) &&
        /^[\w-]{1,64}$/.test(nonce) &&
        /^[0-9a-f]{64}$/.test(signature)
      );
    },
    verify: (headers, { method, path, body }) => {
      const time = String(headers[TIME]);
      const given = Buffer.from(String(headers[SIGNATURE]), 'latin1');
      for (const key of keys) {
        const right = digest(
          key,
          { method, path, body, scopes: String(headers[SCOPES]) },
          time,
          String(headers[NONCE]),
        );
        if (given.length === right.length && timingSafeEqual(given, Buffer.from(right, 'latin1')))
          return fresh(Number(time)) && firstTime(Number(time), right);
      }
      return false;
    },
  };
}

/** In hexadecimal. None of the parts before the body can hold a line break, so the signed text says one thing only. */
function digest(
  key: KeyObject,
  { method, path, scopes, body }: SignedParts,
  time: string,
  nonce: string,
): string {
  return createHmac('sha256', key)
    .update(`${method}\n${path}\n${time}\n${nonce}\n${scopes}\n`)
    .update(body)
    .digest('hex');
}

function keyOf(secret: string): KeyObject {
  return createSecretKey(secret, 'utf8');
}
