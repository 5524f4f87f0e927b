// Cursors of activity pages: a position, with a hash that binds it to one caller and member.
import { hash } from 'node:crypto';

/** The activity that a page starts after. */
export type Position = { occurredAtMs: number; partnerId: string; activityId: string };

/** Part of what is hashed. A new form of cursors gets a new number. */
const VERSION = 1;
const HASH_BYTES = 16;
/** Longer than any cursor: its IDs have up to 128 characters each, of up to 6 bytes in JSON. */
const MAX_LENGTH = 4_096;

/**
 * The cursor of a position. `owner` says who may use it, and for which member. The hash is no
 * secret: it keeps cursors from being used for another member by mistake, and whoever forges one
 * gets no other activities than without it.
 */
export function encodeCursor(
  { occurredAtMs, partnerId, activityId }: Position,
  owner: readonly string[],
): string {
  const position = JSON.stringify([occurredAtMs, partnerId, activityId]);
  return Buffer.concat([hashOf(position, owner), Buffer.from(position)]).toString('base64url');
}

/** The position; undefined if it is not a cursor of this owner. */
export function decodeCursor(cursor: string, owner: readonly string[]): Position | undefined {
  if (cursor.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return undefined;
  const position = bytes.toString('utf8', HASH_BYTES);
  if (!bytes.subarray(0, HASH_BYTES).equals(hashOf(position, owner))) return undefined;
  return parsePosition(position);
}

function hashOf(position: string, owner: readonly string[]): Buffer {
  const text = JSON.stringify([VERSION, ...owner, position]);
  return hash('sha256', text, 'buffer').subarray(0, HASH_BYTES);
}

/** Anybody can compute the hash, so the position may be anything. */
function parsePosition(text: string): Position | undefined {
  try {
    const [occurredAtMs, partnerId, activityId, ...rest] = JSON.parse(text) as unknown[];
    return Number.isSafeInteger(occurredAtMs) &&
      typeof partnerId === 'string' &&
      typeof activityId === 'string' &&
      rest.length === 0
      ? { occurredAtMs: Number(occurredAtMs), partnerId, activityId }
      : undefined;
  } catch {
    return undefined;
  }
}
