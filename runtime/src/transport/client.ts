// Calls a subgraph by GraphQL over HTTP, in signed requests, as docs/subgraphs.md describes.
import { Pool } from 'undici';
import { afterPoll } from '../eventloop/afterpoll.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { Batch, type BatchContext, type PendingOperation } from './batch.ts';
import { Circuit } from './circuit.ts';
import { DEADLINE_MS, unavailable } from './deadline.ts';
import { createFieldNames } from './fieldnames.ts';
import { PROBE } from './probe.ts';
import { createResponseReader } from './response.ts';
import { createSigner } from './signature/signer.ts';
import type { SubgraphResponse, Transport } from './types.ts';
import { type EncodedRequest, encodeBatches, encodeOperation, MEDIA_TYPES, WIRE } from './wire.ts';

/** Measured: with batches, neither more connections nor pipelining helps. */
const CONNECTIONS = { batching: 32, single: 128 };

type HttpTransportOptions = {
  name: string;
  /** The endpoint; `/graphql` if it has no path. */
  url: string;
  secret: string;
  /** Whether the subgraph accepts an array of operations in a request. */
  batching: boolean;
  /** The subgraph's error codes that callers may see. */
  codes: readonly string[];
  deadlineMs?: number;
  log: Log;
  metrics: Pick<Metrics, 'subgraphCall' | 'circuit'>;
};

/**
 * The transport to a subgraph in another process. With `batching`, the operations of one event loop
 * tick are sent in one request. An operation without a response within `deadlineMs` is
 * SERVICE_UNAVAILABLE and does not affect the others in its request. A query whose connection ends
 * before a response begins is sent once more; a mutation never is. While the circuit is open,
 * operations are SERVICE_UNAVAILABLE at once. Throws if the URL has a query string.
 */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const { name, codes, deadlineMs = DEADLINE_MS, log, metrics } = options;
  const pool = openPool(options, deadlineMs);
  const fieldNames = createFieldNames();
  const readResponse = createResponseReader({ name, codes, fieldNames, log });
  const circuit = new Circuit({ name, log, metrics, probe });
  const send = createSend(pool, options);
  const context = { name, readResponse, fieldNames, log, metrics, circuit };
  // A probe is not a call: it counts neither in the metrics nor for the circuit.
  const unobserved = { ...context, log: SILENT, metrics: SILENT, circuit: SILENT };
  let pending: PendingOperation[] = [];

  /** Runs after the poll phase, when all sockets that were readable in this tick are read. */
  function sendPending(): void {
    const operations = pending;
    const deadlineAt = performance.now() + deadlineMs;
    pending = [];
    send(operations, context, deadlineAt, (queries) => send(queries, context, deadlineAt));
  }

  async function probe(): Promise<void> {
    const { data } = await new Promise<SubgraphResponse>((resolve) => {
      send([{ request: PROBE, resolve }], unobserved, performance.now() + deadlineMs);
    });
    if (typeof data?.__typename !== 'string') throw new Error(`the ${name} subgraph is not ready`);
  }

  return {
    isGivenUp: () => circuit.isOpen(),
    execute: (request) => {
      if (circuit.isOpen()) return circuit.refuse(request);
      return new Promise<SubgraphResponse>((resolve) => {
        if (pending.length === 0) afterPoll(sendPending);
        pending.push({ request, resolve });
      });
    },
    async ready() {
      if (circuit.isOpen()) throw new Error(`the circuit of the ${name} subgraph is open`);
      await probe();
    },
    close: async () => {
      circuit.close();
      if (!pool.closed) await pool.close();
    },
  };
}

const SILENT = { warn() {}, outage() {}, subgraphCall() {}, answered() {}, missedDeadline() {} };

/** Sends operations in as few requests as possible. `retry` receives queries to send again. */
type Send = (
  operations: readonly PendingOperation[],
  context: BatchContext,
  deadlineAt: number,
  retry?: (queries: PendingOperation[]) => void,
) => void;

const ACCEPT = {
  single: `${MEDIA_TYPES.response}, ${MEDIA_TYPES.json};q=0.9`,
  batch: `${MEDIA_TYPES.lines}, ${MEDIA_TYPES.response};q=0.9, ${MEDIA_TYPES.json};q=0.8`,
};

function createSend(pool: Pool, { name, url, secret, batching }: HttpTransportOptions): Send {
  const sign = createSigner(name, secret);
  const path = pathOf(url);

  function dispatch({ caller, requestId, body }: EncodedRequest, batch: Batch): void {
    const headers: Record<string, string> = {
      'content-type': MEDIA_TYPES.json,
      accept: batch.isArray ? ACCEPT.batch : ACCEPT.single,
      ...sign({ method: 'POST', path, caller, requestId, body }),
      ...batch.trace()?.headers(),
    };
    pool.dispatch({ method: 'POST', path, headers, body }, batch);
  }

  const sendBatches: Send = (operations, context, deadlineAt, retry) => {
    let start = 0;
    for (const encoded of encodeBatches(operations.map(({ request }) => request))) {
      const group = operations.slice(start, start + encoded.count);
      start += encoded.count;
      const batch = { context, operations: group, isArray: true, deadlineAt, retry };
      dispatch(encoded, new Batch(batch));
    }
  };

  const sendEach: Send = (operations, context, deadlineAt, retry) => {
    for (const operation of operations) {
      let encoded: EncodedRequest;
      try {
        encoded = encodeOperation(operation.request);
      } catch {
        operation.resolve(unavailable()); // It must not fail the others.
        continue;
      }
      const batch = { context, operations: [operation], isArray: false, deadlineAt, retry };
      dispatch(encoded, new Batch(batch));
    }
  };

  return (operations, context, deadlineAt, retry) => {
    const sendAll = batching && operations.length > 1 ? sendBatches : sendEach;
    sendAll(operations, context, deadlineAt, retry);
  };
}

function pathOf(url: string): string {
  const { pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '')
    throw new Error('the URL of a subgraph has neither a query string nor a fragment');
  return pathname === '/' ? WIRE.path : pathname;
}

function openPool({ url, batching }: HttpTransportOptions, connectTimeout: number): Pool {
  return new Pool(new URL(url).origin, {
    connections: batching ? CONNECTIONS.batching : CONNECTIONS.single,
    pipelining: 1,
    connectTimeout,
    // Each batch has its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Shorter than the server's, so that no request is sent on a connection that is about to close.
    keepAliveTimeout: 30_000,
  });
}
