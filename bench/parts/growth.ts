// How cost grows with the number of keys, of members in each store, and of look-ups in one request.
import { aliasedTemplates } from '../dataset/requests.ts';
import type { Table } from '../report/outcome.ts';
import { ratios, shown, shownSpread, spread } from '../report/statistics.ts';
import { underLoad } from '../run/measure.ts';
import {
  type Contender,
  failuresOf,
  type Measurements,
  median,
  values,
} from '../run/measurements.ts';
import { measureRounds } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import { startApart, startInOne, startRemote } from '../variants/ours.ts';
import type { Part } from './part.ts';

type Step = Contender & { count: number };

const KEYS = steps([1, 10, 100], (testbed, keys) => startRemote(testbed, { keys }));

const LOOKUPS = [1, 2, 5, 10].map(
  (count): Step => ({
    title: `${count}`,
    count,
    async start(testbed) {
      const server = await startRemote(testbed);
      return underLoad(server, aliasedTemplates(server, count));
    },
  }),
);

export const growth: Part = {
  title: 'Growth',
  async run(testbed, options) {
    const sizes = options.quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000];
    const keys = await measureRounds(testbed, KEYS, options);
    const lookups = await measureRounds(testbed, LOOKUPS, options);
    const embedded = await measureRounds(testbed, steps(sizes, startInOne), options);
    const mongo = await measureRounds(testbed, steps(sizes, startApart), options);
    return {
      tables: [
        growthTable('Keys in use, this gateway with budgets in Redis', 'keys', keys),
        lookupsTable(lookups),
        growthTable('Members in the embedded store, in one process', 'members', embedded),
        growthTable('Members in MongoDB, as three processes', 'members', mongo),
      ],
      figures: { growthEmbedded: costRatio(embedded), growthMongo: costRatio(mongo) },
      failures: failuresOf([...keys, ...lookups, ...embedded, ...mongo]),
    };
  },
};

function steps(
  counts: readonly number[],
  start: (testbed: Testbed, count: number) => Promise<Server>,
): Step[] {
  return counts.map((count) => ({
    title: shown(count),
    count,
    start: async (testbed) => underLoad(await start(testbed, count)),
  }));
}

// Time per look-up of the whole system, the database included: the inverse of its throughput.
function costRatio(all: Measurements<Step>[]) {
  return ratios(values(all[0], 'perSecond'), values(all.at(-1), 'perSecond'));
}

function growthTable(title: string, counted: string, all: Measurements<Step>[]): Table {
  return {
    title,
    columns: [counted, 'requests/s', 'cost to the first row', 'p50 ms', 'p99 ms', 'CPU µs/request'],
    rows: all.map((measurements) => [
      measurements.contender.title,
      shownSpread(spread(values(measurements, 'perSecond'))),
      shown(ratios(values(all[0], 'perSecond'), values(measurements, 'perSecond')).median),
      ...(['p50Ms', 'p99Ms', 'cpuMicros'] as const).map((name) =>
        shown(median(measurements, name)),
      ),
    ]),
  };
}

function lookupsTable(all: Measurements<Step>[]): Table {
  return {
    title: 'Aliased look-ups in one request, this gateway',
    columns: [
      'look-ups',
      'requests/s',
      'look-ups/s',
      'CPU µs/request',
      'CPU µs/look-up',
      'p50 ms',
      'p99 ms',
    ],
    rows: all.map((measurements) => {
      const { title, count } = measurements.contender;
      const perSecond = median(measurements, 'perSecond');
      const micros = median(measurements, 'cpuMicros');
      const latencies = [median(measurements, 'p50Ms'), median(measurements, 'p99Ms')];
      return [
        title,
        ...[perSecond, perSecond * count, micros, micros / count, ...latencies].map(shown),
      ];
    }),
  };
}
