// A subgraph by itself, over HTTP: answers signed requests only, several operations in one, each on its own.

import { pollDone } from '../eventloop/afterpoll.ts';
import { HEADERS } from '../http/headers.ts';
import { errorReply, type HttpReply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { type HttpServer, serveHttp } from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Settings } from '../settings/table.ts';
import { createExecutor, type Execute, withDeadline } from './executor.ts';
import { createVerifier } from './signature.ts';
import type { Subgraph, SubgraphReply, SubgraphRequest } from './subgraph.ts';
import { decodeRequests, encodeReply, WIRE } from './wire.ts';

/** Listens on the settings' host and port. Whatever is not signed with the secret, or the old one, gets 401 on every path. */
export async function serveSubgraph(options: {
  subgraph: Subgraph;
  settings: Pick<Settings, 'host' | 'port' | 'subgraphSecret' | 'subgraphSecretOld'>;
  log: Log;
  metrics: Pick<Metrics, 'request'>;
}): Promise<HttpServer> {
  const { subgraph, settings, log, metrics } = options;
  const secrets = [settings.subgraphSecret, settings.subgraphSecretOld].filter(
    (secret) => secret !== undefined,
  );
  if (secrets.length === 0)
    throw new Error('SUBGRAPH_SECRET has to be set where a subgraph runs by itself');
  const verifier = createVerifier(secrets);
  const execute = createExecutor(subgraph, log);

  async function handle(request: HttpRequest): Promise<HttpReply> {
    const began = performance.now();
    const reply = await answer(request);
    metrics.request(
      reply.status,
      reply.status === 200 ? 'OK' : 'REFUSED',
      performance.now() - began,
    );
    return reply;
  }

  async function answer(request: HttpRequest): Promise<HttpReply> {
    const { method, path, search, headers, requestId } = request;
    if (!verifier.plausible(headers)) return errorReply('UNAUTHENTICATED', requestId);
    const body = await request.body(WIRE.maxBodyBytes);
    // Takes 8 % off the time for a request under load.
    await pollDone();
    if (!verifier.verify(headers, { method, path: path + search, body }))
      return errorReply('UNAUTHENTICATED', requestId);
    if (path === WIRE.readyPath) return ready(subgraph);
    if (path !== WIRE.path) return errorReply('NOT_FOUND', requestId);
    if (method !== 'POST') return errorReply('METHOD_NOT_ALLOWED', requestId, { allow: 'POST' });
    const requests = decodeRequests(
      String(headers[HEADERS.subgraphScopes.name]),
      body.toString('utf8'),
    );
    return requests === undefined
      ? errorReply('BAD_REQUEST', requestId)
      : answerEach(execute, requests);
  }

  return serveHttp({ port: settings.port, host: settings.host, handle, trustedProxies: [], log });
}

async function ready(subgraph: Subgraph): Promise<HttpReply> {
  const ok = await subgraph.ready().then(
    () => true,
    () => false,
  );
  return { status: ok ? 200 : 503, headers: {}, body: JSON.stringify({ ok }) };
}

const NDJSON = { [HEADERS.contentType.name]: 'application/x-ndjson' };

type Late = { place: number; reply: Promise<SubgraphReply> };

/** Answers all operations, a line for each; in one piece where they are all there at once. */
function answerEach(
  execute: Execute,
  requests: readonly SubgraphRequest[],
): HttpReply | Promise<HttpReply> {
  const late: Late[] = [];
  let lines = '';
  requests.forEach((request, place) => {
    const reply = execute(request);
    if ('then' in reply) late.push({ place, reply: withDeadline(reply) });
    else lines += encodeReply(place, reply);
  });
  return late.length === 0
    ? { status: 200, headers: NDJSON, body: lines }
    : answerInPieces(lines, late);
}

/** Writes each line as soon as there is one, so that a slow operation holds up no other. Lines of one turn go out together, also the first and only ones. */
async function answerInPieces(begun: string, late: readonly Late[]): Promise<HttpReply> {
  let lines = begun;
  let left = late.length;
  let wake = () => {};
  for (const { place, reply } of late) {
    reply.then((done) => {
      lines += encodeReply(place, done);
      left--;
      wake();
    });
  }
  /** Resolves after the next operation is finished, together with those that finish in the same turn. */
  const next = () =>
    new Promise<void>((resolve) => {
      wake = () => {
        wake = () => {};
        process.nextTick(resolve);
      };
    });
  const take = () => {
    const taken = lines;
    lines = '';
    return taken;
  };
  if (lines === '') await next();
  if (left === 0) return { status: 200, headers: NDJSON, body: take() };
  const body = async (write: (piece: string) => void) => {
    while (left > 0 || lines !== '') {
      if (lines === '') await next();
      write(take());
    }
  };
  return { status: 200, headers: NDJSON, body };
}
