// Interleaved rounds: every variant once a round, each time started anew, so that a slow minute of the machine meets all of them.
import { measure, type Sample, type Timing } from './measure.ts';
import type { Running, Stage } from './stage.ts';
import { spread } from './statistics.ts';

export type Contender = {
  title: string;
  start(stage: Stage): Promise<Running>;
  texts?: (running: Running) => string[];
};

export type Rounds = Timing & { rounds: number };

/** A contender's samples, a round each; or why there are none. */
export type Course<C extends Contender> = { contender: C; samples: Sample[]; failure?: string };

/** Measures every contender in every round. One that fails is left out from then on, and its samples are dropped. */
export async function measureRounds<C extends Contender>(
  stage: Stage,
  contenders: readonly C[],
  rounds: Rounds,
): Promise<Course<C>[]> {
  const courses: Course<C>[] = contenders.map((contender) => ({ contender, samples: [] }));
  for (let round = 1; round <= rounds.rounds; round++) {
    for (const course of courses.filter(({ failure }) => failure === undefined)) {
      const { contender } = course;
      try {
        const running = await contender.start(stage);
        try {
          const sample = await measure(running, rounds, contender.texts?.(running));
          course.samples.push(sample);
          say(
            `round ${round}: ${contender.title}: ${Math.round(sample.perSecond)}/s, ${Math.round(sample.cpuMicros)} µs CPU`,
          );
        } finally {
          await running.stop();
        }
      } catch (error) {
        course.failure = error instanceof Error ? error.message : String(error);
        course.samples = [];
        say(`${contender.title} failed: ${course.failure}`);
      }
    }
  }
  return courses;
}

/**
 * The same for contenders that differ by little: in each round all run at the same time, and the load goes from one to the next every second, so that
 * each meets the same machine. A sample is the median of its seconds. Rejects where one fails.
 */
export async function measureAlternating<C extends Contender>(
  stage: Stage,
  contenders: readonly C[],
  { rounds, seconds, warmUpSeconds, connections }: Rounds,
): Promise<Course<C>[]> {
  const courses: Course<C>[] = contenders.map((contender) => ({ contender, samples: [] }));
  for (let round = 1; round <= rounds; round++) {
    const started: { course: Course<C>; running: Running; slices: Sample[] }[] = [];
    try {
      for (const course of courses) {
        const running = await course.contender.start(stage);
        started.push({ course, running, slices: [] });
        if (warmUpSeconds > 0)
          await measure(running, { seconds: warmUpSeconds, warmUpSeconds: 0, connections });
      }
      for (let second = 0; second < seconds; second++) {
        for (const { running, slices } of started)
          slices.push(await measure(running, { seconds: 1, warmUpSeconds: 0, connections }));
      }
    } finally {
      await Promise.all(started.map(({ running }) => running.stop()));
    }
    for (const { course, slices } of started) {
      const sample = medianOf(slices);
      course.samples.push(sample);
      say(
        `round ${round}: ${course.contender.title}: ${Math.round(sample.perSecond)}/s, ${sample.cpuMicros.toFixed(1)} µs CPU`,
      );
    }
  }
  return courses;
}

function medianOf(samples: readonly Sample[]): Sample {
  const of = (figure: keyof Sample) => spread(samples.map((sample) => sample[figure])).median;
  return {
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMicros: of('cpuMicros'),
    busy: of('busy'),
    rssMb: of('rssMb'),
  };
}

/** A figure of every sample of a course. */
export function series(course: Course<Contender> | undefined, of: keyof Sample): number[] {
  return course?.samples.map((sample) => sample[of]) ?? [];
}

/** The median of a figure over the rounds. */
export function median(course: Course<Contender> | undefined, of: keyof Sample): number {
  return spread(series(course, of)).median;
}

/** Progress, beside the results on stdout. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
