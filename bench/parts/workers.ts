// Two workers beside one: the whole service with WORKERS=1 and WORKERS=2, on the load's cores.
import { ratios, shownSpread, spread } from '../report/statistics.ts';
import { underLoad } from '../run/measure.ts';
import { type Contender, failuresOf, values } from '../run/measurements.ts';
import { measureRounds } from '../run/rounds.ts';
import { startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

export const workers: Part = {
  title: 'Workers',
  async run(testbed, options) {
    const members = options.quick ? 1_000 : 100_000;
    const contender = (count: number, redis: boolean): Contender => ({
      title: `${count} ${redis ? 'with budgets in Redis' : 'without Redis'}`,
      start: async (at) =>
        underLoad(await startInOne(at, members, { workers: count, redis, cores: 'all' })),
    });
    const one = contender(1, true);
    const two = contender(2, true);
    const contenders = [contender(1, false), contender(2, false), one, two];
    const all = await measureRounds(testbed, contenders, options);
    const throughput = (wanted: Contender) =>
      values(
        all.find((measurements) => measurements.contender === wanted),
        'perSecond',
      );
    return {
      tables: [
        {
          title: 'WORKERS, with the load on the same cores',
          columns: ['workers', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'memory MB'],
          rows: all.map((measurements) => [
            measurements.contender.title,
            ...(['perSecond', 'p50Ms', 'p99Ms', 'cpuMicros', 'rssMb'] as const).map((name) =>
              shownSpread(spread(values(measurements, name))),
            ),
          ]),
        },
      ],
      figures: { workers: ratios(throughput(two), throughput(one)) },
      failures: failuresOf(all),
    };
  },
};
