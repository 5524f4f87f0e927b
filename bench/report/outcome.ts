// The outcome of one part of the benchmark: tables, figures and bars of the chart.
import type { FigureName } from './figures.ts';
import type { Spread } from './statistics.ts';

export type Table = { title: string; columns: string[]; rows: string[][] };

export type Bar = { title: string; kind: 'ours' | 'peer' | 'floor'; perSecond: number };

export type Outcome = {
  tables: Table[];
  figures: Partial<Record<FigureName, Spread>>;
  /** What the chart shows. */
  bars?: Bar[];
  /** A line for each variant that could not be measured. */
  failures?: string[];
};
