// Lets 70 graphs take turns, and prints what the process holds after 30 and after all of them.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { createDocuments } from '../../gateway/src/document/documents.ts';
import { graphOf, SUPERGRAPH_FILE } from '../../gateway/src/graph/committed.ts';
import { createConnections } from '../../gateway/src/graph/connections.ts';
import { serveGraphs } from '../../gateway/src/graph/served.ts';

const UPDATES = 70;
const DOCUMENTS = 20;
/** V8 compiles most of the code by then. */
const FIRST = 30;
const CALLER = { kind: 'partner', partnerId: 'alpha' } as const;

// A subgraph that finds nobody, at two addresses that take turns.
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end('{"data":{"memberByEmail":null}}');
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const addresses = [`http://127.0.0.1:${port}/one`, `http://127.0.0.1:${port}/other`];

const caches = createCaches();
const documents = createDocuments(caches, { documentCache: () => {} });
const log = createLog('silent');
const connections = createConnections({
  settings: readSettings({ SUBGRAPH_SECRET: 'a secret of this test' }, 'all'),
  inProcess: {
    gateway: { execute: () => ({ data: null }), ready: async () => {}, close: async () => {} },
  },
  log,
  metrics: createMetrics(),
});
const committed = readFileSync(SUPERGRAPH_FILE, 'utf8');
const graphAt = (update: number) => {
  const text = committed.replaceAll(/url: "http:[^"]*"/g, `url: "${addresses[update % 2]}"`);
  const graph = graphOf(`${text}# ${update}`);
  // The answers are single responses.
  return { ...graph, subgraphs: graph.subgraphs.map((each) => ({ ...each, batching: false })) };
};
const graphs = await serveGraphs(graphAt(0), { connections, documents, caches });

async function askEach(): Promise<void> {
  for (let number = 0; number < DOCUMENTS; number += 1) {
    const text = `query ($email: String!) { a${number}: memberByEmail(email: $email) { email tier } }`;
    const document = documents.read(text);
    const graph = graphs.use();
    const { partner } = graph.surfaces;
    const executable = partner.prepare(document, document.operations[0]);
    documents.keep(document);
    const variables = { email: 'a@example.com' };
    const { errors } = await partner.execute(executable, {
      variables,
      caller: CALLER,
      requestId: 'r',
    });
    graphs.done(graph);
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
  }
}

function report(): void {
  globalThis.gc?.();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap');
  const { heapUsed } = process.memoryUsage();
  console.log(JSON.stringify({ heapUsed, cached: caches.bytes(), sockets: sockets.length }));
}

for (let update = 1; update <= UPDATES; update += 1) {
  await askEach();
  await graphs.replace(graphAt(update));
  if (update !== FIRST && update !== UPDATES) continue;
  // A connection closes a moment after its last use.
  await new Promise((resolve) => setTimeout(resolve, 500));
  report();
}
process.exit(0);
