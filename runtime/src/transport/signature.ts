// Signs requests from the gateway to a subgraph with HMAC-SHA256, and verifies them.
import {
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { HEADERS } from '../http/headers.ts';
import type { MaybePromise } from '../maybe.ts';
import type { ReplayGuard } from './replay.ts';

/** `path` includes the query string. `scopes` is the text of the scopes header. */
export type SignedParts = { method: string; path: string; scopes: string; body: string | Buffer };

const TIME = HEADERS.subgraphTime.name;
const NONCE = HEADERS.subgraphNonce.name;
const SCOPES = HEADERS.subgraphScopes.name;
const SIGNATURE = HEADERS.subgraphSignature.name;

/**
 * Returns a function that computes the headers of a signed request to a subgraph, different ones
 * each time.
 */
export function createSigner(
  subgraph: string,
  secret: string,
  now: () => number = Date.now,
): (parts: SignedParts) => Record<string, string> {
  const key = keyOf(secret);
  const prefix = randomBytes(9).toString('base64url');
  let count = 0;
  return (parts) => {
    const time = String(now());
    const nonce = `${prefix}-${(count++).toString(36)}`;
    return {
      [TIME]: time,
      [NONCE]: nonce,
      [SCOPES]: parts.scopes,
      [SIGNATURE]: digest(key, subgraph, parts, time, nonce),
    };
  };
}

export type Verifier = {
  /** Whether the headers can belong to a signed request. Call it before reading the body. */
  plausible(headers: IncomingHttpHeaders): boolean;
  /**
   * True once for each request to this subgraph that one of the secrets signed at most 30 seconds
   * ago.
   */
  verify(headers: IncomingHttpHeaders, parts: Omit<SignedParts, 'scopes'>): MaybePromise<boolean>;
};

/** Verifies requests against several secrets, so that a secret can be changed without a gap. */
export function createVerifier(
  subgraph: string,
  secrets: readonly string[],
  guard: ReplayGuard,
): Verifier {
  const keys = secrets.map(keyOf);

  return {
    plausible: (headers) => {
      const { [TIME]: time, [NONCE]: nonce, [SCOPES]: scopes, [SIGNATURE]: signature } = headers;
      return (
        typeof scopes === 'string' &&
        matches(/^\d{1,15}$/, time) &&
        guard.fresh(Number(time)) &&
        matches(/^[\w-]{1,64}$/, nonce) &&
        matches(/^[0-9a-f]{64}$/, signature)
      );
    },
    verify: (headers, parts) => {
      const time = String(headers[TIME]);
      const signed = { ...parts, scopes: String(headers[SCOPES]) };
      const given = Buffer.from(String(headers[SIGNATURE]), 'latin1');
      for (const key of keys) {
        const right = digest(key, subgraph, signed, time, String(headers[NONCE]));
        if (given.length === right.length && timingSafeEqual(given, Buffer.from(right, 'latin1')))
          return guard.firstUse(Number(time), right);
      }
      return false;
    },
  };
}

function matches(pattern: RegExp, value: string | string[] | undefined): boolean {
  return typeof value === 'string' && pattern.test(value);
}

/**
 * The signature in hexadecimal. No part before the body can contain a line break, so two different
 * requests never have the same signed text.
 */
function digest(
  key: KeyObject,
  subgraph: string,
  { method, path, scopes, body }: SignedParts,
  time: string,
  nonce: string,
): string {
  return createHmac('sha256', key)
    .update(`${subgraph}\n${method}\n${path}\n${time}\n${nonce}\n${scopes}\n`)
    .update(body)
    .digest('hex');
}

function keyOf(secret: string): KeyObject {
  return createSecretKey(secret, 'utf8');
}
