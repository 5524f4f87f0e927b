// Verifies that the gateway signed a request (RFC 9421, HTTP Message Signatures). Copy this file.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Whose data the request may see; `partner` and `member` are IDs. */
export type Scope = {
  kind: 'partner' | 'member' | 'service' | 'batch';
  partner?: string;
  member?: string;
};

type SignedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer };

const COMPONENTS = [
  '@method',
  '@path',
  'content-digest',
  'partner-loyalty-subgraph',
  'partner-loyalty-scope',
  'x-request-id',
];
const COVERED = COMPONENTS.map((name) => `"${name}"`).join(' ');
const MAX_AGE_SECONDS = 30;

/**
 * Returns a function that gives the scope of a request if one of the secrets signed it for this
 * subgraph at most 30 seconds ago and it comes for the first time, and undefined otherwise.
 */
export function createVerifier(subgraph: string, secrets: readonly string[]) {
  const seen = new Map<string, number>(); // When each nonce came, the oldest first.

  return ({ method, path, headers, body }: SignedRequest): Scope | undefined => {
    const values: IncomingHttpHeaders = { ...headers, '@method': method, '@path': path };
    const input = /^([a-z]\w*)=(\(([^)]*)\)(;.*))$/.exec(String(headers['signature-input']));
    if (!input || input[3] !== COVERED || COMPONENTS.some((name) => !values[name])) return;
    const [, label, signatureParams, , params = ''] = input;
    const { created, keyid, nonce, tag } = parametersOf(params);
    const secret = secrets.find((candidate) => keyIdOf(candidate) === keyid);
    const now = Date.now() / 1000;
    if (!secret || !nonce || tag !== 'partner-loyalty') return;
    if (!(Math.abs(now - Number(created)) <= MAX_AGE_SECONDS)) return;

    const digest = createHash('sha256').update(body).digest('base64');
    if (headers['content-digest'] !== `sha-256=:${digest}:`) return;
    if (headers['partner-loyalty-subgraph'] !== subgraph) return;
    const lines = COMPONENTS.map((name) => `"${name}": ${values[name]}\n`).join('');
    const base = Buffer.from(`${lines}"@signature-params": ${signatureParams}`, 'latin1');
    const right = createHmac('sha256', secret).update(base).digest('base64');
    if (!equal(String(headers.signature), `${label}=:${right}:`)) return;

    for (const [old, cameAt] of seen)
      if (cameAt < now - 2 * MAX_AGE_SECONDS) seen.delete(old);
      else break;
    if (seen.has(nonce)) return;
    seen.set(nonce, now);
    return scopeOf(String(headers['partner-loyalty-scope']));
  };
}

function keyIdOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 16);
}

function parametersOf(text: string): Record<string, string | undefined> {
  const found = text.matchAll(/;(\w+)=(?:"([^"]*)"|(\d+))/g);
  return Object.fromEntries(
    Array.from(found, ([, name, quoted, number]) => [name, quoted ?? number]),
  );
}

function equal(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given, 'latin1'), Buffer.from(right, 'latin1')];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Parses `kind=partner, partner="acme"` (RFC 9651): tokens, strings and display strings. */
function scopeOf(text: string): Scope {
  const found = text.matchAll(/(?:^|, )([a-z]+)=(?:(%?)"((?:[^"\\]|\\.)*)"|(\w+))/g);
  const entries = Array.from(found, ([, name, percent, quoted = '', token]) => [
    name,
    token ?? (percent ? decodeURIComponent(quoted) : quoted.replace(/\\(.)/g, '$1')),
  ]);
  // Cast: the gateway has signed it.
  return Object.fromEntries(entries) as Scope;
}
