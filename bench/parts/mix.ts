// A mix of requests by many keys: five reads, a third of whose look-ups miss, and mutations.
import { join } from 'node:path';
import { MIX_MEMBERS, writeList } from '../dataset/mix.ts';
import { ratios, shown, shownSpread, spread, type Table } from '../report/outcome.ts';
import { checkMix } from '../run/answers.ts';
import { type Measurable, type Sample, underWork } from '../run/measure.ts';
import { type Contender, type Measurements, median, values } from '../run/measurements.ts';
import { inTurns, measureAlternating } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import { type Changes, startInOne, startRemote } from '../variants/ours.ts';
import { apollo, floorOfMix, mercurius, type Variant } from '../variants/peers.ts';
import type { Part } from './part.ts';

type Row = Contender & Pick<Variant, 'kind'>;

const PARTNERS = 20;
const KEYS_OF_MIX = 200;
const KEYS_OF_READS = 60;
const MUTATIONS = 0.05;

const BUDGETS = 'Without Redis, the process counts the budgets of its keys.';
const OPERATIONS =
  'Of 100 reads, 40 look one member up with all six fields, 20 ask for the standing alone, 20 for the identity alone, 15 look two members up with a fragment, and 5 look ten up with aliases. A third of the look-ups find nobody.';
const KEYS =
  'Keys are used by Zipf: the second half as often as the first, the third a third as often, and so on.';

/** The reads alone, which peers answer as well. */
export const mixReads: Part = {
  title: 'A mix of reads',
  notes: [
    `${OPERATIONS} ${KEYS} The peers and the floor get the same requests without keys.`,
    'The gateways and the floor ask the same subgraphs, which answer from memory. In one process, each of the 10,000 members is enrolled with 20 partners, and has a standing with each.',
    BUDGETS,
  ],
  method: inTurns,
  async run(testbed, options) {
    const many = remote(KEYS_OF_READS, 0, false);
    const one = remote(1, 0, false);
    const inRedis = remote(KEYS_OF_READS, 0, true);
    const embedded = inOne(KEYS_OF_READS, 0, false);
    const embeddedInRedis = inOne(KEYS_OF_READS, 0, true);
    const [stock, jit, floor] = [peer(apollo), peer(mercurius), peer(floorOfMix)];
    const rows = [many, one, inRedis, embedded, embeddedInRedis, stock, jit, floor];
    const all = await measureAlternating(testbed, rows, options);
    const answers = (row: Row) => perCpuSecond(all.find(({ contender }) => contender === row));
    return {
      tables: [table(`Reads, ${options.connections} connections`, all, stock)],
      figures: {
        mixToApollo: ratios(answers(many), answers(stock)),
        mixToMercurius: ratios(answers(many), answers(jit)),
        mixInOneToApollo: ratios(answers(embedded), answers(stock)),
        mixKeys: ratios(answers(one), answers(many)),
      },
      bars: all
        .filter(({ contender }) => contender !== one)
        .map((measurements) => {
          const { title, kind } = measurements.contender;
          return { title, kind, perSecond: median(measurements, 'perSecond') };
        }),
    };
  },
  comparables: [
    { title: 'A mix of reads', start: startRemoteMix },
    { title: 'A mix of reads, in one process', start: startInOneMix },
  ].map(({ title, start }) => ({
    title,
    start: async (testbed, root) => atMix(testbed, await start(testbed, { root, redis: false }), 0),
  })),
};

export const mix: Part = {
  title: 'A mix of reads and mutations',
  notes: [
    `${OPERATIONS} 5 of 100 requests are mutations: half of them enroll a member who is enrolled already, and half change an external ID, which in the embedded store is a write. ${KEYS}`,
  ],
  method: inTurns,
  async run(testbed, options) {
    const rows = [1, KEYS_OF_MIX].flatMap((keys) => [
      remote(keys, MUTATIONS, true),
      inOne(keys, MUTATIONS, true),
    ]);
    const all = await measureAlternating(testbed, rows, options);
    return { tables: [table(`The mix, ${options.connections} connections`, all)], figures: {} };
  },
};

function remote(keys: number, mutations: number, redis: boolean): Row {
  return row('This gateway', { keys, redis }, mutations, startRemoteMix);
}

function inOne(keys: number, mutations: number, redis: boolean): Row {
  return row('This service in one process', { keys, redis }, mutations, startInOneMix);
}

function row(
  name: string,
  changes: { keys: number; redis: boolean },
  mutations: number,
  start: (testbed: Testbed, changes: Changes) => Promise<Server>,
): Row {
  const { keys, redis } = changes;
  const where = redis ? 'with Redis' : 'without Redis';
  return {
    title: `${name}, ${where}, ${keys} ${keys === 1 ? 'key' : 'keys'}`,
    kind: 'ours',
    start: async (testbed) => atMix(testbed, await start(testbed, changes), mutations),
  };
}

/** With the keys of the reads, unless there are changes. */
function startRemoteMix(testbed: Testbed, changes: Changes): Promise<Server> {
  return startRemote(testbed, { keys: KEYS_OF_READS, partners: PARTNERS, ...changes });
}

function startInOneMix(testbed: Testbed, changes: Changes): Promise<Server> {
  return startInOne(testbed, MIX_MEMBERS, { keys: KEYS_OF_READS, partners: PARTNERS, ...changes });
}

function peer({ title, kind, start }: Variant): Row {
  return { title, kind, start: async (testbed) => atMix(testbed, await start(testbed), 0) };
}

/** A server at the requests of the mix; `mutations` is their part. */
function atMix(testbed: Testbed, server: Server, mutations: number): Measurable {
  const list = join(testbed.folder, `mix${new URL(server.url).port}.txt`);
  writeList(list, server, { mutations });
  return underWork(server, { requests: { list }, check: () => checkMix(server, mutations > 0) });
}

/** Ratios are to `reference`, or to the first row without one. */
function table(title: string, all: readonly Measurements<Row>[], reference?: Row): Table {
  const other = all.find(({ contender }) => contender === reference) ?? all[0];
  const name = reference === undefined ? 'the first row' : 'stock';
  return {
    title,
    columns: [
      '',
      'requests/s',
      `to ${name}`,
      'CPU µs/request',
      `per CPU second, to ${name}`,
      'p50 ms',
      'p99 ms',
      'core busy',
      'memory MB',
    ],
    rows: all.map((measurements) => {
      const { contender } = measurements;
      const figure = (each: keyof Sample) => shownSpread(spread(values(measurements, each)));
      return [
        contender.title,
        figure('perSecond'),
        shown(ratios(values(measurements, 'perSecond'), values(other, 'perSecond')).median),
        figure('cpuMicros'),
        shown(ratios(perCpuSecond(measurements), perCpuSecond(other)).median),
        figure('p50Ms'),
        figure('p99Ms'),
        `${Math.round(median(measurements, 'busy') * 100)} %`,
        figure('rssMb'),
      ];
    }),
  };
}

function perCpuSecond(measurements: Measurements<Row> | undefined): number[] {
  return values(measurements, 'cpuMicros').map((micros) => 1e6 / micros);
}
