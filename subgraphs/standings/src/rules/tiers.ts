// The tier that points reach, and the one that a member holds (docs/callers/standing.md, Standing).
import { DEFAULT_PROGRAM, type Program } from './program.ts';
import { clampInt } from './standing.ts';

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
