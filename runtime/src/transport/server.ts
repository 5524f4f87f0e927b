// Serves a subgraph by GraphQL over HTTP, to signed requests only.
import type { Caches } from '../cache/caches.ts';
import { pollDone } from '../eventloop/afterpoll.ts';
import { HEADERS } from '../http/headers.ts';
import { errorReply, type HttpReply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { type HttpServer, serveHttp } from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { failureOf } from '../process/readiness.ts';
import { settingsOfSubgraph } from '../settings/subgraphs.ts';
import type { Settings } from '../settings/table.ts';
import { createExecutor, type Execute } from '../subgraph/executor.ts';
import type { Subgraph } from '../subgraph/types.ts';
import { answerArray, answerLines, answerOne } from './answer.ts';
import { isProbe } from './probe.ts';
import { createReplayGuard, type ReplayGuard } from './signature/replay.ts';
import { createVerifier } from './signature/verifier.ts';
import { decodeRequest, MEDIA_TYPES, WIRE } from './wire.ts';

/**
 * Listens on the settings' host and port. A request that is not signed with the secret or the old
 * secret gets 401 on every path.
 */
export async function serveSubgraph(options: {
  subgraph: Subgraph;
  settings: Pick<Settings, 'host' | 'port' | 'subgraphs' | 'subgraphSecret' | 'subgraphSecretOld'>;
  log: Log;
  metrics: Pick<Metrics, 'request'>;
  /** Shared by all workers; by default, the memory of this process. */
  guard?: ReplayGuard | undefined;
  caches: Caches;
}): Promise<HttpServer> {
  const { subgraph, settings, log, metrics, caches, guard = createReplayGuard() } = options;
  const { host, port } = settings;
  const { secret, secretOld } = settingsOfSubgraph(settings, subgraph.name);
  const secrets = [secret, secretOld].filter((each) => each !== undefined);
  if (secrets.length === 0)
    throw new Error('SUBGRAPH_SECRET must be set if a subgraph runs in a process of its own');
  const verifier = createVerifier(subgraph.name, secrets, guard);
  const answerSigned = createAnswer(subgraph, createExecutor(subgraph, log, caches));

  async function handle(request: HttpRequest): Promise<HttpReply> {
    const startedAt = performance.now();
    const reply = await answer(request);
    const code = reply.status === 200 ? 'OK' : 'REFUSED';
    metrics.request(reply.status, code, performance.now() - startedAt);
    return reply;
  }

  async function answer(request: HttpRequest): Promise<HttpReply> {
    const { method, path, search, headers, requestId } = request;
    const claim = verifier.read(headers);
    // No signature covers a query string.
    if (claim === undefined || search !== '') return errorReply('UNAUTHENTICATED', requestId);
    const body = await request.body(WIRE.maxBodyBytes);
    // Takes 8 % off the time per request under load.
    await pollDone();
    const isGood = verifier.verify(claim, { method, path, body });
    if (!(isGood instanceof Promise ? await isGood : isGood))
      return errorReply('UNAUTHENTICATED', requestId);
    return answerSigned(request, claim.scope, body);
  }

  return serveHttp({ port, host, handle, trustedProxies: [], log });
}

type Answer = (request: HttpRequest, scope: string, body: Buffer) => HttpReply | Promise<HttpReply>;

/** Returns a function that answers requests with a valid signature. */
function createAnswer(subgraph: Subgraph, execute: Execute): Answer {
  return ({ method, path, headers, requestId }, scope, body) => {
    if (path !== WIRE.path) return errorReply('NOT_FOUND', requestId);
    if (method !== 'POST')
      return errorReply('METHOD_NOT_ALLOWED', requestId, { [HEADERS.allow.name]: 'POST' });
    const asked = decodeRequest(scope, requestId, body.toString('utf8'));
    if (asked === undefined) return errorReply('BAD_REQUEST', requestId);
    const { accept = '' } = headers;
    if ('batch' in asked)
      return accept.includes(MEDIA_TYPES.lines)
        ? answerLines(execute, asked.batch)
        : answerArray(execute, asked.batch, accept);
    return isProbe(asked.operation)
      ? answerProbe(subgraph, requestId)
      : answerOne(execute, asked.operation, accept);
  };
}

async function answerProbe(subgraph: Subgraph, requestId: string): Promise<HttpReply> {
  if ((await failureOf(subgraph.ready)) !== undefined)
    return errorReply('SERVICE_UNAVAILABLE', requestId);
  const body = JSON.stringify({ data: { __typename: subgraph.schema.getQueryType()?.name } });
  return { status: 200, headers: {}, body };
}
