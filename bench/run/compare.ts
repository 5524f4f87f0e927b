// Compares the working tree with another checkout: both run at once, and the load alternates between them.
import type { Table } from '../report/outcome.ts';
import { ratios, type Spread, shown, shownSpread, spread } from '../report/statistics.ts';
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

/** Higher is better for each. CPU time depends less on other work on the machine. */
const FIGURES: Record<string, (sample: Sample) => number> = {
  'requests/s': ({ perSecond }) => perSecond,
  'requests per CPU second': ({ cpuMicros }) => 1e6 / cpuMicros,
};

const LOWEST_RATIO = 0.95;

/** Measures each comparable from both checkouts, in interleaved rounds. Rejects if one fails. */
export async function compare(
  testbed: Testbed,
  comparables: readonly Comparable[],
  checkout: Checkout,
  rounds: Rounds,
): Promise<Comparison[]> {
  const measured = comparables.map(({ title }) => ({
    title,
    workingTree: [] as Sample[],
    commit: [] as Sample[],
  }));
  for (let round = 1; round <= rounds.rounds; round++) {
    for (const [index, { title, start }] of comparables.entries()) {
      const from = (root: string) => ({ title, start: (at: Testbed) => start(at, root) });
      const [ours, theirs] = await alternate(testbed, [from(ROOT), from(checkout.root)], rounds);
      if (ours === undefined || theirs === undefined) continue;
      measured[index]?.workingTree.push(ours);
      measured[index]?.commit.push(theirs);
      const ratio = shown(ours.perSecond / theirs.perSecond);
      progress(`round ${round}: ${title}: ${ratio} times the requests/s of ${checkout.name}`);
    }
  }
  return measured.flatMap(({ title, workingTree, commit }) =>
    Object.entries(FIGURES).map(([figure, read]) => ({
      title: `${title}: ${figure}`,
      workingTree: spread(workingTree.map(read)),
      commit: spread(commit.map(read)),
      ratio: ratios(workingTree.map(read), commit.map(read)),
    })),
  );
}

/** Whether the working tree's figure is over 5 % lower than the commit's. */
export function isLower({ ratio }: Comparison): boolean {
  return ratio.median < LOWEST_RATIO;
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
