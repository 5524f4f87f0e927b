// The tier that points reach, and the one that a member holds (docs/callers/standing.md, Standing).
import type { NewEvent, YearPoints } from './event.ts';
import { DEFAULT_PROGRAM, type Program } from './program.ts';
import { clampInt } from './standing.ts';
import { yearOf } from './year.ts';

export type HeldTier = {
  name: string;
  /** The membership year whose points earned it, counted from the current one. */
  earnedIn: 0 | -1;
  /** The membership year with whose beginning it ends, counted in the same way. */
  validUntil: 1 | 2;
  /** The tier above, and the points of this year that are missing for it; undefined at the top. */
  next: { name: string; missing: number } | undefined;
};

/**
 * The name of the highest tier that the points reach. If they reach none, for example because they
 * are negative, the lowest tier applies.
 */
export function tierOf(program: Program | undefined, points: number): string {
  const { tiers } = program ?? DEFAULT_PROGRAM;
  return tiers[reachedBy(tiers, points)]?.name ?? '';
}

/**
 * The tier held with the points of the current membership year: what they reach or, if tiers are
 * valid to the end of the next year, what those of the year before reached, if that is higher.
 * `pointsBefore` is undefined without activity in that year; programs that do not say `nextYear`
 * ignore it.
 */
export function heldTier(
  program: Program | undefined,
  points: number,
  pointsBefore: number | undefined,
): HeldTier {
  const { tiers, tierValidity } = program ?? DEFAULT_PROGRAM;
  const lasts = tierValidity === 'nextYear';
  const reached = reachedBy(tiers, points);
  const reachedBefore = lasts && pointsBefore !== undefined ? reachedBy(tiers, pointsBefore) : 0;
  const isFromBefore = reachedBefore > reached;
  const held = isFromBefore ? reachedBefore : reached;
  const next = tiers[held + 1];
  return {
    name: tiers[held]?.name ?? '',
    earnedIn: isFromBefore ? -1 : 0,
    validUntil: lasts && !isFromBefore ? 2 : 1,
    next: next && { name: next.name, missing: clampInt(next.points - points) },
  };
}

/** The place of the highest tier that the points reach; of the lowest if they reach none. */
function reachedBy(tiers: Program['tiers'], points: number): number {
  return Math.max(
    0,
    tiers.findLastIndex((tier) => tier.points <= points),
  );
}

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
