// Operations that travel to a subgraph in one request, each of which is settled exactly once.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Trace } from '../observe/tracing/trace.ts';
import type { Circuit } from './circuit.ts';
import { tooLarge, unavailable } from './deadline.ts';
import type { FieldNames } from './fieldnames.ts';
import { Bytes, LineSplitter } from './lines.ts';
import type { createReadBudget } from './parts.ts';
import { mismatch } from './protocol.ts';
import { isAnswer, isFlood, nameOfType, reasonOf, refusalReason } from './refusals.ts';
import type { ReadResponse } from './response.ts';
import type { Reading, SubgraphRequest, SubgraphResponse } from './types.ts';
import { decodeLine, MEDIA_TYPES, parseJson, WIRE } from './wire.ts';

export type PendingOperation = {
  request: SubgraphRequest;
  resolve: (response: SubgraphResponse) => void;
};

/** With `error`, the response is too large. */
type Failure = 'timeout' | 'unreachable' | 'error';
type Outcome = Parameters<Metrics['subgraphCall']>[1];

/** Ends a request: of undici, or of pool.ts. */
type Controller = Pick<Dispatcher.DispatchController, 'abort'>;

export type BatchContext = {
  name: string;
  readResponse: ReadResponse;
  readBudget: ReturnType<typeof createReadBudget>;
  fieldNames: FieldNames;
  log: Pick<Log, 'outage'>;
  metrics: Pick<Metrics, 'subgraphCall'>;
  circuit: Pick<Circuit, 'answered' | 'failed'>;
  /** The maximum for the response to one operation. */
  maxAnswerBytes: number;
};

export type BatchOptions = {
  context: BatchContext;
  operations: readonly PendingOperation[];
  /** Set if the request is an array, even if of one operation. */
  array?: {
    /** Notes that the subgraph takes no arrays. */
    refused(status: number): void;
    /** Sends queries again, each in a request of its own. */
    separate(queries: PendingOperation[]): void;
  };
  /** In terms of performance.now(). */
  deadlineAt: number;
  /** Sends queries again that had no response when the connection ended. Undefined on a retry. */
  retry: ((queries: PendingOperation[]) => void) | undefined;
};

/** As many as 4 MiB have in pieces of 64 bytes, which take as long to parse as their content. */
const MAX_CHUNKS = 65_536;

type Signing = {
  /** Notes that the subgraph has accepted the signature. */
  accepted(): void;
  /** Sends the same request with another signature. Undefined if there is none. */
  signAgain: (() => void) | undefined;
};

/**
 * Handles undici's events of one request. An operation is settled by its response, by the deadline
 * that all share, or by the end of the whole response. The connection is aborted at the deadline,
 * and as soon as the response is too large, has more lines than there are operations, or is not
 * GraphQL. A request that is refused is signed again: a 401 has run none of its operations, not
 * even mutations. Queries are separated if their array is refused, or its response is too large.
 */
export class Batch implements Dispatcher.DispatchHandler {
  readonly isArray: boolean;
  private readonly options: BatchOptions & Signing;
  private readonly maxBytes: number;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  /** By place in the request; undefined once settled. */
  private readonly waiting: (PendingOperation | undefined)[];
  private controller: Controller | undefined = undefined;
  private status = 0;
  private over = false;
  /** Whether an operation has its response, or the subgraph has refused them all. */
  private isAnswered = false;
  /** Set if the response comes in lines. */
  private lines: LineSplitter | undefined = undefined;
  /** The response so far, if it comes as a whole. */
  private readonly whole = new Bytes();
  private bytes = 0;
  private chunks = 0;
  /** How many parts of the response wait for their turn to be read. */
  private unread = 0;
  private hasEnded = false;
  /** Whether a line was too large that does not begin with its place. */
  private hasLostLine = false;

  constructor(options: BatchOptions & Signing) {
    this.options = options;
    this.isArray = options.array !== undefined;
    this.maxBytes = this.isArray ? WIRE.maxResponseBytes : options.context.maxAnswerBytes;
    this.waiting = [...options.operations];
    this.timer = setTimeout(
      () => this.giveUp('timeout', 'deadline'),
      // A timer may fire up to a millisecond early.
      Math.max(Math.ceil(options.deadlineAt - this.startedAt) + 1, 1),
    );
  }

