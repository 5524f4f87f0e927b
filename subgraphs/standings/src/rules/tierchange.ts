// Whether an activity has changed the tier that its member holds.
import type { NewEvent, YearPoints } from './event.ts';
import type { Program } from './program.ts';
import { heldTier, tierOf } from './tiers.ts';
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
 * The TIER_CHANGED that follows a POINTS_CHANGED; undefined if the tier held is the same.
 * `pointsOf` is asked for the points of another year that decide too.
 */
export function tierChangeOf(
  { partnerId, occurredAt, memberId = '' }: NewEvent,
  { year, before, after }: YearPoints,
  program: Program | undefined,
  pointsOf: (year: string) => number | undefined,
): NewEvent | undefined {
  // The tier held is the higher of those that two years reach. Most changes end here.
  if (tierOf(program, before) === tierOf(program, after)) return undefined;
  const at = new Date(occurredAt);
  const isCurrent = year === yearOf(program, at);
  const other = otherYearOf(program, year, at);
  if (!isCurrent && other === undefined) return undefined;
  const otherPoints = other === undefined ? undefined : pointsOf(other);
  const tierWith = (points: number) =>
    (isCurrent
      ? heldTier(program, points, otherPoints)
      : heldTier(program, otherPoints ?? 0, points)
    ).name;
  const [tierBefore, tierAfter] = [tierWith(before), tierWith(after)];
  if (tierBefore === tierAfter) return undefined;
  return { type: 'TIER_CHANGED', partnerId, occurredAt, memberId, tierBefore, tierAfter };
}
