// One request after the other: known documents, and new ones, which are parsed and planned first.
import { LOOKUP_QUERY } from '../dataset/population.ts';
import { aboutRandomMembers, requestTemplates } from '../dataset/requests.ts';
import { shown, spread } from '../report/outcome.ts';
import { underRawLoad } from '../run/measure.ts';
import { type Contender, cell, ratioOf, valuesOf } from '../run/measurements.ts';
import { inTurns, measureAlternating } from '../run/rounds.ts';
import { startRemote } from '../variants/ours.ts';
import { apollo, mercurius, type Variant } from '../variants/peers.ts';
import type { Part } from './part.ts';

const FIELDS = ['memberId', 'email', 'firstName', 'lastName', 'tier', 'points'];

/** One variant, with a known document and with new ones. */
type Pair = { known: Contender; fresh: Contender };

const REDIS = pairOf('This gateway, with Redis', (at, root) => startRemote(at, { root }));
const MEMORY = pairOf('This gateway, without Redis', (at, root) =>
  startRemote(at, { root, redis: false }),
);
const MERCURIUS = pairOf(mercurius.title, mercurius.start);
const PAIRS = [REDIS, MEMORY, MERCURIUS, pairOf(apollo.title, apollo.start)];

export const document: Part = {
  title: 'One request after the other, with known and new documents',
  notes: [
    'New documents differ in the alias of the root field, and go through the 63 selections of six fields. This gateway plans each selection once: a new alias needs parsing and validation, but no new plan.',
  ],
  method: (options) =>
    `${inTurns(options, 'load/raw.ts')}, which alternates between wrk with known documents and the measured load. New documents are measured in processes of their own; all variants get the same sequence`,
  async run(testbed, options) {
    const rows = PAIRS.flatMap(({ known, fresh }) => [known, fresh]);
    const all = await measureAlternating(testbed, rows, options);
    const toMercurius = (pair: Pair, which: keyof Pair) =>
      ratioOf(all, 'p50Ms', pair[which], MERCURIUS[which]);
    const tableOf = (title: string, which: keyof Pair) => ({
      title,
      columns: ['', 'p50 ms', "to Mercurius'", 'p99 ms', 'CPU µs/request'],
      rows: all
        .filter(({ contender }) => PAIRS.some((pair) => pair[which] === contender))
        .map((measurements) => [
          measurements.contender.title,
          cell(measurements, 'p50Ms'),
          shown(ratioOf(all, 'p50Ms', measurements.contender, MERCURIUS[which]).median),
          cell(measurements, 'p99Ms'),
          cell(measurements, 'cpuMicros'),
        ]),
    });
    return {
      tables: [
        tableOf('A known document, on one connection', 'known'),
        tableOf('New documents, on one connection', 'fresh'),
      ],
      figures: {
        aloneToMercurius: toMercurius(REDIS, 'known'),
        aloneMemory: toMercurius(MEMORY, 'known'),
        documentToMercurius: toMercurius(REDIS, 'fresh'),
        documentTail: spread(valuesOf(all, REDIS.fresh, 'p99Ms')),
      },
    };
  },
  comparables: [MEMORY.fresh],
};

function pairOf(
  title: string,
  start: (...at: Parameters<Contender['start']>) => ReturnType<Variant['start']>,
): Pair {
  const row = (what: string, documents: () => () => string): Contender => ({
    title: `${title}, ${what}`,
    async start(testbed, root) {
      const server = await start(testbed, root);
      const nextDocument = documents();
      const next = () => {
        const [template = ''] = requestTemplates(server, nextDocument());
        return aboutRandomMembers(template, server.members);
      };
      return underRawLoad(server, { connections: 1, next });
    },
  });
  return {
    known: row('a known document', () => () => LOOKUP_QUERY),
    fresh: row('new documents', newDocuments),
  };
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
