// Cursors of activity pages: a place in the order, sealed with whose page it is.
import { hash } from 'node:crypto';

/** The activity that a page starts after. */
export type Place = { occurredAtMs: number; partnerId: string; activityId: string };

/** Of what the seal is made, beside the place. A new form of cursors gets a new number. */
const VERSION = 1;
const SEAL_BYTES = 16;
/** Longer than any cursor: its IDs have up to 128 characters each, of up to 6 bytes in JSON. */
const MAX_LENGTH = 4_096;

/**
 * The cursor of a place. `owner` says who may use it, and for which member. The seal is no secret:
 * it keeps cursors from being used for another member by mistake, and whoever forges one gets no
 * other activities than without it.
 */
export function encodeCursor(
  { occurredAtMs, partnerId, activityId }: Place,
  owner: readonly string[],
): string {
  const place = JSON.stringify([occurredAtMs, partnerId, activityId]);
  return Buffer.concat([sealOf(place, owner), Buffer.from(place)]).toString('base64url');
}

/** The place; undefined if it is not a cursor of this owner. */
export function decodeCursor(cursor: string, owner: readonly string[]): Place | undefined {
  if (cursor.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return undefined;
  const place = bytes.toString('utf8', SEAL_BYTES);
  if (!bytes.subarray(0, SEAL_BYTES).equals(sealOf(place, owner))) return undefined;
  return parsePlace(place);
}

function sealOf(place: string, owner: readonly string[]): Buffer {
  const text = JSON.stringify([VERSION, ...owner, place]);
  return hash('sha256', text, 'buffer').subarray(0, SEAL_BYTES);
}

/** Whoever knows how seals are made could have made this one. */
function parsePlace(text: string): Place | undefined {
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
