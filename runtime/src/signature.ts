// Signed requests from the gateway to a subgraph: HMAC-SHA256 over all that decides the answer, fresh, and good for one use.
import type { IncomingHttpHeaders } from 'node:http';

export type SignedParts = { method: string; path: string; scopes: string; body: string | Buffer };

/** The headers that sign a request, to be sent beside it. */
export function signRequest(_secret: string, _parts: SignedParts, _nowMs?: number): Record<string, string> {
  throw new Error('not written yet');
}

/** Says whether a request was signed with one of the secrets, at most 30 seconds ago, and has not been seen before. */
export function createVerifier(
  _secrets: readonly string[],
  _now?: () => number,
): (headers: IncomingHttpHeaders, parts: Omit<SignedParts, 'scopes'>) => boolean {
  throw new Error('not written yet');
}
