// Compares the working tree with another checkout: both run, and the load alternates between them.
import { ratios, type Spread, shownSpread, spread, type Table } from '../report/outcome.ts';
import type { Checkout } from './checkout.ts';
import type { Sample } from './measure.ts';
import type { Contender } from './measurements.ts';
import { measureAlternating, type Rounds } from './rounds.ts';
import type { Testbed } from './testbed.ts';

export type Comparison = {
  /** What was compared, and in which figure. */
  title: string;
  workingTree: Spread;
  commit: Spread;
  /** The working tree's figure to the commit's, computed for each round. */
  ratio: Spread;
};

/** Higher is better for both. CPU time depends less on other work on the machine. */
const FIGURES: Record<string, (sample: Sample) => number> = {
  'answers per second': ({ perSecond }) => perSecond,
  'answers per CPU second': ({ cpuMicros }) => 1e6 / cpuMicros,
};

const LOWEST_RATIO = 0.95;

/** Measures each contender from both checkouts. Rejects if one fails. */
export async function compare(
  testbed: Testbed,
  contenders: readonly Contender[],
  { name, root }: Checkout,
  rounds: Rounds,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const { title, start } of contenders) {
    const both: Contender[] = [
      { title: `${title}, working tree`, start },
      { title: `${title}, ${name}`, start: (at) => start(at, root) },
    ];
    const [ours, theirs] = await measureAlternating(testbed, both, rounds);
    for (const [figure, read] of Object.entries(FIGURES)) {
      const [our, their] = [ours?.samples.map(read) ?? [], theirs?.samples.map(read) ?? []];
      const [workingTree, commit, ratio] = [spread(our), spread(their), ratios(our, their)];
      comparisons.push({ title: `${title}: ${figure}`, workingTree, commit, ratio });
    }
  }
  return comparisons;
}

/** Whether the working tree's figure is over 5 % lower than the commit's or is missing. */
export function isLower({ ratio }: Comparison): boolean {
  return !(ratio.median >= LOWEST_RATIO);
}

export function comparisonTable(
  comparisons: readonly Comparison[],
  { name }: Pick<Checkout, 'name'>,
): Table {
  return {
    title: `The working tree beside ${name}`,
    columns: ['', 'working tree', name, 'ratio', ''],
    rows: comparisons.map((comparison) => {
      const { title, workingTree, commit, ratio } = comparison;
      const mark = isLower(comparison) ? '✗' : '✓';
      return [title, ...[workingTree, commit, ratio].map(shownSpread), mark];
    }),
  };
}
