// Interleaved rounds: a slow minute of the machine affects every contender alike.
import type { Measurable, Sample, Timing } from './measure.ts';
import { type Contender, type Measurements, medianSample } from './measurements.ts';
import { progress } from './progress.ts';
import type { Testbed } from './testbed.ts';

export type Rounds = Timing & { rounds: number };

/** A contender while it runs: what it has measured, and how many requests it has answered. */
type Running = { measurable: Measurable; slices: Sample[]; answered: number };

/** After these, a request's cost stays the same, as V8 has compiled what it runs. */
const WARM_UP_REQUESTS = 20_000;
/** A contender that is too slow for so many is warmed up for so many times as long as others. */
const MAX_WARM_UPS = 4;

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
        const sample = await measureOnce(testbed, contender, rounds);
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
 * Measures contenders that differ by little: in each round all run at the same time, and the load
 * moves from one to the next every second. A sample is the median of its seconds. Rejects if one
 * of them fails.
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
      running.push({ measurable: await contender.start(testbed), slices: [], answered: 0 });
    await warmUpTogether(running, timing);
    for (let turn = 0; turn < timing.seconds; turn++)
      for (const each of orderOf(running, turn, timing.seconds))
        each.slices.push(await measureSlice(each, timing));
  } finally {
    await Promise.all(running.map(({ measurable }) => measurable.stop()));
  }
  return running.map(({ slices }) => medianSample(slices));
}

/**
 * In turns as well, until all have answered so many requests: V8 compiles a function by how often
 * it has run, and on a busy machine one row's seconds hold many more requests than another's.
 */
async function warmUpTogether(running: readonly Running[], timing: Timing): Promise<void> {
  const { warmUpSeconds } = timing;
  const isWarm = ({ answered }: Running) => answered >= WARM_UP_REQUESTS;
  for (let turn = 0; turn < warmUpSeconds * MAX_WARM_UPS; turn++) {
    if (turn >= warmUpSeconds && running.every(isWarm)) return;
    for (const each of orderOf(running, turn, warmUpSeconds)) await measureSlice(each, timing);
  }
}

async function measureSlice(running: Running, { connections }: Timing): Promise<Sample> {
  const slice = { seconds: 1, warmUpSeconds: 0, connections };
  const sample = await running.measurable.measure(slice);
  running.answered += sample.perSecond;
  return sample;
}

/**
 * The rows in the order of one of `turns` turns: each turn begins further on, and every other one
 * goes backwards, so that no row is always early or always follows the same other one.
 */
function orderOf<T>(rows: readonly T[], turn: number, turns: number): T[] {
  const first = Math.floor((turn * rows.length) / turns) % rows.length;
  const order = [...rows.slice(first), ...rows.slice(0, first)];
  return turn % 2 === 0 ? order : order.reverse();
}

async function measureOnce(
  testbed: Testbed,
  contender: Contender,
  timing: Timing,
): Promise<Sample> {
  const measurable = await contender.start(testbed);
  try {
    return await measurable.measure(timing);
  } finally {
    await measurable.stop();
  }
}

function reportSample(round: number, { title }: Contender, { perSecond, cpuMicros }: Sample): void {
  progress(`round ${round}: ${title}: ${Math.round(perSecond)}/s, ${cpuMicros.toFixed(1)} µs CPU`);
}
