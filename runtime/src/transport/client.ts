// Calls a subgraph by GraphQL over HTTP, in signed requests, as docs/teams/protocol.md describes.
import { Pool } from 'undici';
import { afterPoll } from '../eventloop/afterpoll.ts';
import { createDns, type Dns } from '../http/dns.ts';
import { createConnector } from '../http/happyeyeballs.ts';
import { limitBytes } from '../http/limitbytes.ts';
import { type Addresses, lookUpBySystem, lookUpUntrusted } from '../http/names.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { isBuiltIn } from '../settings/subgraphs.ts';
import type { BatchContext, PendingOperation } from './batch.ts';
import { Circuit } from './circuit.ts';
import { DEADLINE_MS } from './deadline.ts';
import { createFieldNames } from './fieldnames.ts';
import type { AllowsHost } from './hosts.ts';
import { createReadBudget } from './parts.ts';
import { createPool, type Post } from './pool.ts';
import { PROBE } from './protocol.ts';
import { createResponseReader } from './response.ts';
import type { SubgraphSecrets } from './secrets.ts';
import { createSend } from './send.ts';
import type { SubgraphRequest, SubgraphResponse, Transport } from './types.ts';
import { WIRE } from './wire.ts';

/** Measured: with batches, neither more connections nor pipelining helps. */
const CONNECTIONS = { batching: 32, single: 128, ofTeam: 64 };
/** Of another team's responses: undici takes 50 times as much for headers of a byte. */
const MAX_HEAD_BYTES = 4_096;

type HttpTransportOptions = {
  name: string;
  /** The endpoint; `/graphql` if it has no path. */
  url: string;
  secrets: SubgraphSecrets;
  /** Which addresses may be called; all if it is undefined. */
  allows?: AllowsHost | undefined;
  /** Resolves the names of other teams' subgraphs. */
  dns?: Dns;
  /** Whether the subgraph accepts an array of operations in a request. */
  batching: boolean;
  /** The subgraph's error codes that callers may see. */
  codes: readonly string[];
  deadlineMs?: number;
  /** The maximum for the response to one operation. */
  maxAnswerBytes?: number;
  log: Log;
  metrics: Pick<Metrics, 'subgraphCall' | 'circuit'>;
};

/**
 * The transport to a subgraph in another process. With `batching`, the operations of one event loop
 * tick are sent in one request. An operation without a response within `deadlineMs` is
 * SERVICE_UNAVAILABLE and does not affect the others in its request. A query whose connection ends
 * before a response begins is sent once more, and so is one whose batch is not taken; a mutation
 * never is. While the circuit is open, operations are SERVICE_UNAVAILABLE at once. Throws if the
 * URL has a query string.
 */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const { name, codes, deadlineMs = DEADLINE_MS, log, metrics } = options;
  const { maxAnswerBytes = WIRE.maxAnswerBytes } = options;
  const connections = openConnections(options, deadlineMs);
  const fieldNames = createFieldNames();
  const readResponse = createResponseReader({ name, codes, fieldNames, log });
  const circuit = new Circuit({ name, log, metrics, probe });
  const askedOf = isBuiltIn(name) ? (request: SubgraphRequest) => request : withoutScopes;
  const send = createSend(connections.post, options);
  const readBudget = createReadBudget(isBuiltIn(name));
  const reading = { readResponse, readBudget, maxAnswerBytes };
  const context: BatchContext = { name, fieldNames, log, metrics, circuit, ...reading };
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
    execute: (given) => {
      const request = askedOf(given);
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
      context.circuit = SILENT;
      circuit.close();
      await connections.close();
    },
  };
}

/** Subgraphs of other teams have none of the fields that scopes are for, and may be strict. */
function withoutScopes(request: SubgraphRequest): SubgraphRequest {
  const { caller } = request;
  if (caller.kind !== 'member' || caller.scopes === undefined) return request;
  const { scopes: _, ...rest } = caller;
  return { ...request, caller: rest };
}

const SILENT = { warn() {}, outage() {}, subgraphCall() {}, answered() {}, failed() {} };

function openConnections(
  options: HttpTransportOptions,
  connectTimeout: number,
): { post: Post; close(): void | Promise<void> } {
  const { name, batching, allows, maxAnswerBytes = WIRE.maxAnswerBytes } = options;
  const address = new URL(options.url);
  // Small chunks take as much again, and a head up to 16 KiB.
  const largest = batching ? Math.max(WIRE.maxResponseBytes, maxAnswerBytes) : maxAnswerBytes;
  const mostBytes = 2 * largest + 65_536;
  if (isBuiltIn(name) && batching && allows === undefined && address.protocol === 'http:')
    return createPool(address, CONNECTIONS.batching, mostBytes);
  const single = isBuiltIn(name) ? 'single' : 'ofTeam';
  const kind = batching ? 'batching' : single;
  const pool = new Pool(address.origin, {
    connections: CONNECTIONS[kind],
    ...(!isBuiltIn(name) && { maxHeaderSize: MAX_HEAD_BYTES }),
    pipelining: 1,
    connect: limitBytes(connectorTo(options, address, connectTimeout), mostBytes),
    // Each batch has its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Shorter than the server's, so that no request is sent on a connection that is about to close.
    keepAliveTimeout: 30_000,
  });
  return {
    post: (path, headers, body, batch) =>
      void pool.dispatch({ method: 'POST', path, headers, body }, batch),
    close: async () => {
      if (!pool.closed) await pool.close();
    },
  };
}

/** A server may close each connection, for which its name would be looked up again. */
const ADDRESSES_KEPT_MS = 5_000;

/**
 * Connects to allowed addresses and to no others, whatever a name resolved to before. Fails with
 * the code ADDRESS if there is none.
 */
function connectorTo({ name, allows, dns }: HttpTransportOptions, url: URL, timeoutMs: number) {
  const isTrusted = isBuiltIn(name);
  const resolver = dns ?? createDns({ timeoutMs: 500, tries: 3 });
  let looking: Addresses | undefined;
  return createConnector({
    lookUp(hostname) {
      if (looking !== undefined) return looking;
      looking = isTrusted ? lookUpBySystem(hostname) : lookUpUntrusted(hostname, resolver);
      void Promise.allSettled(looking).then(() => {
        const forget = () => {
          looking = undefined;
        };
        if (isTrusted) forget();
        else setTimeout(forget, ADDRESSES_KEPT_MS).unref();
      });
      return looking;
    },
    allows: (address) => allows === undefined || allows(url, address),
    timeoutMs,
    isTrusted,
  });
}
