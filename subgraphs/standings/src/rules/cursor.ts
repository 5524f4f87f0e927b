// Cursors of activity pages, each bound to one caller and member, and of a partner's events.
import { cursorOf, positionIn } from '@partner-loyalty/runtime/cursor.ts';

/** The activity that a page starts after. */
export type Position = { occurredAtMs: number; partnerId: string; activityId: string };

/** Part of what is hashed. A new form of cursors gets a new number. */
const VERSION = 1;

/** The cursor of a position. `owner` says who may use it, and for which member. */
export function encodeCursor(
  { occurredAtMs, partnerId, activityId }: Position,
  owner: readonly string[],
): string {
  return cursorOf([occurredAtMs, partnerId, activityId], [VERSION, ...owner]);
}

/** The position; undefined if it is not a cursor of this owner. */
export function decodeCursor(cursor: string, owner: readonly string[]): Position | undefined {
  const position = positionIn(cursor, [VERSION, ...owner]);
  if (position === undefined) return undefined;
  const [occurredAtMs, partnerId, activityId, ...rest] = position;
  return Number.isSafeInteger(occurredAtMs) &&
    typeof partnerId === 'string' &&
    typeof activityId === 'string' &&
    rest.length === 0
    ? { occurredAtMs: Number(occurredAtMs), partnerId, activityId }
    : undefined;
}

export function encodeEventCursor(position: number, partnerId: string): string {
  return cursorOf([position], ['events', partnerId]);
}

/** The position; undefined if it is not a cursor of this feed. */
export function decodeEventCursor(cursor: string, partnerId: string): number | undefined {
  const [position, ...rest] = positionIn(cursor, ['events', partnerId]) ?? [];
  return Number.isSafeInteger(position) && Number(position) >= 0 && rest.length === 0
    ? Number(position)
    : undefined;
}
