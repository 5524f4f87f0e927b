// Interleaved rounds: a slow minute of the machine affects every contender alike.
import type { Measurable, Sample, Timing } from './measure.ts';
import { type Contender, type Measurements, medianSample } from './measurements.ts';
import { progress } from './progress.ts';
import type { Testbed } from './testbed.ts';

export type Rounds = Timing & { rounds: number };

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
    for (const measurements of all.filter(({ failure }) => failure === undefined)) {
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
    const samples = await alternate(testbed, contenders, rounds);
    for (const [index, sample] of samples.entries()) {
      const measurements = all[index];
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
  { seconds, warmUpSeconds, connections }: Timing,
): Promise<Sample[]> {
  const running: { measurable: Measurable; slices: Sample[] }[] = [];
  const slice = { seconds: 1, warmUpSeconds: 0, connections };
  try {
    for (const contender of contenders) {
      const measurable = await contender.start(testbed);
      running.push({ measurable, slices: [] });
      if (warmUpSeconds > 0) await measurable.measure({ ...slice, seconds: warmUpSeconds });
    }
    for (let second = 0; second < seconds; second++) {
      // Back and forth, so that none always follows the same other one.
      for (const { measurable, slices } of second % 2 === 0 ? running : running.toReversed())
        slices.push(await measurable.measure(slice));
    }
  } finally {
    await Promise.all(running.map(({ measurable }) => measurable.stop()));
  }
  return running.map(({ slices }) => medianSample(slices));
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
