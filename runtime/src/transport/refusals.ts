// Why a subgraph's response is no answer, as the log says it.
import { isBuiltIn } from '../settings/subgraphs.ts';

/** Why connections fail, by the codes of their errors. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['ADDRESS', 'SUBGRAPH_HOSTS does not allow its address'],
  ['BYTES', 'too many bytes'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too many bytes'],
]);

/** Those of Node and OpenSSL for certificates. */
const CERTIFICATE = /CERT|SIGNED|SIGNATURE|ISSUER/;

export function reasonOf(code = ''): string {
  return REASONS.get(code) ?? (CERTIFICATE.test(code) ? 'certificate' : 'connection');
}

/**
 * Whether a reason that counts for the circuit is that the subgraph would go on taking time;
 * otherwise nothing comes. Undefined if it does not count.
 */
export function isFlood(reason: string, status: number, name: string): boolean | undefined {
  if (reason === 'deadline') return status !== 0;
  if (reason === 'certificate' && !isBuiltIn(name)) return true;
  if (reason === 'too many bytes' || reason === 'too many chunks') return true;
  return reason === 'connection' && status === 0 && !isBuiltIn(name) ? false : undefined;
}

const TYPES = new Set(['without a content type', 'text/html', 'text/plain', 'application/xml']);

/** For a log line: a subgraph may name any type. */
export function nameOfType(type = 'without a content type'): string {
  return TYPES.has(type) ? type : 'another content type';
}

/**
 * Whether a response with this status can be GraphQL. An error may come with any status above 399;
 * 401 means that the subgraph has not even looked at the operations.
 */
export function isAnswer(status: number): boolean {
  return status === 200 || (status >= 400 && status !== 401);
}

/** Further apart than a subgraph accepts, less what the way takes. */
const CLOCKS_DIFFER_MS = 28_000;

/**
 * Why a subgraph refused the request, as far as it shows: it says no more than 401, but when. Its
 * own log says why.
 */
export function refusalReason(status: number, date: string | string[] | undefined): string {
  if (status !== 401) return 'refused';
  const difference = Math.abs(Date.parse(String(date)) - Date.now());
  return difference > CLOCKS_DIFFER_MS
    ? 'refused: the clocks differ'
    : 'refused: the secret may differ';
}
