// A subgraph that answers from memory: signed requests on one port, plain GraphQL on another.
import { createServer } from 'node:http';
import { createMembers } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { serveHttp } from '@partner-loyalty/runtime/http/server.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import { createSubgraphHandler } from '@partner-loyalty/runtime/subgraph/server.ts';
import type { Execute } from '@partner-loyalty/runtime/transport/deadline.ts';
import { createStandings } from '@partner-loyalty/standings';
import { memoryMembers, memoryStandings } from '../dataset/memory.ts';
import { PARTNER } from '../dataset/population.ts';

type Options = {
  name: 'members' | 'standings';
  port: number;
  plainPort: number;
  secret: string;
  members: number;
};

const HOST = '127.0.0.1';
/** Peers are idle while others have their turns, and some fail if a connection closes then. */
const KEEP_ALIVE_MS = 600_000;

// Cast: subgraphArgs in run/subgraphs.ts writes the options.
const { name, port, plainPort, secret, members } = JSON.parse(process.argv[2] ?? '{}') as Options;
const noMail = { baseAddress: 'http://localhost:4000', wake: () => {} };
const subgraph =
  name === 'members'
    ? createMembers(memoryMembers(members), noMail)
    : createStandings(memoryStandings());
const log = createLog('warn');
const caches = createCaches();
servePlain(createExecutor(subgraph, log, caches));
const handle = createSubgraphHandler({
  subgraph,
  settings: { subgraphs: {}, subgraphSecret: secret },
  log,
  metrics: createMetrics(),
  caches,
});
await serveHttp({ host: HOST, port, handle, trustedProxies: [], log });
console.log('listening');

function servePlain(execute: Execute): void {
  createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('end', async () => {
      const { query, variables, operationName } = JSON.parse(body);
      const caller = { kind: 'partner', partnerId: PARTNER } as const;
      const text = JSON.stringify(
        await execute({ query, variables, operationName, caller, requestId: '' }),
      );
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        })
        .end(text);
    });
  }).listen(plainPort, HOST);
}
