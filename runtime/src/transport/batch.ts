// Operations that travel to a subgraph in one request, each of which is settled exactly once.
import type { Dispatcher } from 'undici';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { unavailable } from '../subgraph/executor.ts';
import type { SubgraphReply, SubgraphRequest } from '../subgraph/types.ts';
import type { Circuit } from './circuit.ts';
import { LineSplitter } from './lines.ts';
import { decodeReply } from './wire.ts';

export type PendingOperation = {
  request: SubgraphRequest;
  resolve: (reply: SubgraphReply) => void;
};

type Outcome = Parameters<Metrics['subgraphCall']>[1];

type Options = {
  /** The subgraph's name. */
  name: string;
  operations: readonly PendingOperation[];
  /** In terms of performance.now(). */
  deadlineAt: number;
  /** Sends queries again that had no answer when the connection ended. Undefined on a retry. */
  retry: ((queries: PendingOperation[]) => void) | undefined;
  log: Log;
  metrics: Pick<Metrics, 'subgraphCall'>;
  circuit: Pick<Circuit, 'answered' | 'missedDeadline'>;
};

/** Longer answers to an operation are not read. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Handles undici's events of one request. An operation is settled by its own line, by the deadline
 * that all share, or by the end of the response. The connection is aborted at the deadline, and if
 * the response has more lines than there are operations.
 */
export class Batch implements Dispatcher.DispatchHandler {
  private readonly options: Options;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  /** By place in the request; undefined once settled. */
  private readonly waiting: (PendingOperation | undefined)[];
  private readonly lines: LineSplitter;
  private controller: Dispatcher.DispatchController | undefined = undefined;
  private status = 0;
  private over = false;

  constructor(options: Options) {
    this.options = options;
    this.waiting = [...options.operations];
    this.lines = new LineSplitter(MAX_LINE_BYTES, {
      line: (bytes) => this.readLine(bytes),
      tooLong: (beginning) => this.refuseLine(beginning),
    });
    this.timer = setTimeout(
      () => this.giveUp('timeout', 'deadline'),
      Math.max(options.deadlineAt - this.startedAt, 1),
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.over) controller.abort(new Error('the deadline passed before a connection was free'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.status = status;
    this.options.circuit.answered();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.status !== 200 || this.over) return;
    this.lines.push(chunk);
    if (this.lines.count > this.waiting.length)
      this.giveUp('unreachable', 'more lines than operations');
  }

  onResponseEnd(): void {
    this.end('unreachable', this.status === 200 ? 'no answer' : 'refused');
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: NodeJS.ErrnoException): void {
    const { retry } = this.options;
    const queries =
      retry !== undefined && this.status === 0 && !this.over ? this.takeQueries() : [];
    this.end('unreachable', 'connection', error.code);
    if (queries.length > 0) retry?.(queries);
  }

  /** Takes the queries that are not settled yet out of this batch. */
  private takeQueries(): PendingOperation[] {
    return this.waiting.flatMap((operation, place) => {
      if (operation === undefined || !isQuery(operation.request.query)) return [];
      this.waiting[place] = undefined;
      return [operation];
    });
  }

  private readLine(bytes: Buffer): void {
    const answer = decodeReply(bytes.toString('utf8'), this.waiting.length);
    if (answer === undefined) return;
    const { place, reply } = answer;
    this.settle(place, reply, reply.errors === undefined ? 'ok' : 'error');
  }

  /** Fails only the operation that the line belongs to. */
  private refuseLine(beginning: Buffer): void {
    const place = /^\{"i":(\d{1,6}),/.exec(beginning.subarray(0, 16).toString('latin1'))?.[1];
    if (place !== undefined) this.settle(Number(place), unavailable(), 'error');
  }

  private settle(place: number, reply: SubgraphReply, outcome: Outcome): void {
    const operation = this.waiting[place];
    if (operation === undefined) return;
    this.waiting[place] = undefined;
    const { name, metrics, circuit } = this.options;
    // A subgraph that answers other operations does not hang.
    if (outcome === 'timeout' && this.status === 0) circuit.missedDeadline();
    metrics.subgraphCall(name, outcome, performance.now() - this.startedAt);
    operation.resolve(reply);
  }

  private giveUp(outcome: 'timeout' | 'unreachable', reason: string): void {
    this.end(outcome, reason);
    this.controller?.abort(new Error(reason));
  }

  /** Settles the operations that are still waiting: nothing more will come. */
  private end(outcome: 'timeout' | 'unreachable', reason: string, code?: string): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.timer);
    const { name: subgraph, log } = this.options;
    const count = this.waiting.filter((operation) => operation !== undefined).length;
    if (count > 0)
      log.warn({ subgraph, reason, code, count, status: this.status }, 'a subgraph did not answer');
    this.waiting.forEach((_, place) => void this.settle(place, unavailable(), outcome));
  }
}

/** Whether the operation is safe to send twice. Whatever could be a mutation is not. */
function isQuery(text: string): boolean {
  return /^\s*(query\b|\{)/.test(text) && !/\bmutation\b/.test(text);
}
