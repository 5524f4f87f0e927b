// Verifies the signatures of requests to a subgraph: each is valid once, within 30 seconds.

import { timingSafeEqual } from 'node:crypto';
import type { RequestHeaders } from '../../http/headers.ts';
import { UNNUMBERED } from '../protocol.ts';
import { type Covered, createMac, digestOf, keyIdOf, type Mac, signatureBase } from './base.ts';
import type { ReplayGuard } from './replay.ts';

/** A signature, read from Signature-Input and Signature. */
type ReadSignature = {
  /** The value of `@signature-params`. */
  params: string;
  createdMs: number;
  keyId: string;
  protocol: number;
  /** The signature itself, in Base64. */
  given: string;
};

/** What the headers of a signed request say. */
type Claim = {
  /** The function of the secret with which the request was signed. */
  mac: Mac;
  signature: ReadSignature;
  /** The caller as received, not verified yet. */
  caller: string;
  requestId: string;
  digest: string;
};

/** Why a request does not pass. For the log only: a caller must not learn how close it came. */
export type Refusal =
  | 'not signed'
  | 'signed for another subgraph'
  | 'malformed signature'
  | 'unknown secret'
  | 'signed over 30 seconds ago or ahead: the clocks may differ'
  | 'wrong signature'
  | 'wrong digest of the body'
  | 'used before';

/** Verifies requests against several secrets, so that a secret can be changed without a gap. */
export function createVerifier(subgraph: string, secrets: readonly string[], guard: ReplayGuard) {
  const macs = new Map(secrets.map((secret) => [keyIdOf(secret), createMac(secret)]));

  return {
    /** What the headers claim, or why they are refused. Call it before reading a body. */
    read(headers: RequestHeaders): Claim | Refusal {
      const name = headers['partner-loyalty-subgraph'];
      const caller = headers['partner-loyalty-scope'];
      const requestId = headers['x-request-id'];
      const digest = headers['content-digest'];
      if (!isText(caller) || !isText(requestId) || !isText(digest)) return 'not signed';
      if (name !== subgraph) return 'signed for another subgraph';
      const signature = readSignature(headers['signature-input'], headers.signature);
      if (signature === undefined) return 'malformed signature';
      const mac = macs.get(signature.keyId);
      if (mac === undefined) return 'unknown secret';
      if (!guard.fresh(signature.createdMs)) return LATE;
      return { mac, signature, caller, requestId, digest };
    },
    /**
     * Undefined once for each request to this subgraph that one of the secrets signed at most 30
     * seconds ago. `path` has no query string.
     */
    verify(
      { mac, signature, caller, requestId, digest }: Claim,
      { method, path, body }: { method: string; path: string; body: Buffer },
    ): Refusal | undefined {
      const covered: Covered = {
        '@method': method,
        '@path': path,
        'content-digest': digest,
        'partner-loyalty-subgraph': subgraph,
        'partner-loyalty-scope': caller,
        'x-request-id': requestId,
      };
      const { params, given, createdMs } = signature;
      const right = mac(signatureBase(covered, params));
      if (!isEqual(given, right)) return 'wrong signature';
      if (digest !== digestOf(body)) return 'wrong digest of the body';
      return guard.firstUse(createdMs, right) ? undefined : 'used before';
    },
  };
}

const LATE = 'signed over 30 seconds ago or ahead: the clocks may differ';

// The form that the signer writes, to which later versions may add parameters.
const INPUT =
  /^sig=(\("@method" "@path" "content-digest" "partner-loyalty-subgraph" "partner-loyalty-scope" "x-request-id"\);created=(\d{1,11});keyid="([0-9a-f]{16})";nonce="[\w-]{1,64}";tag="partner-loyalty"(?:;protocol=(\d{1,4})(?:;[!-~]{1,200})?)?)$/;
const SIGNATURE = /^sig=:([A-Za-z0-9+/]{43}=):$/;

function readSignature(
  input: string | string[] | undefined,
  signature: string | string[] | undefined,
): ReadSignature | undefined {
  if (!isText(input) || !isText(signature)) return undefined;
  const [, params, created, keyId, protocol = UNNUMBERED] = INPUT.exec(input) ?? [];
  const given = SIGNATURE.exec(signature)?.[1];
  if (params === undefined || keyId === undefined || given === undefined) return undefined;
  return { params, createdMs: Number(created) * 1000, keyId, protocol: Number(protocol), given };
}

function isEqual(given: string, right: string): boolean {
  const bytes = Buffer.from(given, 'latin1');
  return bytes.length === right.length && timingSafeEqual(bytes, Buffer.from(right, 'latin1'));
}

function isText(value: string | string[] | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
