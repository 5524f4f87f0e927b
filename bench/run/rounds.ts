// Measures contenders in interleaved rounds: a slow minute of the machine affects all alike.
import type { Measurable, Sample, Slice, Timing } from './measure.ts';
import { type Contender, type Measurements, medianSample } from './measurements.ts';
import { progress } from './progress.ts';
import type { Testbed } from './testbed.ts';

export type Rounds = Timing & { rounds: number };

/** How `measureRounds` measures, in words for the report. */
export function inRounds({ rounds, seconds }: Rounds): string {
  return `Load by wrk, ${rounds} rounds of ${seconds} s after ${WARM_UP}`;
}

/** The same for `measureAlternating`. */
export function inTurns({ rounds, seconds }: Rounds, generator = 'wrk'): string {
  return `Load by ${generator}, ${rounds} rounds in which all rows run at once and take turns of one second in changing order, ${seconds} each, after ${WARM_UP}`;
}

/** A contender while it runs, and what it has measured. */
type Running = { measurable: Measurable; slices: Slice[] };

/**
 * Measures the contenders one after the other in every round, each in a new process. One that fails
 * is left out of later rounds, and its samples are dropped.
 */
export async function measureRounds<C extends Contender>(
  testbed: Testbed,
  contenders: readonly C[],
  rounds: Rounds,
): Promise<Measurements<C>[]> {
  const all = contenders.map((contender): Measurements<C> => ({ contender, samples: [] }));
  for (let round = 1; round <= rounds.rounds; round++) {
    const left = all.filter(({ failure }) => failure === undefined);
    for (const measurements of orderOf(left, round - 1, rounds.rounds)) {
      const { contender } = measurements;
      try {
        const sample = await warmMeasure(await contender.start(testbed), rounds);
        measurements.samples.push(sample);
        reportSample(round, contender, sample);
      } catch (error) {
        measurements.failure = error instanceof Error ? error.message : String(error);
        measurements.samples = [];
        progress(`${contender.title} failed: ${measurements.failure}`);
      }
    }
  }
  return all;
}

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
    for (const [index, sample] of samples.entries()) {
      const measurements = inOrder[index];
      if (measurements === undefined) continue;
      measurements.samples.push(sample);
      reportSample(round, measurements.contender, sample);
    }
  }
  return all;
}

/** One round of the above: a sample for each contender. */
export async function alternate(
  testbed: Testbed,
  contenders: readonly Contender[],
  timing: Timing,
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

/** Warms a started process up, measures it and stops it. */
export async function warmMeasure(measurable: Measurable, timing: Timing): Promise<Sample> {
  try {
    await warmUp([measurable], timing);
    return await measurable.measure(timing);
  } finally {
    await measurable.stop();
  }
}

function reportSample(round: number, { title }: Contender, { perSecond, cpuMicros }: Sample): void {
  progress(`round ${round}: ${title}: ${Math.round(perSecond)}/s, ${cpuMicros.toFixed(1)} µs CPU`);
}

/** After these, a request's cost stays the same. */
const REQUESTS = 20_000;
/** For one that is too slow for so many. */
const MAX_SECONDS = 20;
const MIN_SECONDS = 3;
/** For one that is warmed up by two loads in turn. */
const MIN_ALTERNATING_SECONDS = 10;

/** In words, for the report. */
export const WARM_UP = `a warm-up of ${REQUESTS.toLocaleString('en-US')} requests, for at least ${MIN_SECONDS} s and at most ${MAX_SECONDS} s`;

/** In turns of a second each, until all are warm. */
export async function warmUp(
  all: readonly Measurable[],
  { connections }: Pick<Timing, 'connections'>,
): Promise<void> {
  const answered = new Map<Measurable, number>();
  for (let turn = 0; turn < MAX_SECONDS; turn++)
    for (const measurable of all) {
      const before = answered.get(measurable) ?? 0;
      const least = measurable.warmUp === undefined ? MIN_SECONDS : MIN_ALTERNATING_SECONDS;
      if (turn >= least && before >= REQUESTS) continue;
      const load = measurable.warmUp ?? measurable.measure;
      const { perSecond } = await load({ seconds: 1, connections });
      answered.set(measurable, before + perSecond);
    }
}
