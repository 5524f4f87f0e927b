// How cost grows: with members in each store, with events in a feed, with endpoints of webhooks.
import { ratios, type Spread, shownSpread, spread, type Table } from '../report/outcome.ts';
import { underLoad } from '../run/measure.ts';
import { type Contender, cell, type Measurements, values } from '../run/measurements.ts';
import { measureAlternating, type Rounds } from '../run/rounds.ts';
import { resultOf, type Server } from '../run/server.ts';
import { ENGINES, type Testbed } from '../run/testbed.ts';
import type { DeliveriesOptions, DeliveryCost } from '../servers/deliveries.ts';
import type { FeedOptions, FeedTimes } from '../servers/feed.ts';
import { startApart, startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

/** Look-ups find a member by four keys. What stands for MongoDB takes long to fill. */
const SIZES = {
  members: [10_000, 2_500_000],
  membersInMongo: [10_000, 50_000],
  events: { 'the embedded store': [10_000, 10_000_000], MongoDB: [10_000, 1_000_000] },
  messages: 2_000,
};
const QUICK: typeof SIZES = {
  members: [1_000, 10_000],
  membersInMongo: [1_000, 10_000],
  events: { 'the embedded store': [10_000, 100_000], MongoDB: [10_000, 100_000] },
  messages: 500,
};
const ENDPOINTS = [
  { partners: 1, each: 1 },
  { partners: 20, each: 5 },
];

export const growth: Part = {
  title: 'Growth',
  notes: [
    'Look-ups find a member by four keys: the ID, the address, and for a partner the address and the external ID.',
    'Messages of webhooks go to a receiver in the process that is measured, which answers 204 at once. Positions are given to the events before.',
  ],
  async run(testbed, options) {
    const sizes = options.quick ? QUICK : SIZES;
    const inOne = 'Members in the embedded store, in one process';
    const apart = 'Members in MongoDB, as three processes';
    const all = [
      await ofMembers(testbed, inOne, sizes.members, startInOne, options),
      await ofMembers(testbed, apart, sizes.membersInMongo, startApart, options),
    ];
    for (const engine of ENGINES) all.push(await ofFeed(testbed, sizes.events[engine], engine));
    const tables = all.map(({ table }) => table);
    for (const engine of ENGINES)
      tables.push(await ofDeliveries(testbed, sizes.messages, engine, options));
    const [embedded, mongo, embeddedFeed, mongoFeed] = all.map(({ ratio }) => ratio);
    return {
      tables,
      figures: {
        growthEmbedded: embedded,
        growthMongo: mongo,
        feedEmbedded: embeddedFeed,
        feedMongo: mongoFeed,
      },
    };
  },
};

type Engine = (typeof ENGINES)[number];

/** A table, and the cost of its last row to the first one. */
type Growth = { table: Table; ratio: Spread };

async function ofMembers(
  testbed: Testbed,
  title: string,
  counts: readonly number[],
  start: (testbed: Testbed, count: number) => Promise<Server>,
  options: Rounds,
): Promise<Growth> {
  const contenders = counts.map(
    (count): Contender => ({
      title: count.toLocaleString('en-US'),
      start: async (at) => underLoad(await start(at, count)),
    }),
  );
  const all = await measureAlternating(testbed, contenders, options);
  const columns = ['requests/s', 'time to the first row', 'CPU µs/request', 'p50 ms', 'p99 ms'];
  // Time per look-up of the whole system, the database included: the inverse of its throughput.
  const toFirst = (each: Measurements | undefined) =>
    ratios(values(all[0], 'perSecond'), values(each, 'perSecond'));
  return {
    table: {
      title,
      columns: ['members', ...columns],
      rows: all.map((each) => [
        each.contender.title,
        cell(each, 'perSecond'),
        shownSpread(toFirst(each)),
        ...(['cpuMicros', 'p50Ms', 'p99Ms'] as const).map((figure) => cell(each, figure)),
      ]),
    },
    ratio: toFirst(all.at(-1)),
  };
}

async function ofFeed(testbed: Testbed, sizes: readonly number[], engine: Engine): Promise<Growth> {
  const feeds: FeedOptions = [];
  for (const size of sizes)
    feeds.push({ size, settings: await testbed.newStore(engine, `feed${size}`) });
  const times = await resultOf<FeedTimes>(testbed.node, 'feed.ts', feeds);
  const toFirst = (ofSize: readonly number[]) => ratios(ofSize, times[0] ?? []);
  return {
    table: {
      title: `Pages of 100 events, anywhere in a feed in ${engine}, in turns`,
      columns: ['events', 'ms', 'time to the first row'],
      rows: times.map((ofSize, index) => [
        (sizes[index] ?? 0).toLocaleString('en-US'),
        shownSpread(spread(ofSize)),
        shownSpread(toFirst(ofSize)),
      ]),
    },
    ratio: toFirst(times.at(-1) ?? []),
  };
}

async function ofDeliveries(
  testbed: Testbed,
  messages: number,
  engine: Engine,
  { rounds }: Rounds,
): Promise<Table> {
  const settings = await testbed.newStore(engine, 'deliveries');
  const options: DeliveriesOptions = { settings, rounds, messages, rows: ENDPOINTS };
  const costs = await resultOf<DeliveryCost[][]>(testbed.node, 'deliveries.ts', options);
  return {
    title: `${messages.toLocaleString('en-US')} messages to endpoints of webhooks, ${engine}`,
    columns: ['endpoints (partners × each)', 'CPU ms/message', 'ms/message', 'idle, CPU ms/s'],
    rows: costs.map((ofRow, index) => {
      const { partners = 0, each = 0 } = ENDPOINTS[index] ?? {};
      const figures = ['cpuMs', 'wallMs', 'idleMs'] as const;
      const cells = figures.map((name) => shownSpread(spread(ofRow.map((cost) => cost[name]))));
      return [`${partners * each} (${partners} × ${each})`, ...cells];
    }),
  };
}
