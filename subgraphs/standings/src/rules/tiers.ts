// The tier that a number of points reaches (docs/api.md, Standing).
import { DEFAULT_PROGRAM, type Program } from './program.ts';
import { clampInt } from './standing.ts';

/**
 * The name of the highest tier that the points reach. If they reach none, for example because they
 * are negative, the lowest tier applies.
 */
export function tierOf(program: Program | undefined, points: number): string {
  const { tiers } = program ?? DEFAULT_PROGRAM;
  const [lowest = { name: '' }] = tiers;
  return (tiers.findLast((tier) => tier.points <= points) ?? lowest).name;
}

/** The tier above the one that the points reach, and the points missing; undefined at the top. */
export function nextTier(
  program: Program | undefined,
  points: number,
): { name: string; missing: number } | undefined {
  const { tiers } = program ?? DEFAULT_PROGRAM;
  const name = tierOf(program, points);
  const next = tiers[tiers.findIndex((tier) => tier.name === name) + 1];
  return next && { name: next.name, missing: clampInt(next.points - points) };
}
