// What the signature of a request covers, and the key it is made with (docs/teams/protocol.md).
import { hash } from 'node:crypto';

/**
 * The names of the covered components (RFC 9421, section 2), in the order that the signer uses.
 * `@path` is without the query string, which no request to a subgraph has.
 */
export const COMPONENTS = [
  '@method',
  '@path',
  'content-digest',
  'partner-loyalty-subgraph',
  'partner-loyalty-scope',
  'x-request-id',
] as const;

export type Covered = Readonly<Record<(typeof COMPONENTS)[number], string>>;

/** Signatures made for another purpose have another tag. */
export const TAG = 'partner-loyalty';

/**
 * The signature base (RFC 9421, section 2.5); `params` is the value of `@signature-params`. No
 * value can contain a line break, so two different requests never have the same base.
 */
export function signatureBase(covered: Covered, params: string): string {
  let base = '';
  for (const name of COMPONENTS) base += `"${name}": ${covered[name]}\n`;
  return `${base}"@signature-params": ${params}`;
}

/** The value of Content-Digest (RFC 9530). */
export function digestOf(body: string | Buffer): string {
  return `sha-256=:${hash('sha256', body, 'base64')}:`;
}

/** Identifies a secret without revealing it: the first 16 hexadecimal digits of its SHA-256. */
export function keyIdOf(secret: string): string {
  return hash('sha256', secret, 'hex').slice(0, 16);
}
