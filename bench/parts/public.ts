// The query of the public benchmark of gateways: one heavy query over four subgraphs.
import { join } from 'node:path';
import { PUBLIC_QUERY, publicAnswer } from '../dataset/public.ts';
import { rawRequest, type Target } from '../dataset/requests.ts';
import { shown, spread } from '../report/outcome.ts';
import { checkAnswer, checkFirstAnswer } from '../run/answers.ts';
import { underLoad } from '../run/measure.ts';
import { type Contender, cell, ratioOf, values } from '../run/measurements.ts';
import { type Counts, type PublicGraph, startPublic } from '../run/public.ts';
import { measureAlternating } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import { ROOT } from '../run/shipped.ts';
import type { Testbed } from '../run/testbed.ts';
import { startRemote } from '../variants/ours.ts';
import type { Variant } from '../variants/peers.ts';
import type { Part } from './part.ts';

type Row = Contender & Pick<Variant, 'kind'>;

/** Fewer than there, so that the slowest answers more than once in its second. */
const CONNECTIONS = 10;
const SECRET = 'a secret that only the benchmark uses';
const ANSWER = publicAnswer();

const check = (target: Target) => checkAnswer(target, PUBLIC_QUERY, ANSWER);
const checkFirst = (target: Target, signal: AbortSignal) => checkFirstAnswer(target, signal, check);

export const publicPart: Part = {
  title: 'The public benchmark of gateways',
  notes: [
    'The graph and the query of [graphql-hive/graphql-gateways-benchmark](https://github.com/graphql-hive/graphql-gateways-benchmark), with data of our own: four subgraphs, and a response of 87 KB. Each gateway has to answer all of it correctly before and after each measurement.',
    'The subgraphs remember their answers, so that they cost the same for all. They count, for one query, the requests that they get, the representations in the largest one, and how many of these are equal.',
  ],
  async run(testbed, options) {
    const graph = await startPublic(testbed);
    try {
      const counted = new Map<Row, Counts>();
      const rows = rowsOf(graph, counted);
      const all = await measureAlternating(testbed, rows, { ...options, connections: CONNECTIONS });
      const [ours, stock, rust] = rows;
      const columns = ['', 'requests/s', 'CPU ms/request', 'per CPU second, to stock'];
      return {
        tables: [
          {
            title: `The query, ${CONNECTIONS} connections`,
            columns: [...columns, 'p50 ms', 'requests', 'representations', 'equal'],
            rows: all.map((measurements) => {
              const { contender } = measurements;
              const { requests, representations, repeats } = counted.get(contender) ?? NONE;
              return [
                contender.title,
                cell(measurements, 'perSecond'),
                shown(spread(values(measurements, 'cpuMicros')).median / 1e3),
                shown(ratioOf(all, 'cpuMicros', stock, contender).median),
                cell(measurements, 'p50Ms'),
                ...[requests, representations, repeats].map(String),
              ];
            }),
          },
        ],
        figures: {
          publicToApollo: ratioOf(all, 'cpuMicros', stock, ours),
          publicToHive: ratioOf(all, 'cpuMicros', rust, ours),
          publicRequests: spread([counted.get(ours)?.requests ?? Number.NaN]),
        },
        bars: all.map((measurements) => {
          const { title, kind } = measurements.contender;
          return { title, kind, perSecond: spread(values(measurements, 'perSecond')).median };
        }),
      };
    } finally {
      await graph.stop();
    }
  },
};

const NONE: Counts = { requests: 0, representations: 0, repeats: 0 };

/** Ours, stock, and the others. Each adds what it asks of the subgraphs for one query. */
function rowsOf({ supergraph, services, counts }: PublicGraph, counted: Map<Row, Counts>) {
  const row = (
    title: string,
    kind: Variant['kind'],
    start: (testbed: Testbed) => Promise<Server>,
  ): Row => {
    const made: Row = {
      title,
      kind,
      async start(testbed) {
        const server = await start(testbed);
        await counts();
        await check(server);
        counted.set(made, await counts());
        const templates = server.keys.map((key) =>
          rawRequest(server.url, key, JSON.stringify({ query: PUBLIC_QUERY })),
        );
        return underLoad(server, { templates, members: 1, check: () => check(server) });
      },
    };
    return made;
  };
  const peer = (title: string, script: string, options: object) =>
    row(title, 'peer', (testbed) =>
      testbed.start({
        args: (port) => [join(ROOT, 'bench/peers', script), JSON.stringify({ port, ...options })],
        check: checkFirst,
      }),
    );
  const env = Object.fromEntries(
    services.flatMap(({ name, url }) => [
      [`${name.toUpperCase()}_URL`, url],
      [`${name.toUpperCase()}_SECRET`, SECRET],
    ]),
  );
  const graph = { env: { ...env, SUPERGRAPH_FILE: supergraph }, check: checkFirst };
  return [
    row('This gateway, everything on', 'ours', (testbed) =>
      startRemote(testbed, { redis: false, graph }),
    ),
    peer('Apollo Gateway, stock', 'apollo.mjs', { supergraph }),
    peer('Hive Gateway, planner in Rust', 'hive/gateway.mjs', { supergraph, isRust: true }),
    peer('Hive Gateway', 'hive/gateway.mjs', { supergraph }),
    peer('Mercurius gateway, JIT', 'mercurius/gateway.mjs', { services }),
  ] as const;
}
