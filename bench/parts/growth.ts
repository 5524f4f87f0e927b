// How cost grows with the number of keys, of members in each store, and of look-ups in one request.
import { aliasedTemplates, listTemplates } from '../dataset/requests.ts';
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
import { inTurns, measureAlternating, measureRounds } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import { startApart, startInOne, startRemote } from '../variants/ours.ts';
import type { Part } from './part.ts';

type Step = Contender & { count: number };

const KEYS = [1, 10, 100];

const EMBEDDED_MEMBERS = 10_000;

const REMOTE_LOOKUPS = lookups((testbed) => startRemote(testbed));
const IN_ONE_LOOKUPS = lookups((testbed) => startInOne(testbed, EMBEDDED_MEMBERS));

/** A part of its own, as growth takes far longer. */
export const keys: Part = {
  title: 'Keys in use',
  notes: ['Keys take turns, one request each.'],
  method: inTurns,
  async run(testbed, options) {
    const contenders = [true, false].flatMap((redis) =>
      steps(KEYS, (at, count) => startRemote(at, { keys: count, redis })),
    );
    const all = await measureAlternating(testbed, contenders, options);
    const [inRedis, inMemory] = [all.slice(0, KEYS.length), all.slice(KEYS.length)];
    return {
      tables: [
        growthTable('This gateway, with Redis', 'keys', inRedis),
        growthTable('This gateway, without Redis', 'keys', inMemory),
      ],
      figures: { keysRedis: cpuRatio(inRedis), keysMemory: cpuRatio(inMemory) },
    };
  },
};

export const growth: Part = {
  title: 'Growth',
  async run(testbed, options) {
    const sizes = options.quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000];
    const remote = await measureRounds(testbed, REMOTE_LOOKUPS, options);
    const inOne = await measureRounds(testbed, IN_ONE_LOOKUPS, options);
    const embedded = await measureRounds(testbed, steps(sizes, startInOne), options);
    const mongo = await measureRounds(testbed, steps(sizes, startApart), options);
    return {
      tables: [
        lookupsTable('Look-ups in one request, this gateway', remote),
        lookupsTable('Look-ups in one request, in one process on the embedded store', inOne),
        growthTable('Members in the embedded store, in one process', 'members', embedded),
        growthTable('Members in MongoDB, as three processes', 'members', mongo),
      ],
      figures: { growthEmbedded: costRatio(embedded), growthMongo: costRatio(mongo) },
      failures: failuresOf([...remote, ...inOne, ...embedded, ...mongo]),
    };
  },
};

function steps(
  counts: readonly number[],
  start: (testbed: Testbed, count: number) => Promise<Server>,
): Step[] {
  return counts.map((count) => ({
    title: count.toLocaleString('en-US'),
    count,
    start: async (testbed) => underLoad(await start(testbed, count)),
  }));
}

/** Aliases of a look-up, and a list of the length that is allowed at most. */
function lookups(start: (testbed: Testbed) => Promise<Server>): Step[] {
  const step = (
    count: number,
    title: string,
    templates: (server: Server, count: number) => string[],
  ): Step => ({
    title,
    count,
    async start(testbed) {
      const server = await start(testbed);
      return underLoad(server, templates(server, count));
    },
  });
  return [
    ...[1, 2, 5, 10].map((count) => step(count, `${count}`, aliasedTemplates)),
    step(100, '100 in a list', listTemplates),
  ];
}

// Time per look-up of the whole system, the database included: the inverse of its throughput.
function costRatio(all: Measurements<Step>[]) {
  return ratios(values(all[0], 'perSecond'), values(all.at(-1), 'perSecond'));
}

function cpuRatio(all: Measurements<Step>[]) {
  return ratios(values(all.at(-1), 'cpuMicros'), values(all[0], 'cpuMicros'));
}

function growthTable(title: string, counted: string, all: Measurements<Step>[]): Table {
  return {
    title,
    columns: [
      counted,
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

function lookupsTable(title: string, all: Measurements<Step>[]): Table {
  return {
    title,
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
      const { title: lookupCount, count } = measurements.contender;
      const perSecond = median(measurements, 'perSecond');
      const micros = median(measurements, 'cpuMicros');
      const latencies = [median(measurements, 'p50Ms'), median(measurements, 'p99Ms')];
      return [
        lookupCount,
        ...[perSecond, perSecond * count, micros, micros / count, ...latencies].map(shown),
      ];
    }),
  };
}
