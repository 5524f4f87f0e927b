// Answers a subgraph's requests by GraphQL over HTTP, signed ones only.
import type { Caches } from '../cache/caches.ts';
import { pollDone } from '../eventloop/afterpoll.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Handle } from '../http/respond.ts';
import type { HttpResponse } from '../http/response.ts';
import { SIGNER } from '../http/shares.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Tracing } from '../observe/tracing/trace.ts';
import { stateOf } from '../process/readiness.ts';
import { settingsOfSubgraph } from '../settings/subgraphs.ts';
import type { Settings } from '../settings/table.ts';
import type { Execute } from '../transport/deadline.ts';
import { isProbe, isUnderstood } from '../transport/protocol.ts';
import { LoggedRequest } from '../transport/requestline.ts';
import { respondInLines, respondToOne } from '../transport/respond.ts';
import { createReplayGuard } from '../transport/signature/replay.ts';
import { createVerifier } from '../transport/signature/verifier.ts';
import { decodeRequest, WIRE } from '../transport/wire.ts';
import { createExecutor } from './executor.ts';
import type { Subgraph } from './types.ts';

/**
 * A request that is not signed with the secret or the old secret gets 401 on every path. Throws if
 * there is no secret.
 */
export function createSubgraphHandler(options: {
  subgraph: Subgraph;
  settings: Pick<Settings, 'subgraphs' | 'subgraphSecret' | 'subgraphSecretOld'>;
  log: Log;
  metrics: Pick<Metrics, 'request' | 'operation'>;
  caches: Caches;
  tracing?: Tracing | undefined;
}): Handle {
  const { subgraph, settings, log, metrics, caches, tracing } = options;
  const { secret, secretOld } = settingsOfSubgraph(settings, subgraph.name);
  const secrets = [secret, secretOld].filter((each) => each !== undefined);
  if (secrets.length === 0)
    throw new Error('SUBGRAPH_SECRET must be set if a subgraph runs in a process of its own');
  const verifier = createVerifier(subgraph.name, secrets, createReplayGuard());
  const execute = createExecutor(subgraph, log, caches);
  const parts = { log, metrics, tracing };

  async function respond(request: HttpRequest, record: LoggedRequest): Promise<HttpResponse> {
    const { method, path, search, headers } = request;
    const claim = verifier.read(headers);
    if (typeof claim === 'string') return record.refuse(claim);
    // No signature covers a query string.
    if (search !== '') return record.refuse('query string');
    const body = await request.body(WIRE.maxBodyBytes);
    // Takes 8 % off the time per request under load.
    await pollDone();
    const refusal = verifier.verify(claim, { method, path, body });
    if (refusal !== undefined) return record.refuse(refusal);
    void request.admit(SIGNER);
    const { protocol } = claim.signature;
    if (!isUnderstood(protocol)) return record.refuseProtocol(protocol);
    return respondToSigned({ subgraph, execute }, request, claim.caller, body, record);
  }

  return async (request) => {
    const record = new LoggedRequest(subgraph.name, request, parts);
    return record.observe(await respond(request, record));
  };
}

function respondToSigned(
  { subgraph, execute }: { subgraph: Subgraph; execute: Execute },
  { method, path, headers, requestId }: HttpRequest,
  caller: string,
  body: Buffer,
  record: LoggedRequest,
): HttpResponse | Promise<HttpResponse> {
  if (path !== WIRE.path) return record.fail('NOT_FOUND');
  if (method !== 'POST') return record.fail('METHOD_NOT_ALLOWED', { allow: 'POST' });
  const asked = decodeRequest(caller, requestId, body.toString('utf8'));
  if (asked === undefined) return record.fail('BAD_REQUEST');
  if ('batch' in asked) {
    record.executing(asked.batch);
    return respondInLines(execute, asked.batch, record);
  }
  if (isProbe(asked.operation)) return respondToProbe(subgraph, record);
  record.executing([asked.operation]);
  return respondToOne(execute, asked.operation, headers.accept ?? '', record);
}

async function respondToProbe(subgraph: Subgraph, record: LoggedRequest): Promise<HttpResponse> {
  if ((await stateOf(subgraph.ready)).state === 'down') return record.fail('SERVICE_UNAVAILABLE');
  const body = JSON.stringify({ data: { __typename: subgraph.schema.getQueryType()?.name } });
  return { status: 200, headers: {}, body };
}
