// What a part of the benchmark is given and gives back.
import type { FigureName } from '../figures.ts';
import type { Rounds } from '../rounds.ts';
import type { Stage } from '../stage.ts';
import type { Spread } from '../statistics.ts';

export type Options = Rounds & {
  /** Smaller everything, for a first look. */
  quick: boolean;
  /** How long the soak takes. */
  minutes: number;
};

export type Table = { title: string; columns: string[]; rows: string[][] };
export type Bar = { title: string; kind: 'ours' | 'peer' | 'floor'; perSecond: number };

export type Outcome = {
  tables: Table[];
  figures: Partial<Record<FigureName, Spread>>;
  /** What the chart draws. */
  bars?: Bar[];
  /** What failed, and what a reader has to know. */
  notes: string[];
};

export type Part = {
  title: string;
  /** Who makes the load, how long and how often, where that is not as in rounds.ts. */
  how?(options: Options): string;
  run(stage: Stage, options: Options): Promise<Outcome>;
};
