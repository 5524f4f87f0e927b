// The samples of all contenders of a run.
import { percentile } from '../load/raw.ts';
import { ratios, type Spread, shownSpread, spread } from '../report/outcome.ts';
import type { Measurable, Sample, Slice } from './measure.ts';
import type { Testbed } from './testbed.ts';

/** What is measured. It can be started from another checkout than the working tree. */
export type Contender = {
  title: string;
  start(testbed: Testbed, root?: string): Promise<Measurable>;
};

/** A contender's samples, one for each round. */
export type Measurements<C extends Contender = Contender> = { contender: C; samples: Sample[] };

/** One figure of every sample of a contender. */
export function valuesOf(
  all: readonly Measurements[],
  contender: Contender,
  figure: keyof Sample,
): number[] {
  return values(
    all.find((each) => each.contender === contender),
    figure,
  );
}

/** One figure of every sample. */
export function values(measurements: Measurements | undefined, figure: keyof Sample): number[] {
  return measurements?.samples.map((sample) => sample[figure]) ?? [];
}

/** One figure, as tables show it. */
export function cell(measurements: Measurements, figure: keyof Sample): string {
  return shownSpread(spread(values(measurements, figure)));
}

/** The ratio of one figure of two contenders, computed for each round. */
export function ratioOf(
  all: readonly Measurements[],
  figure: keyof Sample,
  contender: Contender,
  reference: Contender,
): Spread {
  return ratios(valuesOf(all, contender, figure), valuesOf(all, reference, figure));
}

/** The median of each figure, but percentiles over all slices if these have their latencies. */
export function medianSample(slices: readonly Slice[]): Sample {
  const of = (figure: keyof Sample) => spread(slices.map((slice) => slice[figure])).median;
  const all = slices.flatMap(({ latenciesMs = [] }) => latenciesMs);
  return {
    perSecond: of('perSecond'),
    p50Ms: all.length > 0 ? percentile(all, 0.5) : of('p50Ms'),
    p99Ms: all.length > 0 ? percentile(all, 0.99) : of('p99Ms'),
    cpuMicros: of('cpuMicros'),
    busy: of('busy'),
    rssMb: of('rssMb'),
  };
}
