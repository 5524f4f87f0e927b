// Measures contenders in rounds, in turns of a second: a slow minute affects all alike.
import type { Measurable, Sample, Slice, Timing } from './measure.ts';
import { type Contender, type Measurements, medianSample } from './measurements.ts';
import { progress } from './progress.ts';
import type { Testbed } from './testbed.ts';

export type Rounds = Timing & {
  rounds: number;
  /** Shorter and smaller, for a first look. */
  quick: boolean;
};

/** How `measureAlternating` measures, in words for the report. */
export function inTurns({ rounds, seconds }: Rounds, generator = 'wrk'): string {
  return `Load by ${generator}, ${rounds} rounds in which all rows run at once and take turns of one second in changing order, ${seconds} each, after ${WARM_UP}`;
}

/** A contender while it runs, and what it has measured. */
type Running = { measurable: Measurable; slices: Slice[] };

/**
 * In each round, all contenders run at the same time, and the load moves from one to the next every
 * second. A sample is the median of its seconds; its percentiles are of all requests, if their
 * times are known. Rejects if one of them fails.
 */
export async function measureAlternating<C extends Contender>(
  testbed: Testbed,
  contenders: readonly C[],
  rounds: Rounds,
): Promise<Measurements<C>[]> {
  const all = contenders.map((contender): Measurements<C> => ({ contender, samples: [] }));
  for (let round = 1; round <= rounds.rounds; round++) {
    const inOrder = orderOf(all, round - 1, rounds.rounds);
    const started = inOrder.map(({ contender }) => contender);
    const samples = await alternate(testbed, started, rounds);
    for (const [index, { contender, samples: earlier }] of inOrder.entries()) {
      const sample = samples[index];
      if (sample === undefined) continue;
      earlier.push(sample);
      const [answers, micros] = [Math.round(sample.perSecond), sample.cpuMicros.toFixed(1)];
      progress(`round ${round}: ${contender.title}: ${answers}/s, ${micros} µs CPU`);
    }
  }
  return all;
}

/** One round: a sample for each contender. */
async function alternate(
  testbed: Testbed,
  contenders: readonly Contender[],
  timing: Rounds,
): Promise<Sample[]> {
  const running: Running[] = [];
  try {
    for (const contender of contenders)
      running.push({ measurable: await contender.start(testbed), slices: [] });
    await warmUp(
      running.map(({ measurable }) => measurable),
      timing,
    );
    for (let turn = 0; turn < timing.seconds; turn++)
      for (const { measurable, slices } of orderOf(running, turn, timing.seconds))
        slices.push(await measurable.measure({ ...timing, seconds: 1 }));
  } finally {
    await Promise.all(running.map(({ measurable }) => measurable.stop()));
  }
  return running.map(({ slices }) => medianSample(slices));
}

/**
 * The rows in the order of one of `turns` turns: each turn begins further on, and every other one
 * goes backwards, so that no row is always early or always follows the same other one.
 */
export function orderOf<T>(rows: readonly T[], turn: number, turns: number): T[] {
  const first = Math.floor((turn * rows.length) / turns) % rows.length;
  const order = [...rows.slice(first), ...rows.slice(0, first)];
  return turn % 2 === 0 ? order : order.reverse();
}

/** After these, a request's cost stays the same. */
const REQUESTS = 20_000;
/** For one that is too slow for so many. */
const MAX_SECONDS = 20;
const MAX_QUICK_SECONDS = 10;
const MIN_SECONDS = 3;
/** For one that is warmed up by two loads in turn. */
const MIN_ALTERNATING_SECONDS = 10;

/** In words, for the report. */
export const WARM_UP = `a warm-up of ${REQUESTS.toLocaleString('en-US')} requests, for at least ${MIN_SECONDS} s and at most ${MAX_SECONDS} s`;

/** In turns of a second each, until all are warm. */
export async function warmUp(
  all: readonly Measurable[],
  { connections, quick }: Pick<Rounds, 'connections' | 'quick'>,
): Promise<void> {
  const most = quick ? MAX_QUICK_SECONDS : MAX_SECONDS;
  const answered = new Map<Measurable, number>();
  for (let turn = 0; turn < most; turn++)
    for (const measurable of all) {
      const before = answered.get(measurable) ?? 0;
      const least = measurable.warmUp === undefined ? MIN_SECONDS : MIN_ALTERNATING_SECONDS;
      if (turn >= least && before >= REQUESTS) continue;
      const load = measurable.warmUp ?? measurable.measure;
      const { perSecond } = await load({ seconds: 1, connections });
      answered.set(measurable, before + perSecond);
    }
}
