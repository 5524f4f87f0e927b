// Pages of lists, and their cursors: a position in JSON, with a hash that binds it to one list.
import { hash } from 'node:crypto';
import { failInput } from './errors.ts';

const HASH_BYTES = 16;
/** Longer than any cursor: its IDs have up to 128 characters each, of up to 6 bytes in JSON. */
const MAX_LENGTH = 4_096;

/**
 * The cursor of a position. `list` says which list of which caller it belongs to. The hash is no
 * secret: it keeps cursors from being used for another list by mistake, and whoever forges one gets
 * no other entries than without it.
 */
export function cursorOf(position: readonly unknown[], list: readonly unknown[]): string {
  const text = JSON.stringify(position);
  return Buffer.concat([hashOf(text, list), Buffer.from(text)]).toString('base64url');
}

/** The position, which may be anything: everybody can compute the hash. Undefined for no cursor. */
export function positionIn(cursor: string, list: readonly unknown[]): unknown[] | undefined {
  if (cursor.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return undefined;
  const text = bytes.toString('utf8', HASH_BYTES);
  if (!bytes.subarray(0, HASH_BYTES).equals(hashOf(text, list))) return undefined;
  try {
    const position: unknown = JSON.parse(text);
    return Array.isArray(position) ? position : undefined;
  } catch {
    return undefined;
  }
}

export function noCursor(): never {
  return failInput('after', 'is no cursor of this list');
}

/** The length of a page that a caller asks for as `first`. Fails with BAD_USER_INPUT. */
export function pageLength(first: number | null | undefined, usual: number, most: number): number {
  const length = first ?? usual;
  if (length < 1 || length > most) failInput('first', `must be from 1 to ${most}`);
  return length;
}

/** A page as the API has it. `after` is what the caller has sent. */
export function connectionOf<Edge extends { cursor: string }>(
  edges: Edge[],
  hasNextPage: boolean,
  after: string | null | undefined,
  endCursor = edges.at(-1)?.cursor,
) {
  const startCursor = edges[0]?.cursor;
  return {
    edges,
    pageInfo: { hasNextPage, hasPreviousPage: after != null, startCursor, endCursor },
  };
}

function hashOf(text: string, list: readonly unknown[]): Buffer {
  return hash('sha256', JSON.stringify([...list, text]), 'buffer').subarray(0, HASH_BYTES);
}
