// Gateways side by side: this project in three deployments, the peers and the floors.
import { ratios, shown, shownSpread, spread } from '../report/statistics.ts';
import type { Comparable } from '../run/compare.ts';
import { underLoad } from '../run/measure.ts';
import {
  type Contender,
  failuresOf,
  type Measurements,
  median,
  values,
} from '../run/measurements.ts';
import { measureRounds } from '../run/rounds.ts';
import { apollo } from '../variants/apollo.ts';
import { floor, floorInProcess } from '../variants/floor.ts';
import { hive, hiveRust } from '../variants/hive.ts';
import { mercurius } from '../variants/mercurius.ts';
import {
  ours,
  oursInOne,
  oursOnMongo,
  startApart,
  startInOne,
  startRemote,
} from '../variants/ours.ts';
import type { Variant } from '../variants/variant.ts';
import type { Part } from './part.ts';

type VariantContender = Contender & { variant: Variant };

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

const COMPARABLES: Comparable[] = [
  {
    title: ours.title,
    start: async (testbed, root) => underLoad(await startRemote(testbed, { root })),
  },
  {
    title: oursInOne.title,
    start: async (testbed, root) => underLoad(await startInOne(testbed, 100_000, { root })),
  },
  {
    title: oursOnMongo.title,
    start: async (testbed, root) => underLoad(await startApart(testbed, 10_000, { root })),
  },
];

export const gateways: Part = {
  title: 'Gateways side by side',
  comparables: COMPARABLES,
  async run(testbed, options) {
    const contenders = VARIANTS.map(
      (variant): VariantContender => ({
        variant,
        title: variant.title,
        start: async (at) => underLoad(await variant.start(at)),
      }),
    );
    const all = await measureRounds(testbed, contenders, options);
    const throughput = (variant: Variant) =>
      values(
        all.find(({ contender }) => contender.variant === variant),
        'perSecond',
      );
    const stock = throughput(apollo);
    return {
      tables: [table(all, stock, options.connections)],
      figures: {
        remoteToApollo: ratios(throughput(ours), stock),
        remoteToMercurius: ratios(throughput(ours), throughput(mercurius)),
        remoteToFloor: ratios(throughput(ours), throughput(floor)),
        inOneToApollo: ratios(throughput(oursInOne), stock),
        inOneToFloor: ratios(throughput(oursInOne), throughput(floorInProcess)),
      },
      bars: all.map((measurements) => {
        const { title, kind } = measurements.contender.variant;
        return { title, kind, perSecond: median(measurements, 'perSecond') };
      }),
      failures: failuresOf(all),
    };
  },
};

function table(
  all: readonly Measurements<VariantContender>[],
  stock: readonly number[],
  connections: number,
) {
  return {
    title: `\`memberByEmail\` with all six fields, ${connections} connections`,
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
    rows: all.map((measurements) => {
      const { contender, failure } = measurements;
      if (failure !== undefined) return [contender.title, 'failed', '', '', '', '', '', ''];
      const figure = (name: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros' | 'rssMb') =>
        shownSpread(spread(values(measurements, name)));
      return [
        contender.title,
        figure('perSecond'),
        shown(ratios(values(measurements, 'perSecond'), stock).median),
        figure('p50Ms'),
        figure('p99Ms'),
        figure('cpuMicros'),
        `${Math.round(median(measurements, 'busy') * 100)} %`,
        figure('rssMb'),
      ];
    }),
  };
}
