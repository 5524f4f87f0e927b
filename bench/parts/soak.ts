// The soak: the service in one process under full load for minutes, in windows.
import { GENERATOR } from '../load/saturate.ts';
import { shown, spread } from '../report/statistics.ts';
import { measure, type Sample } from '../run/measure.ts';
import { progress } from '../run/progress.ts';
import { startInOne } from '../variants/ours.ts';
import type { Options, Part } from './part.ts';

const WINDOW_SECONDS = 10;

export const soak: Part = {
  title: 'Soak',
  method: ({ minutes }) =>
    `Load by ${GENERATOR} for ${minutes} minutes, in windows of ${WINDOW_SECONDS} s`,
  async run(testbed, options) {
    const members = options.quick ? 10_000 : 100_000;
    const timing = { seconds: WINDOW_SECONDS, connections: options.connections };
    const server = await startInOne(testbed, members);
    try {
      // The warm-up reads every member: the store's file is mapped before memory is measured.
      await measure(server, { ...timing, seconds: options.quick ? 5 : 30 });
      const warmMb = server.usage().rssMb;
      const samples: Sample[] = [];
      for (const window of windowsOf(options)) {
        const sample = await measure(server, timing);
        samples.push(sample);
        progress(
          `window ${window}: ${Math.round(sample.perSecond)}/s, ${Math.round(sample.rssMb)} MB`,
        );
      }
      return outcomeOf(samples, members, warmMb);
    } finally {
      await server.stop();
    }
  },
};

function windowsOf({ minutes }: Options): number[] {
  const length = Math.max(2, Math.round((minutes * 60) / WINDOW_SECONDS));
  return Array.from({ length }, (_, index) => index + 1);
}

function outcomeOf(samples: Sample[], members: number, warmMb: number) {
  const highest = Math.max(...samples.map(({ rssMb }) => rssMb));
  const rows = samples.flatMap(({ perSecond, p50Ms, p99Ms, rssMb }, index) => {
    const seconds = (index + 1) * WINDOW_SECONDS;
    const isShown = index === 0 || index === samples.length - 1 || seconds % 60 === 0;
    return isShown ? [[`${seconds} s`, ...[perSecond, p50Ms, p99Ms, rssMb].map(shown)]] : [];
  });
  return {
    tables: [
      {
        title: `Full load on ${shown(members)} members, ${shown(warmMb)} MB after the warm-up, at most ${shown(highest)} MB`,
        columns: ['after', 'requests/s', 'p50 ms', 'p99 ms', 'memory MB'],
        rows,
      },
    ],
    figures: { soakMemory: spread([(samples.at(-1)?.rssMb ?? Number.NaN) / warmMb]) },
  };
}
