// Gateways side by side: this project's three ways to run, the peers and the floors, interleaved in one run.
import { measureRounds, median, series } from '../rounds.ts';
import { ratios, shown, shownSpread, spread } from '../statistics.ts';
import { apollo } from '../variants/apollo.ts';
import { floor, floorInProcess } from '../variants/floor.ts';
import { hive, hiveRust } from '../variants/hive.ts';
import { mercurius } from '../variants/mercurius.ts';
import { ours, oursInOne, oursOnMongo } from '../variants/ours.ts';
import type { Part } from './part.ts';

const VARIANTS = [
  ours,
  oursInOne,
  oursOnMongo,
  apollo,
  mercurius,
  hive,
  hiveRust,
  floor,
  floorInProcess,
];

export const gateways: Part = {
  title: 'Gateways side by side',
  async run(stage, options) {
    const courses = await measureRounds(stage, VARIANTS, options);
    const of = (variant: (typeof VARIANTS)[number]) =>
      series(
        courses.find(({ contender }) => contender === variant),
        'perSecond',
      );
    const stock = of(apollo);
    const table = {
      title: `\`memberByEmail\` with all six fields, ${options.connections} connections`,
      columns: [
        '',
        'requests/s',
        'to stock',
        'p50 ms',
        'p99 ms',
        'CPU µs/request',
        'core busy',
        'memory MB',
      ],
      rows: courses.map((course) => {
        if (course.failure !== undefined)
          return [course.contender.title, 'failed', '', '', '', '', '', ''];
        const figure = (name: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros' | 'rssMb') =>
          shownSpread(spread(series(course, name)));
        return [
          course.contender.title,
          figure('perSecond'),
          shown(ratios(series(course, 'perSecond'), stock).median),
          figure('p50Ms'),
          figure('p99Ms'),
          figure('cpuMicros'),
          `${Math.round(median(course, 'busy') * 100)} %`,
          figure('rssMb'),
        ];
      }),
    };
    return {
      tables: [table],
      figures: {
        remoteToApollo: ratios(of(ours), stock),
        remoteToMercurius: ratios(of(ours), of(mercurius)),
        remoteToFloor: ratios(of(ours), of(floor)),
        inOneToApollo: ratios(of(oursInOne), stock),
        inOneToFloor: ratios(of(oursInOne), of(floorInProcess)),
      },
      bars: courses.map((course) => ({
        title: course.contender.title,
        kind: course.contender.kind,
        perSecond: median(course, 'perSecond'),
      })),
      notes: courses.flatMap(({ contender, failure }) =>
        failure === undefined ? [] : [`${contender.title} failed: ${failure.slice(0, 300)}`],
      ),
    };
  },
};
