// The rule from points to a tier (contract, section 4, Standing).
import { DEFAULT_PROGRAM } from './program.ts';
import type { Program } from './store/store.ts';

/** The name of the highest tier whose points are reached; of the lowest where none is, as with a negative sum. */
export function tierOf(program: Program | undefined, points: number): string {
  const { tiers } = program ?? DEFAULT_PROGRAM;
  const [lowest = { name: '' }] = tiers;
  return (tiers.findLast((tier) => tier.points <= points) ?? lowest).name;
}
