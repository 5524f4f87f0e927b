// Soak: the service in one process under full load for minutes, its memory and latency window by window.
import { GENERATOR } from '../load/load.ts';
import { measure } from '../measure.ts';
import { say } from '../rounds.ts';
import { shown, spread } from '../statistics.ts';
import { startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

const WINDOW_SECONDS = 10;

export const soak: Part = {
  title: 'Soak',
  how: ({ minutes }) =>
    `Load by ${GENERATOR} for ${minutes} minutes, in windows of ${WINDOW_SECONDS} s`,
  async run(stage, options) {
    const members = options.quick ? 10_000 : 100_000;
    const windows = Math.max(2, Math.round((options.minutes * 60) / WINDOW_SECONDS));
    const timing = { seconds: WINDOW_SECONDS, warmUpSeconds: 0, connections: options.connections };
    const running = await startInOne(stage, members);
    const rows: string[][] = [];
    const sizes: number[] = [];
    try {
      // The warm-up touches every member, so that the store's file is mapped before memory is first looked at.
      await measure(running, { ...timing, warmUpSeconds: options.quick ? 5 : 30, seconds: 1 });
      const before = running.usage().rssMb;
      for (let window = 1; window <= windows; window++) {
        const sample = await measure(running, timing);
        sizes.push(sample.rssMb);
        say(
          `window ${window} of ${windows}: ${Math.round(sample.perSecond)}/s, ${Math.round(sample.rssMb)} MB`,
        );
        if (window === 1 || window === windows || (window * WINDOW_SECONDS) % 60 === 0) {
          const { perSecond, p50Ms, p99Ms, rssMb } = sample;
          rows.push([
            `${window * WINDOW_SECONDS} s`,
            ...[perSecond, p50Ms, p99Ms, rssMb].map(shown),
          ]);
        }
      }
      const growth = (sizes.at(-1) ?? Number.NaN) / before;
      const title = `Full load on ${shown(members)} members, ${shown(before)} MB after the warm-up, at most ${shown(Math.max(...sizes))} MB`;
      const columns = ['after', 'requests/s', 'p50 ms', 'p99 ms', 'memory MB'];
      return {
        tables: [{ title, columns, rows }],
        figures: { soakMemory: spread([growth]) },
        notes: [],
      };
    } finally {
      await running.stop();
    }
  },
};
