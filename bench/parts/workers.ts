// Two workers to one: the service in one process with WORKERS=1 and WORKERS=2, the load on the same cores.
import { measureRounds, series } from '../rounds.ts';
import { ratios, shownSpread, spread } from '../statistics.ts';
import { startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

export const workers: Part = {
  title: 'Workers',
  async run(stage, options) {
    const members = options.quick ? 1_000 : 100_000;
    const contenders = [false, true].flatMap((redis) =>
      [1, 2].map((count) => ({
        title: `${count} ${redis ? 'with budgets in Redis' : 'without Redis'}`,
        start: (at: typeof stage) =>
          startInOne(at, members, { workers: count, redis, place: 'both' as const }),
      })),
    );
    const courses = await measureRounds(stage, contenders, options);
    const perSecond = courses.map((course) => series(course, 'perSecond'));
    return {
      tables: [
        {
          title: 'WORKERS, load from the same cores',
          columns: ['workers', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'memory MB'],
          rows: courses.map((course) => [
            course.contender.title,
            ...(['perSecond', 'p50Ms', 'p99Ms', 'cpuMicros', 'rssMb'] as const).map((name) =>
              shownSpread(spread(series(course, name))),
            ),
          ]),
        },
      ],
      figures: { workers: ratios(perSecond[3] ?? [], perSecond[2] ?? []) },
      notes: courses.flatMap(({ contender, failure }) =>
        failure === undefined ? [] : [`${contender.title} failed: ${failure.slice(0, 300)}`],
      ),
    };
  },
};
