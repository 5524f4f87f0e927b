// The tier that a number of points reaches (docs/contract.md, Standing).
import { DEFAULT_PROGRAM, type Program } from './program.ts';

/**
 * The name of the highest tier that the points reach. If they reach none, for example because they
 * are negative, the lowest tier applies.
 */
export function tierOf(program: Program | undefined, points: number): string {
  const { tiers } = program ?? DEFAULT_PROGRAM;
  const [lowest = { name: '' }] = tiers;
  return (tiers.findLast((tier) => tier.points <= points) ?? lowest).name;
}
