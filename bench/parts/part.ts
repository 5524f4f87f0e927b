// A part of the benchmark: what it measures, and what can be compared between two commits.
import type { Outcome } from '../report/outcome.ts';
import type { Contender } from '../run/measurements.ts';
import type { Rounds } from '../run/rounds.ts';
import type { Testbed } from '../run/testbed.ts';

export type Part = {
  title: string;
  /** What a reader of the results has to know. */
  notes?: readonly string[];
  /** How it is measured; by default, as run/rounds.ts does it. */
  method?(options: Rounds): string;
  run(testbed: Testbed, options: Rounds): Promise<Outcome>;
  /** What `--against` compares. */
  comparables?: readonly Contender[];
};