  /** The trace of its first operation that is recorded, or else of its first. */
  trace(): Trace | undefined {
    const [first] = this.options.operations;
    // Without tracing, no operation has one.
    if (first?.request.trace === undefined) return undefined;
    const recorded = this.options.operations.find(({ request }) => request.trace?.isRecorded);
    return (recorded ?? first).request.trace;
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller;
    if (this.over) controller.abort(new Error('the deadline passed before a connection was free'));
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    const protocol = headers['partner-loyalty-protocol'];
    if (status === 200) this.options.accepted();
    if (protocol !== undefined) this.giveUp('unreachable', mismatch(Number(protocol)));
    else if (status === 401 && this.options.signAgain !== undefined) this.signAgain();
    else if (!isAnswer(status)) this.giveUp('unreachable', refusalReason(status, headers.date));
    else if (type === MEDIA_TYPES.lines && status === 200 && this.isArray)
      this.lines = new LineSplitter(this.options.context.maxAnswerBytes, this);
    else if (type !== MEDIA_TYPES.response && type !== MEDIA_TYPES.json) {
      this.separate(true);
      this.giveUp('unreachable', `no GraphQL: ${nameOfType(type)}`);
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.over) return;
    this.bytes += chunk.length;
    this.chunks += 1;
    if (this.chunks > MAX_CHUNKS) {
      this.giveUp('unreachable', 'too many chunks');
    } else if (this.bytes > this.maxBytes || (!this.isArray && !this.takes(0, chunk.length))) {
      this.separate();
      this.giveUp('error', 'too large');
    } else if (this.lines === undefined) {
      this.whole.append(chunk);
    } else {
      this.lines.push(chunk);
      if (this.lines.count > this.waiting.length)
        this.giveUp('unreachable', 'more lines than operations');
    }
  }

  onResponseEnd(): void {
    if (this.over) return;
    this.noteAnswer();
    if (this.lines === undefined) this.inTurn(0, () => this.readWhole());
    else this.lines.end();
    this.hasEnded = true;
    this.endRead();
  }

  /** Ends what has no response, once all is read that has come. */
  private endRead(): void {
    if (!this.hasEnded || this.unread > 0 || this.over) return;
    if (this.hasLostLine) this.separate();
    this.end('unreachable', 'no answer');
  }

  /** Reads a part of the response when it is the turn of who has asked for it. */
  private inTurn(place: number, read: () => void): void {
    const waiting = this.readingAt(place)?.turn();
    if (waiting === undefined) {
      read();
      return;
    }
    this.unread += 1;
    const act = () => {
      this.unread -= 1;
      if (!this.over) read();
      this.endRead();
    };
    waiting.then(act).catch((error) => this.onResponseError(undefined, error));
  }

  /** Whether an operation may have so many bytes more. */
  private takes(place: number, bytes: number): boolean {
    return this.readingAt(place)?.takes(bytes) !== false;
  }

  private readingAt(place: number): Reading | undefined {
    const { operations } = this.options;
    return (operations[place] ?? operations[0])?.request.reading;
  }

  onResponseError(_: unknown, error: NodeJS.ErrnoException): void {
    const { retry } = this.options;
    const hadBegun = this.controller !== undefined && this.status === 0 && !this.over;
    const queries = retry !== undefined && hadBegun ? this.takeQueries() : [];
    const { code } = error;
    this.end('unreachable', reasonOf(code), code);
    if (queries.length > 0) retry?.(queries);
  }

  /** Removes the queries that are not settled yet from this batch. */
  private takeQueries(): PendingOperation[] {
    return this.waiting.flatMap((operation, place) => {
      if (operation === undefined || !isQuery(operation.request.query)) return [];
      this.waiting[place] = undefined;
      return [operation];
    });
  }

  private signAgain(): void {
    if (this.over) return;
    this.waiting.fill(undefined);
    this.giveUp('unreachable', 'signed again');
    this.options.signAgain?.();
  }

  /** Has the queries that are not settled yet sent again, each on its own. */
  private separate(isRefused = false): void {
    const { array } = this.options;
    if (array === undefined || !SEPARATED.has(this.status)) return;
    if (isRefused) array.refused(this.status);
    array.separate(this.takeQueries());
  }

  private readWhole(): void {
    const bytes = this.whole.take();
    const excess = this.options.context.readBudget(bytes);
    if (excess !== undefined) {
      if (excess === 'too many values') this.separate();
      this.end('unreachable', excess);
      return;
    }
    const value = parseJson(bytes.toString('utf8'));
    if (value === undefined) {
      this.separate(true);
      this.end('unreachable', 'no GraphQL: not JSON');
      return;
    }
    if (!this.isArray) {
      this.read(0, value);
      return;
    }
    const responses: unknown[] = Array.isArray(value) ? value : [];
    if (responses.length < this.waiting.length) this.separate(true);
    const { maxAnswerBytes: most } = this.options.context;
    const each = Math.ceil(bytes.length / this.waiting.length);
    for (const place of this.waiting.keys())
      this.inTurn(place, () => {
        const response = responses[place];
        const isTooLarge =
          !this.takes(place, each) || (bytes.length > most && isLarger(response, most));
        if (isTooLarge) this.refuse(place, tooLarge());
        else this.read(place, response);
      });
  }

