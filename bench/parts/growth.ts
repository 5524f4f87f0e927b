// How cost grows with the number of members in each store, and of events in each feed.
import { join } from 'node:path';
import { type StoreSettings, storesOf } from '../dataset/stores.ts';
import { ratios, shown, shownSpread, spread, type Table } from '../report/outcome.ts';
import { underLoad } from '../run/measure.ts';
import {
  type Contender,
  failuresOf,
  type Measurements,
  median,
  values,
} from '../run/measurements.ts';
import { measureRounds } from '../run/rounds.ts';
import { resultOf, type Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import type { FeedTimes } from '../servers/feed.ts';
import { startApart, startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

const FEED_SIZES = [10_000, 1_000_000, 10_000_000];

export const growth: Part = {
  title: 'Growth',
  async run(testbed, options) {
    const sizes = options.quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000];
    const embedded = await measureRounds(testbed, steps(sizes, startInOne), options);
    const mongo = await measureRounds(testbed, steps(sizes, startApart), options);
    return {
      tables: [
        growthTable('Members in the embedded store, in one process', embedded),
        growthTable('Members in MongoDB, as three processes', mongo),
        ...(await feedTables(testbed, options.quick ? [10_000, 100_000] : FEED_SIZES)),
      ],
      figures: { growthEmbedded: costRatio(embedded), growthMongo: costRatio(mongo) },
      failures: failuresOf([...embedded, ...mongo]),
    };
  },
};

function steps(
  counts: readonly number[],
  start: (testbed: Testbed, count: number) => Promise<Server>,
): Contender[] {
  return counts.map((count) => ({
    title: count.toLocaleString('en-US'),
    start: async (testbed) => underLoad(await start(testbed, count)),
  }));
}

// Time per look-up of the whole system, the database included: the inverse of its throughput.
function costRatio(all: Measurements<Contender>[]) {
  return ratios(values(all[0], 'perSecond'), values(all.at(-1), 'perSecond'));
}

function growthTable(title: string, all: Measurements<Contender>[]): Table {
  return {
    title,
    columns: [
      'members',
      'requests/s',
      'time to the first row',
      'CPU µs/request',
      'CPU to the first row',
      'p50 ms',
      'p99 ms',
    ],
    rows: all.map((measurements) => [
      measurements.contender.title,
      shownSpread(spread(values(measurements, 'perSecond'))),
      shown(ratios(values(all[0], 'perSecond'), values(measurements, 'perSecond')).median),
      shown(median(measurements, 'cpuMicros')),
      shown(ratios(values(measurements, 'cpuMicros'), values(all[0], 'cpuMicros')).median),
      shown(median(measurements, 'p50Ms')),
      shown(median(measurements, 'p99Ms')),
    ]),
  };
}

async function feedTables(testbed: Testbed, sizes: readonly number[]): Promise<Table[]> {
  const dataDir = join(testbed.folder, 'feed');
  const stores: [string, StoreSettings][] = [
    ['the embedded store', { dataDir, environment: 'sandbox' }],
    ['MongoDB', storesOf(0, { mongodbUrl: await testbed.mongodbUrl() })],
  ];
  const tables: Table[] = [];
  for (const [name, settings] of stores) {
    const times = await resultOf<FeedTimes>(testbed.node, 'feed.ts', [settings, sizes]);
    tables.push({
      title: `Pages of 100 events, anywhere in a feed in ${name}`,
      columns: ['events', 'ms', 'time to the first row'],
      rows: times.map((ofSize, index) => [
        (sizes[index] ?? 0).toLocaleString('en-US'),
        shownSpread(spread(ofSize)),
        shown(spread(ofSize).median / spread(times[0] ?? []).median),
      ]),
    });
  }
  return tables;
}
