// Signs requests to a subgraph: HTTP Message Signatures (RFC 9421), HMAC-SHA256.
import { createIds } from '../../ids.ts';
import { PROTOCOL } from '../protocol.ts';
import { COMPONENTS, createMac, digestOf, keyIdOf, signatureBase, TAG } from './base.ts';

/** `path` has no query string. `caller` is the text of its header (caller.ts). */
export type SignedRequest = {
  method: string;
  path: string;
  caller: string;
  requestId: string;
  body: string | Buffer;
};

export type Sign = (request: SignedRequest) => Record<string, string>;

const LIST = `(${COMPONENTS.map((name) => `"${name}"`).join(' ')})`;
const END = `;tag="${TAG}";protocol=${PROTOCOL}`;

/**
 * Returns a function that computes the headers of a signed request to a subgraph. They differ each
 * time, since `nonces` returns a new nonce for each request.
 */
export function createSigner(
  subgraph: string,
  secret: string,
  now: () => number = Date.now,
  nonces: () => string = createIds(),
): Sign {
  const mac = createMac(secret);
  const keyId = keyIdOf(secret);
  return ({ method, path, caller, requestId, body }) => {
    const digest = digestOf(body);
    const created = Math.floor(now() / 1000);
    const params = `${LIST};created=${created};keyid="${keyId}";nonce="${nonces()}"${END}`;
    const covered = {
      '@method': method,
      '@path': path,
      'content-digest': digest,
      'partner-loyalty-subgraph': subgraph,
      'partner-loyalty-scope': caller,
      'x-request-id': requestId,
    };
    return {
      'content-digest': digest,
      'partner-loyalty-subgraph': subgraph,
      'partner-loyalty-scope': caller,
      'x-request-id': requestId,
      'signature-input': `sig=${params}`,
      signature: `sig=:${mac(signatureBase(covered, params))}:`,
    };
  };
}
