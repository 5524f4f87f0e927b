// A graph is prepared before it serves, and what it replaces is let go.
import { readFileSync } from 'node:fs';
import { ApolloGateway } from '@apollo/gateway';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { openGraph } from '../../../test/support/graphs/graph.ts';
import { parseDocument } from '../document/document.ts';
import { createDocuments } from '../document/documents.ts';
import { graphOf, SUPERGRAPH_FILE } from './committed.ts';
import { createConnections } from './connections.ts';
import { prepareAhead, serveGraphs } from './served.ts';

const COMMITTED = readFileSync(SUPERGRAPH_FILE, 'utf8');
const READ = 'query ($email: String!) { memberByEmail(email: $email) { email tier } }';
const log = createLog('silent');

async function serve(options: { prepareMs?: number } = {}) {
  const closed: string[] = [];
  const local = (name: string): Transport => ({
    execute: () => ({ data: { memberByEmail: null } }),
    ready: async () => {},
    close: async () => void closed.push(name),
  });
  const caches = createCaches();
  const documents = createDocuments(caches, { documentCache: () => {} });
  const settings = readSettings({ SUBGRAPH_SECRET: 'a secret of this test' }, 'all');
  const inProcess = { gateway: local('gateway'), members: local('members') };
  const connections = createConnections({ settings, inProcess, log, metrics: createMetrics() });
  const graphs = await serveGraphs(graphOf(COMMITTED), {
    ...options,
    connections,
    documents,
    caches,
  });
  return { graphs, documents, caches, connections, closed };
}

test('documents in use are prepared before the graph serves, and no others', async () => {
  const { graphs, documents, connections } = await serve();
  const document = documents.read(READ);
  const other = documents.read(READ.replace('tier', 'points'));
  for (const each of [document, other]) documents.keep(each);
  graphs.current().surfaces.partner.prepare(document, document.operations[0]);
  await graphs.replace(graphOf(`${COMMITTED}#`));
  const { partner, member } = graphs.current().surfaces;
  expect([partner.knows(document), partner.knows(other), member.knows(document)]).toEqual([
    true,
    false,
    false,
  ]);
  await connections.close();
});

test('a graph serves in time, even if that leaves documents in use unprepared', async () => {
  const { graphs, documents, connections } = await serve({ prepareMs: 0 });
  const document = documents.read(READ);
  documents.keep(document);
  graphs.current().surfaces.partner.prepare(document, document.operations[0]);
  const former = graphs.current();
  await graphs.replace(graphOf(`${COMMITTED}#`));
  expect(graphs.current()).not.toBe(former);
  expect(graphs.current().surfaces.partner.knows(document)).toBe(false);
  await connections.close();
});

test('a graph does not wait for a plan that takes too long', async () => {
  const documents = [READ, READ.replace('tier', 'points')].map((text) => parseDocument(text));
  const begun: unknown[] = [];
  const never = {
    knows: () => true,
    warm(document: unknown) {
      begun.push(document);
      return new Promise<void>(() => {});
    },
  };
  const graph = { surfaces: { partner: never, member: never } };
  await prepareAhead(graph, graph, { mostUsed: () => documents }, performance.now() + 200);
  expect(begun).toEqual([documents[0]]);
});

test('a graph is kept while a request has it in use, and nothing of it after that', async () => {
  const { graphs, caches, connections, closed } = await serve();
  const bytes = caches.bytes();
  const first = graphs.use();
  const [standings] = [first.connections.get('standings')];
  await graphs.replace(graphOf(`${COMMITTED}#`));
  expect(graphs.current()).not.toBe(first);
  expect(standings?.graphs).toBe(2);
  await first.surfaces.partner.warm(parseDocument(READ));
  expect(caches.bytes()).toBeGreaterThan(bytes);
  graphs.done(first);
  expect(standings?.graphs).toBe(1);
  expect(caches.bytes()).toBe(bytes);
  expect(graphs.current().connections.get('standings')).toBe(standings);

  // Somewhere else, it is another connection; the former one closes.
  const moved = COMMITTED.replace('http://standings:4012', 'http://elsewhere:4012');
  await graphs.replace(graphOf(moved));
  expect(graphs.current().connections.get('standings')).not.toBe(standings);
  expect(standings?.graphs).toBe(0);
  expect(closed).toEqual([]);
  await connections.close();
});

test('a graph whose subgraph has no address is refused, and one without a secret serves', async () => {
  const { graphs, connections } = await serve();
  const third = (url: string) =>
    COMMITTED.replace(
      'name: "standings", url: "http://standings:4012/graphql"',
      `name: "offers-eu", url: "${url}"`,
    );
  await expect(graphs.replace(graphOf(third('')))).rejects.toThrow('OFFERS_EU_URL must be set');
  expect(graphs.current().connections.has('standings')).toBe(true);
  await graphs.replace(graphOf(third('http://offers')));
  const offers = graphs.current().connections.get('offers-eu');
  const caller = { kind: 'service' } as const;
  const { errors } =
    (await offers?.transport.execute({ query: '{a}', caller, requestId: 'r' })) ?? {};
  expect(errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  await connections.close();
});

test('a graph with a field that its planner cannot plan serves, as it does in stock @apollo/gateway', async () => {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  const tags = '@tag(name: "partner") @tag(name: "member")';
  const { supergraph, transports } = openGraph({
    subgraphs: {
      a: {
        sdl: `interface Node @key(fields: "id") { id: ID! ${tags} }
              type Query { a: Node ${tags} }`,
      },
      b: {
        sdl: `type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! ${tags} }
              type Query { b: Node ${tags} }`,
      },
    },
  });
  const stock = new ApolloGateway({ supergraphSdl: supergraph });
  await stock.load();
  await stock.stop();

  const caches = createCaches();
  const settings = readSettings({ SUBGRAPH_SECRET: 'a secret of this test' }, 'all');
  const metrics = createMetrics();
  const connections = createConnections({ settings, inProcess: transports, log, metrics });
  const documents = createDocuments(caches, { documentCache: () => {} });
  const graphs = await serveGraphs(graphOf(supergraph), { connections, documents, caches });
  await graphs.replace(graphOf(`${supergraph}#`));
  await connections.close();
});