  line(bytes: Buffer): void {
    const place = placeOf(bytes) ?? 0;
    if (this.takes(place, bytes.length)) this.inTurn(place, () => this.readLine(bytes));
    else this.refuseLine(bytes, tooLarge());
  }

  private readLine(bytes: Buffer): void {
    const excess = this.options.context.readBudget(bytes);
    if (excess !== undefined) {
      this.refuseLine(bytes, unavailable(), excess);
      return;
    }
    const answer = decodeLine(bytes.toString('utf8'), this.waiting.length);
    if (answer !== undefined) this.read(answer.place, answer.response);
  }

  tooLong(beginning: Buffer): void {
    this.refuseLine(beginning, tooLarge());
  }

  private refuseLine(beginning: Buffer, response: SubgraphResponse, reason?: string): void {
    const place = placeOf(beginning);
    if (place === undefined) this.hasLostLine = true;
    else this.refuse(place, response, reason);
  }

  /** Fails only one operation. */
  private refuse(place: number, response: SubgraphResponse, reason = 'too large'): void {
    const operation = this.waiting[place];
    if (operation === undefined) return;
    this.report([operation], reason);
    this.settle(place, response, 'error');
  }

  private read(place: number, received: unknown): void {
    const operation = this.waiting[place];
    if (operation === undefined) return;
    const response = this.options.context.readResponse(received, operation.request);
    if (response !== undefined)
      this.settle(place, response, response.errors === undefined ? 'ok' : 'error');
  }

  private settle(place: number, response: SubgraphResponse, outcome: Outcome): void {
    const operation = this.waiting[place];
    if (operation === undefined) return;
    this.waiting[place] = undefined;
    const { name, metrics } = this.options.context;
    if (outcome === 'ok' || outcome === 'error') this.noteAnswer();
    metrics.subgraphCall(name, outcome, performance.now() - this.startedAt);
    operation.resolve(response);
  }

  private noteAnswer(): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.options.context.circuit.answered();
  }

  private giveUp(outcome: Failure, reason: string): void {
    this.end(outcome, reason);
    this.controller?.abort(new Error(reason));
  }

  /** Settles the operations that are still waiting: nothing more will come. */
  private end(outcome: Failure, reason: string, code?: string): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.timer);
    this.whole.take();
    const left = this.waiting.filter((operation) => operation !== undefined);
    const { name, circuit } = this.options.context;
    const flood = isFlood(reason, this.status, name);
    if (flood === undefined) {
      if (this.status !== 0) this.noteAnswer();
    } else if (!this.isAnswered) {
      // A subgraph that answers other operations does not hang.
      for (const _ of left) circuit.failed(flood, this.startedAt);
    }
    this.report(left, reason, code);
    const answer = outcome === 'error' ? tooLarge : unavailable;
    this.waiting.forEach((_, place) => void this.settle(place, answer(), outcome));
  }

  private report(failed: readonly PendingOperation[], reason: string, code?: string): void {
    const [first] = failed;
    if (first === undefined) return;
    const { name: subgraph, fieldNames, log } = this.options.context;
    const { requestId, query } = first.request;
    const field = fieldNames(query);
    const { status } = this;
    log.outage(
      { requestId, subgraph, field, reason, code, count: failed.length, status },
      'a subgraph did not answer',
    );
  }
}

/** How servers answer an array that they do not take. A busy one is not asked for more. */
const SEPARATED: ReadonlySet<number> = new Set([200, 400, 404, 413, 415, 422]);

/** The place that a line begins with, if it does. */
function placeOf(line: Buffer): number | undefined {
  const beginning = line.toString('latin1', 0, 32);
  const [, place] = /^\{"requestIndex":(\d{1,6}),/.exec(beginning) ?? [];
  return place === undefined ? undefined : Number(place);
}

/** Whether the JSON of a value has more bytes; also if it is nested too deeply to be written. */
function isLarger(value: unknown, bytes: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '') > bytes;
  } catch {
    return true;
  }
}

/** Whether the operation is safe to send twice. Whatever could be a mutation is not. */
function isQuery(text: string): boolean {
  return /^\s*(query\b|\{)/.test(text) && !/\bmutation\b/.test(text);
}
