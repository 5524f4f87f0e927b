// Compares the working tree with another checkout: both run, and the load alternates between them.
import { ratios, type Spread, shown, shownSpread, spread, type Table } from '../report/outcome.ts';
import type { Checkout } from './checkout.ts';
import type { Measurable, Sample } from './measure.ts';
import { progress } from './progress.ts';
import { alternate, type Rounds } from './rounds.ts';
import { ROOT } from './shipped.ts';
import type { Testbed } from './testbed.ts';

/** Something that can be started from any checkout of this repository. */
export type Comparable = {
  title: string;
  start(testbed: Testbed, root: string): Promise<Measurable>;
};

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

type Pair = { comparable: Comparable; ours: Sample[]; theirs: Sample[] };

const LOWEST_RATIO = 0.95;

/** Measures each comparable from both checkouts, in interleaved rounds. Rejects if one fails. */
export async function compare(
  testbed: Testbed,
  comparables: readonly Comparable[],
  checkout: Checkout,
  rounds: Rounds,
): Promise<Comparison[]> {
  const measured = comparables.map((comparable): Pair => ({ comparable, ours: [], theirs: [] }));
  for (let round = 1; round <= rounds.rounds; round++) {
    // Each version starts first in every other round.
    const roots = round % 2 === 1 ? [ROOT, checkout.root] : [checkout.root, ROOT];
    for (const { comparable, ours, theirs } of measured) {
      const { title, start } = comparable;
      const contenders = roots.map((root) => ({ title, start: (at: Testbed) => start(at, root) }));
      const samples = await alternate(testbed, contenders, rounds);
      for (const [index, sample] of samples.entries())
        (roots[index] === ROOT ? ours : theirs).push(sample);
      const ratio = shown((ours.at(-1)?.perSecond ?? 0) / (theirs.at(-1)?.perSecond ?? 0));
      progress(`round ${round}: ${title}: ${ratio} times the throughput of ${checkout.name}`);
    }
  }
  return measured.flatMap(comparisonsOf);
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

function comparisonsOf({ comparable, ours, theirs }: Pair): Comparison[] {
  return Object.entries(FIGURES).map(([figure, read]) => ({
    title: `${comparable.title}: ${figure}`,
    workingTree: spread(ours.map(read)),
    commit: spread(theirs.map(read)),
    ratio: ratios(ours.map(read), theirs.map(read)),
  }));
}
