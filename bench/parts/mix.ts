// A mix of requests by many keys: five reads, a third of whose look-ups miss, and mutations.
import { MIX_MEMBERS, mixRequests } from '../dataset/mix.ts';
import { UNKNOWN } from '../dataset/operations.ts';
import { shown, spread, type Table } from '../report/outcome.ts';
import { checkMix } from '../run/answers.ts';
import { type Measurable, underLoad } from '../run/measure.ts';
import { type Contender, cell, type Measurements, ratioOf, values } from '../run/measurements.ts';
import { measureAlternating } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import { startInOne, startRemote } from '../variants/ours.ts';
import { apollo, floor, mercurius, type Variant } from '../variants/peers.ts';
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

const MANY = remote({ keys: KEYS_OF_READS, redis: false });
const ONE = remote({ keys: 1, redis: false });
const IN_REDIS = remote({ keys: KEYS_OF_READS, redis: true });
const IN_ONE = inOne({ keys: KEYS_OF_READS, redis: false });
const IN_ONE_IN_REDIS = inOne({ keys: KEYS_OF_READS, redis: true });

/** The reads alone, which peers answer as well. */
export const mixReads: Part = {
  title: 'A mix of reads',
  notes: [
    `${OPERATIONS} ${KEYS} The peers and the floor get the same requests without keys.`,
    'The gateways and the floor ask the same subgraphs, which answer from memory. In one process, each of the 10,000 members is enrolled with 20 partners, and has a standing with each.',
    BUDGETS,
  ],
  async run(testbed, options) {
    const [stock, jit, bare] = [peer(apollo), peer(mercurius), peer(floor)];
    const others = options.quick ? [] : [IN_REDIS, IN_ONE_IN_REDIS, bare];
    const rows = [MANY, ONE, IN_ONE, stock, jit, ...others];
    const all = await measureAlternating(testbed, rows, options);
    // Answers per CPU second of one to those of another are the CPU times the other way round.
    const answers = (row: Row, reference: Row) => ratioOf(all, 'cpuMicros', reference, row);
    return {
      tables: [table(`Reads, ${options.connections} connections`, all, stock)],
      figures: {
        mixToApollo: answers(MANY, stock),
        mixToMercurius: answers(MANY, jit),
        mixInOneToApollo: answers(IN_ONE, stock),
        mixTail: ratioOf(all, 'p99Ms', MANY, jit),
        mixKeys: answers(ONE, MANY),
      },
      bars: all
        .filter(({ contender }) => contender !== ONE)
        .map((measurements) => {
          const { title, kind } = measurements.contender;
          return { title, kind, perSecond: spread(values(measurements, 'perSecond')).median };
        }),
    };
  },
  comparables: [MANY, IN_ONE],
};

export const mix: Part = {
  title: 'A mix of reads and mutations',
  notes: [
    `${OPERATIONS} 5 of 100 requests are mutations: half of them enroll a member who is enrolled already, and half change an external ID, which in the embedded store is a write. ${KEYS}`,
  ],
  async run(testbed, options) {
    const rows = [1, KEYS_OF_MIX].flatMap((keys) => [
      remote({ keys, redis: true }, MUTATIONS),
      inOne({ keys, redis: true }, MUTATIONS),
    ]);
    const all = await measureAlternating(testbed, rows, options);
    return { tables: [table(`The mix, ${options.connections} connections`, all)], figures: {} };
  },
};

type Changes = { keys: number; redis: boolean };

/** `mutations` is their share of the requests. */
function remote(changes: Changes, mutations = 0): Row {
  return {
    title: titleOf('This gateway', changes),
    kind: 'ours',
    start: async (testbed, root) =>
      atMix(await startRemote(testbed, { ...changes, partners: PARTNERS, root }), mutations),
  };
}

function inOne(changes: Changes, mutations = 0): Row {
  return {
    title: titleOf('This service in one process', changes),
    kind: 'ours',
    start: async (testbed, root) =>
      atMix(
        await startInOne(testbed, MIX_MEMBERS, { ...changes, partners: PARTNERS, root }),
        mutations,
      ),
  };
}

function titleOf(name: string, { keys, redis }: Changes): string {
  const where = redis ? 'with Redis' : 'without Redis';
  return `${name}, ${where}, ${keys} ${keys === 1 ? 'key' : 'keys'}`;
}

function peer({ title, kind, start }: Variant): Row {
  return { title, kind, start: async (testbed) => atMix(await start(testbed), 0) };
}

function atMix(server: Server, mutations: number): Measurable {
  const templates = mixRequests(server, mutations);
  const check = () => checkMix(server, mutations > 0);
  // The range of the numbers that mutations change external IDs to.
  return underLoad(server, { templates, members: UNKNOWN, check });
}

/** Ratios are to `reference`, or to the first row without one. */
function table(title: string, all: readonly Measurements<Row>[], reference?: Row): Table {
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
      const other = reference ?? all[0]?.contender ?? contender;
      return [
        contender.title,
        cell(measurements, 'perSecond'),
        shown(ratioOf(all, 'perSecond', contender, other).median),
        cell(measurements, 'cpuMicros'),
        shown(ratioOf(all, 'cpuMicros', other, contender).median),
        cell(measurements, 'p50Ms'),
        cell(measurements, 'p99Ms'),
        `${Math.round(spread(values(measurements, 'busy')).median * 100)} %`,
        cell(measurements, 'rssMb'),
      ];
    }),
  };
}
