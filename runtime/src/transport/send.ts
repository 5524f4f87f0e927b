// Sends operations to a subgraph, in arrays or each in a request of its own.
import { LRUCache } from 'lru-cache';
import type { Log } from '../observe/log.ts';
import { Batch, type BatchContext, type BatchOptions, type PendingOperation } from './batch.ts';
import { unavailable } from './deadline.ts';
import type { Post } from './pool.ts';
import type { SubgraphSecrets } from './secrets.ts';
import { createSigner, type Sign } from './signature/signer.ts';
import { type EncodedRequest, encodeBatches, encodeOperation, MEDIA_TYPES, WIRE } from './wire.ts';

/**
 * Sends operations in as few requests as possible. `retry` receives queries to send again after
 * their connection has ended.
 */
type Send = (
  operations: readonly PendingOperation[],
  context: BatchContext,
  deadlineAt: number,
  retry?: (queries: PendingOperation[]) => void,
) => void;

type Options = {
  name: string;
  url: string;
  secrets: SubgraphSecrets;
  batching: boolean;
  log: Log;
};

const ACCEPT = {
  single: `${MEDIA_TYPES.response}, ${MEDIA_TYPES.json};q=0.9`,
  batch: `${MEDIA_TYPES.lines}, ${MEDIA_TYPES.response};q=0.9, ${MEDIA_TYPES.json};q=0.8`,
};
/** How many queries of a failed batch are in flight at a time. */
const SEPARATE = 10;

/** Throws if the URL has a query string. */
export function createSend(post: Post, { name, url, secrets, batching, log }: Options): Send {
  const signerOf = createSigners(name);
  const path = pathOf(url);
  const arrays = createArrays(name, log);

  function dispatch(encoded: EncodedRequest, options: BatchOptions): void {
    const secret = secrets.first();
    if (secret === undefined) refuse(options);
    else dispatchSigned(encoded, options, secret, secrets.other(secret));
  }

  /** `other` signs the same request once more if it is refused. */
  function dispatchSigned(
    encoded: EncodedRequest,
    options: BatchOptions,
    secret: string,
    other?: string,
  ): void {
    const batch = new Batch({
      ...options,
      accepted: () => secrets.accepted(secret),
      signAgain: other === undefined ? undefined : () => dispatchSigned(encoded, options, other),
    });
    const { caller, requestId, body } = encoded;
    const headers: Record<string, string> = {
      'content-type': MEDIA_TYPES.json,
      accept: batch.isArray ? ACCEPT.batch : ACCEPT.single,
      ...signerOf(secret)({ method: 'POST', path, caller, requestId, body }),
      ...batch.trace()?.headers(),
    };
    post(path, headers, body, batch);
  }

  function refuse({ operations, context }: BatchOptions): void {
    const reason = 'it has no secret';
    for (const { request, resolve } of operations) {
      const { requestId } = request;
      context.log.outage({ requestId, subgraph: name, reason }, 'a subgraph was not asked');
      context.metrics.subgraphCall(name, 'unreachable', 0);
      resolve(unavailable());
    }
  }

  const sendArrays: Send = (operations, context, deadlineAt, retry) => {
    const array = {
      refused: arrays.refused,
      separate: (queries: PendingOperation[]) => separate(queries, context, deadlineAt),
    };
    let all: EncodedRequest[];
    try {
      all = encodeBatches(operations.map(({ request }) => request));
    } catch {
      return sendEach(operations, context, deadlineAt, retry); // Only one of them fails.
    }
    let start = 0;
    for (const encoded of all) {
      const group = operations.slice(start, start + encoded.count);
      start += encoded.count;
      dispatch(encoded, { context, operations: group, array, deadlineAt, retry });
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
      dispatch(encoded, { context, operations: [operation], deadlineAt, retry });
    }
  };

  /** Sends the queries of a batch again, some at a time, as long as the batch has time. */
  function separate(queries: PendingOperation[], context: BatchContext, deadlineAt: number): void {
    const left = queries.values();
    const next = () => {
      const { done, value: operation } = left.next();
      if (done) return;
      const { request } = operation;
      const resolve: PendingOperation['resolve'] = (response) => {
        operation.resolve(response);
        next();
      };
      if (performance.now() < deadlineAt)
        sendEach([{ request, resolve }], context, deadlineAt, (again) =>
          sendEach(again, context, deadlineAt),
        );
      else {
        context.metrics.subgraphCall(name, 'timeout', 0);
        resolve(unavailable());
      }
    };
    for (let started = 0; started < SEPARATE; started += 1) next();
  }

  return (operations, context, deadlineAt, retry) => {
    // No batch has a request that is forwarded, which are few.
    const isBatch =
      batching &&
      operations.length > 1 &&
      arrays.areTaken() &&
      operations.every(({ request }) => request.forwarded === undefined);
    (isBatch ? sendArrays : sendEach)(operations, context, deadlineAt, retry);
  };
}

/** For two secrets, and the two before them. */
const MAX_SIGNERS = 4;

function createSigners(name: string): (secret: string) => Sign {
  const memoMethod = (secret: string) => createSigner(name, secret);
  const signers = new LRUCache<string, Sign>({ max: MAX_SIGNERS, memoMethod });
  return (secret) => signers.memo(secret);
}

function pathOf(url: string): string {
  const { pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '')
    throw new Error('the URL of a subgraph must have neither a query string nor a fragment');
  return pathname === '/' ? WIRE.path : pathname;
}

/** After this, a subgraph that has refused an array gets one again. */
const PAUSE_MS = 60_000;

/** `name` is the subgraph's; `now` is in milliseconds. */
export function createArrays(
  name: string,
  log: Pick<Log, 'warn'>,
  now: () => number = () => performance.now(),
) {
  let pausedUntil = 0;
  const areTaken = () => pausedUntil === 0 || now() >= pausedUntil;
  return {
    areTaken,
    /** Stops arrays for a minute. Arrays that were under way add neither time nor warnings. */
    refused(status: number): void {
      if (!areTaken()) return;
      pausedUntil = now() + PAUSE_MS;
      log.warn(
        { subgraph: name, status },
        'a subgraph did not answer a batch as one: it gets single operations for a minute',
      );
    },
  };
}
