// Two workers beside one: the whole service with WORKERS=1 and WORKERS=2, on two cores.
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
        underLoad(await startInOne(at, members, { workers: count, redis, cores: 'two' })),
    });
    const one = contender(1, true);
    const two = contender(2, true);
    const oneAlone = contender(1, false);
    const twoAlone = contender(2, false);
    const all = await measureRounds(testbed, [oneAlone, twoAlone, one, two], options);
    const of = (wanted: Contender, name: 'perSecond' | 'cpuMicros') =>
      values(
        all.find((measurements) => measurements.contender === wanted),
        name,
      );
    return {
      tables: [
        {
          title: 'WORKERS, on two cores; with fewer than four, the load is on the same ones',
          columns: ['workers', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'memory MB'],
          rows: all.map((measurements) => [
            measurements.contender.title,
            ...(['perSecond', 'p50Ms', 'p99Ms', 'cpuMicros', 'rssMb'] as const).map((name) =>
              shownSpread(spread(values(measurements, name))),
            ),
          ]),
        },
      ],
      figures: {
        workers: ratios(of(two, 'perSecond'), of(one, 'perSecond')),
        workersPerCpu: ratios(of(one, 'cpuMicros'), of(two, 'cpuMicros')),
        workersPerCpuAlone: ratios(of(oneAlone, 'cpuMicros'), of(twoAlone, 'cpuMicros')),
      },
      failures: failuresOf(all),
    };
  },
};
