// One request after the other: known documents, and new ones, which are parsed and planned first.
import { LOOKUP_QUERY } from '../dataset/population.ts';
import { aboutRandomMembers, requestTemplates } from '../dataset/requests.ts';
import { ratios, shown, shownSpread, spread } from '../report/outcome.ts';
import { type Measurable, underRawLoad } from '../run/measure.ts';
import { type Contender, type Measurements, values } from '../run/measurements.ts';
import { inTurns, measureAlternating } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import { startRemote } from '../variants/ours.ts';
import { apollo, mercurius, type Variant } from '../variants/peers.ts';
import type { Part } from './part.ts';

type Started = Pick<Variant, 'title' | 'start'>;
type Row = Contender & { variant: Started; isNew: boolean };

const FIELDS = ['memberId', 'email', 'firstName', 'lastName', 'tier', 'points'];

const REDIS: Started = {
  title: 'This gateway, with Redis',
  start: (testbed) => startRemote(testbed),
};
const NO_REDIS: Started = {
  title: 'This gateway, without Redis',
  start: (testbed) => startRemote(testbed, { redis: false }),
};
const VARIANTS = [REDIS, NO_REDIS, mercurius, apollo];

export const document: Part = {
  title: 'One request after the other, with known and new documents',
  notes: [
    'New documents differ in the alias of the root field, and go through the 63 selections of six fields. This gateway plans each selection once: a new alias needs parsing and validation, but no new plan.',
  ],
  method: (options) =>
    `${inTurns(options, 'load/raw.ts')}, which alternates between wrk with known documents and the measured load. New documents are measured in processes of their own; all variants get the same sequence`,
  async run(testbed, options) {
    const rows = VARIANTS.flatMap((variant) => [rowOf(variant, false), rowOf(variant, true)]);
    const all = await measureAlternating(testbed, rows, options);
    const find = (variant: Started, isNew: boolean) =>
      all.find(({ contender }) => contender.variant === variant && contender.isNew === isNew);
    const toMercurius = (variant: Started, isNew: boolean) =>
      ratios(values(find(variant, isNew), 'p50Ms'), values(find(mercurius, isNew), 'p50Ms'));
    const cells = (variant: Started, isNew: boolean) => [
      figure(find(variant, isNew), 'p50Ms'),
      shown(toMercurius(variant, isNew).median),
      figure(find(variant, isNew), 'p99Ms'),
      figure(find(variant, isNew), 'cpuMicros'),
    ];
    const columns = ['p50 ms', "to Mercurius'", 'p99 ms', 'CPU µs/request'];
    return {
      tables: [false, true].map((isNew) => ({
        title: isNew ? 'New documents, on one connection' : 'A known document, on one connection',
        columns: ['', ...columns],
        rows: VARIANTS.map((variant) => [variant.title, ...cells(variant, isNew)]),
      })),
      figures: {
        aloneToMercurius: toMercurius(REDIS, false),
        aloneMemory: toMercurius(NO_REDIS, false),
        documentToMercurius: toMercurius(REDIS, true),
        documentTail: spread(values(find(REDIS, true), 'p99Ms')),
      },
    };
  },
  comparables: [
    {
      title: 'New documents',
      start: async (testbed, root) =>
        atDocuments(await startRemote(testbed, { root, redis: false }), true),
    },
  ],
};

function rowOf(variant: Started, isNew: boolean): Row {
  return {
    variant,
    isNew,
    title: `${variant.title}, ${isNew ? 'new documents' : 'a known document'}`,
    start: async (testbed) => atDocuments(await variant.start(testbed), isNew),
  };
}

function atDocuments(server: Server, isNew: boolean): Measurable {
  const nextDocument = isNew ? newDocuments() : () => LOOKUP_QUERY;
  const next = () => requestOf(server, nextDocument());
  return underRawLoad(server, { connections: 1, next });
}

function requestOf(server: Server, query: string): string {
  const [template = ''] = requestTemplates(server, query);
  return aboutRandomMembers(template, server.members);
}

/** Documents that differ in their alias, over every selection of the fields. */
function newDocuments(): () => string {
  let alias = 0;
  return () => {
    alias++;
    const fields = FIELDS.filter((_, index) => ((alias % 63) + 1) & (1 << index));
    return `query($email: String!) { a${alias}: memberByEmail(email: $email) { ${fields.join(' ')} } }`;
  };
}

function figure(
  measurements: Measurements<Row> | undefined,
  name: 'p50Ms' | 'p99Ms' | 'cpuMicros',
) {
  return shownSpread(spread(values(measurements, name)));
}
