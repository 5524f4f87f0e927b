// Reaches a subgraph that runs by itself: the operations of one event-loop turn travel together, each answered on its own.

import { Pool } from 'undici';
import { afterPoll } from '../eventloop/afterpoll.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { Batch, type Operation } from './client.batch.ts';
import { createSigner } from './signature.ts';
import type { SubgraphReply, SubgraphRequest, Transport } from './subgraph.ts';
import { encodeRequests, WIRE } from './wire.ts';

const DEADLINE_MS = 2_000;
/** Measured: more connections bring nothing, nor does pipelining. */
const CONNECTIONS = 32;

/**
 * `url` is the subgraph's origin. `execute` never rejects: an operation that is not answered within `deadlineMs` is SERVICE_UNAVAILABLE,
 * whatever becomes of those it travels with. A query whose connection ends before any answer is sent once more; a mutation never is.
 */
export function createHttpTransport(options: {
  name: string;
  url: string;
  secret: string;
  deadlineMs?: number;
  log: Log;
  metrics: Pick<Metrics, 'subgraphCall'>;
}): Transport {
  const { name, deadlineMs = DEADLINE_MS, log, metrics } = options;
  const sign = createSigner(options.secret);
  // Batches keep their own deadline, so undici's timers are off. The server keeps idle connections longer than this.
  const timeouts = {
    connectTimeout: deadlineMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
  };
  const pool = new Pool(options.url, { connections: CONNECTIONS, pipelining: 1, ...timeouts });
  let turn: Operation[] = [];

  function send(
    operations: readonly Operation[],
    deadlineAt: number,
    again?: (queries: Operation[]) => void,
  ): void {
    let start = 0;
    for (const { count, scopes, body } of encodeRequests(
      operations.map(({ request }) => request),
    )) {
      const batch = new Batch({
        name,
        operations: operations.slice(start, start + count),
        deadlineAt,
        again,
        log,
        metrics,
      });
      const headers = {
        'content-type': 'application/json',
        ...sign({ method: 'POST', path: WIRE.path, scopes, body }),
      };
      pool.dispatch({ method: 'POST', path: WIRE.path, headers, body }, batch);
      start += count;
    }
  }

  /** Runs after all sockets that had something to say in this turn were heard. */
  function sendTurn(): void {
    const operations = turn;
    const deadlineAt = performance.now() + deadlineMs;
    turn = [];
    send(operations, deadlineAt, (queries) => send(queries, deadlineAt));
  }

  async function ready(): Promise<void> {
    const path = WIRE.readyPath;
    const headers = sign({ method: 'GET', path, scopes: '[]', body: '' });
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path,
      headers,
      signal: AbortSignal.timeout(deadlineMs),
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`the ${name} subgraph is not ready`);
  }

  return {
    execute: (request: SubgraphRequest) =>
      new Promise<SubgraphReply>((resolve) => {
        if (turn.length === 0) afterPoll(sendTurn);
        turn.push({ request, resolve });
      }),
    ready,
    close: async () => {
      if (!pool.closed) await pool.close();
    },
  };
}
