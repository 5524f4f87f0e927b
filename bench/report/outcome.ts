// The outcome of one part of the benchmark, from medians with their range.
import type { FigureName } from './figures.ts';

export type Table = { title: string; columns: string[]; rows: string[][] };

export type Bar = { title: string; kind: 'ours' | 'peer' | 'floor'; perSecond: number };

export type Outcome = {
  tables: Table[];
  figures: Partial<Record<FigureName, Spread | undefined>>;
  /** What the chart shows. */
  bars?: Bar[];
};

export type Spread = { median: number; least: number; greatest: number };

/** The spread of at least one value. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const at = (index: number) => sorted.at(index) ?? Number.NaN;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    least: at(0),
    greatest: at(-1),
  };
}

/** The ratio of one series to another, computed for each round. */
export function ratios(series: readonly number[], reference: readonly number[]): Spread {
  return spread(series.map((value, round) => value / (reference[round] ?? Number.NaN)));
}

/** A number with three significant digits, or its whole part if that has more. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** A median with its range in brackets. */
export function shownSpread({ median, least, greatest }: Spread): string {
  return least === greatest || Number.isNaN(median)
    ? shown(median)
    : `${shown(median)} (${shown(least)}–${shown(greatest)})`;
}
