// Reaches a subgraph over HTTP: the operations of one event loop tick travel in one request.
import { Pool } from 'undici';
import { afterPoll } from '../eventloop/afterpoll.ts';
import { HEADERS } from '../http/headers.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { DEADLINE_MS } from '../subgraph/executor.ts';
import type { SubgraphReply, Transport } from '../subgraph/types.ts';
import { Batch, type PendingOperation } from './batch.ts';
import { Circuit } from './circuit.ts';
import { createSigner } from './signature.ts';
import { encodeRequests, WIRE } from './wire.ts';

/** Measured: neither more connections nor pipelining helps. */
const CONNECTIONS = 32;

/**
 * The transport to a subgraph at `url`, an origin. An operation without an answer within
 * `deadlineMs` is SERVICE_UNAVAILABLE and does not affect the others in its request. A query whose
 * connection ends before any answer is sent once more; a mutation never is. While the circuit is
 * open, operations are SERVICE_UNAVAILABLE at once.
 */
export function createHttpTransport(options: {
  name: string;
  url: string;
  secret: string;
  deadlineMs?: number;
  log: Log;
  metrics: Pick<Metrics, 'subgraphCall' | 'circuit'>;
}): Transport {
  const { name, deadlineMs = DEADLINE_MS, log, metrics } = options;
  const sign = createSigner(name, options.secret);
  const pool = openPool(options.url, deadlineMs);
  const circuit = new Circuit({ name, log, metrics, probe: askReady });
  const send = createSend(pool, sign, { name, log, metrics, circuit });
  let pending: PendingOperation[] = [];

  /** Runs after the poll phase, when all sockets that became readable in this tick are read. */
  function sendPending(): void {
    const operations = pending;
    const deadlineAt = performance.now() + deadlineMs;
    pending = [];
    send(operations, deadlineAt, (queries) => send(queries, deadlineAt));
  }

  async function askReady(): Promise<void> {
    const path = WIRE.readyPath;
    const headers = sign({ method: 'GET', path, scopes: '[]', body: '' });
    const signal = AbortSignal.timeout(deadlineMs);
    const { statusCode, body } = await pool.request({ method: 'GET', path, headers, signal });
    await body.dump();
    if (statusCode !== 200) throw new Error(`the ${name} subgraph is not ready`);
  }

  return {
    execute: (request) => {
      if (circuit.isOpen()) return circuit.refuse();
      return new Promise<SubgraphReply>((resolve) => {
        if (pending.length === 0) afterPoll(sendPending);
        pending.push({ request, resolve });
      });
    },
    async ready() {
      if (circuit.isOpen()) throw new Error(`the circuit of the ${name} subgraph is open`);
      await askReady();
    },
    close: async () => {
      circuit.close();
      if (!pool.closed) await pool.close();
    },
  };
}

/** Sends operations in as few requests as they fit in. `retry` receives queries to send again. */
type Send = (
  operations: readonly PendingOperation[],
  deadlineAt: number,
  retry?: (queries: PendingOperation[]) => void,
) => void;

function createSend(
  pool: Pool,
  sign: ReturnType<typeof createSigner>,
  context: Pick<ConstructorParameters<typeof Batch>[0], 'name' | 'log' | 'metrics' | 'circuit'>,
): Send {
  return (operations, deadlineAt, retry) => {
    const groups = encodeRequests(operations.map(({ request }) => request));
    let start = 0;
    for (const { count, scopes, body } of groups) {
      const group = operations.slice(start, start + count);
      const batch = new Batch({ ...context, operations: group, deadlineAt, retry });
      const headers = {
        [HEADERS.contentType.name]: 'application/json',
        ...sign({ method: 'POST', path: WIRE.path, scopes, body }),
      };
      pool.dispatch({ method: 'POST', path: WIRE.path, headers, body }, batch);
      start += count;
    }
  };
}

function openPool(url: string, connectTimeout: number): Pool {
  return new Pool(url, {
    connections: CONNECTIONS,
    pipelining: 1,
    connectTimeout,
    // Each batch has its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Shorter than the server's, so that no request meets a connection that is about to close.
    keepAliveTimeout: 30_000,
  });
}
