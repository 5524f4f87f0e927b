// Whether an activity has changed the tier that its member holds.
import type { Event, PendingEvent } from './event.ts';
import type { Program } from './program.ts';
import { heldTier } from './tiers.ts';
import { yearOf } from './year.ts';

/**
 * The membership year that, beside the year of an activity, decides which tier is held at an
 * instant; undefined if none does.
 */
export function otherYearOf(
  program: Program | undefined,
  year: string,
  at: Date,
): string | undefined {
  if (program?.tierValidity !== 'nextYear') return undefined;
  const current = yearOf(program, at);
  const before = yearOf(program, at, -1);
  if (year === current) return before;
  return year === before ? current : undefined;
}

/**
 * The TIER_CHANGED that follows a POINTS_CHANGED; undefined if the tier held is the same, and for
 * any other event. Its ID follows from that of its cause.
 */
export function tierChangeOf(cause: PendingEvent, program: Program | undefined): Event | undefined {
  const { id, type, partnerId, occurredAt, memberId } = cause;
  const { year, before = 0, after = 0, otherYear } = cause;
  if (type !== 'POINTS_CHANGED' || memberId === undefined || year === undefined) return undefined;
  const at = new Date(occurredAt);
  const isCurrent = year === yearOf(program, at);
  if (!isCurrent && otherYearOf(program, year, at) === undefined) return undefined;
  const tierWith = (points: number) =>
    (isCurrent ? heldTier(program, points, otherYear) : heldTier(program, otherYear ?? 0, points))
      .name;
  const tierBefore = tierWith(before);
  const tierAfter = tierWith(after);
  if (tierBefore === tierAfter) return undefined;
  const about = { partnerId, occurredAt, memberId };
  return { id: `${id}-tier`, type: 'TIER_CHANGED', ...about, tierBefore, tierAfter };
}
