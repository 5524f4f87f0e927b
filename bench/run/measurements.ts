// The samples of all contenders of a run.
import { percentile } from '../load/raw.ts';
import { spread } from '../report/outcome.ts';
import type { Measurable, Sample, Slice } from './measure.ts';
import type { Testbed } from './testbed.ts';

export type Contender = { title: string; start(testbed: Testbed): Promise<Measurable> };

/** A contender's samples, one for each round, or why there are none. */
export type Measurements<C extends Contender> = {
  contender: C;
  samples: Sample[];
  failure?: string;
};

/** One figure of every sample. */
export function values(
  measurements: Measurements<Contender> | undefined,
  figure: keyof Sample,
): number[] {
  return measurements?.samples.map((sample) => sample[figure]) ?? [];
}

/** The median of one figure over the rounds. */
export function median(
  measurements: Measurements<Contender> | undefined,
  figure: keyof Sample,
): number {
  return spread(values(measurements, figure)).median;
}

/** A line for each contender that failed. */
export function failuresOf(all: readonly Measurements<Contender>[]): string[] {
  return all.flatMap(({ contender, failure }) =>
    failure === undefined ? [] : [`${contender.title} failed: ${failure.slice(0, 300)}`],
  );
}

/** The median of each figure, but percentiles over all slices if these have their latencies. */
export function medianSample(slices: readonly Slice[]): Sample {
  const of = (figure: keyof Sample) => spread(slices.map((slice) => slice[figure])).median;
  const all = Float64Array.from(slices.flatMap(({ latenciesMs = [] }) => latenciesMs));
  return {
    perSecond: of('perSecond'),
    p50Ms: all.length > 0 ? percentile(all, 0.5) : of('p50Ms'),
    p99Ms: all.length > 0 ? percentile(all, 0.99) : of('p99Ms'),
    cpuMicros: of('cpuMicros'),
    busy: of('busy'),
    rssMb: of('rssMb'),
  };
}
