// Operations that travel to a subgraph in one request: each is settled once, by its own line, the common deadline or the end of the connection.

import type { Dispatcher } from 'undici';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { unavailable } from './executor.ts';
import type { SubgraphReply, SubgraphRequest } from './subgraph.ts';
import { decodeReply } from './wire.ts';

export type Operation = { request: SubgraphRequest; resolve: (reply: SubgraphReply) => void };

type Outcome = Parameters<Metrics['subgraphCall']>[1];

type Parts = {
  name: string;
  operations: readonly Operation[];
  /** On performance.now()'s clock. */
  deadlineAt: number;
  /** Takes the queries that were not answered because the connection ended early; absent where they were sent again already. */
  again?: (queries: Operation[]) => void;
  log: Log;
  metrics: Pick<Metrics, 'subgraphCall'>;
};

/** The longest answer to one operation that is read. */
const MAX_LINE_BYTES = 1024 * 1024;
const LINE_FEED = 10;

/** What undici tells about one request. The connection is given up at the deadline, and where it says more than there was to say. */
export class Batch implements Dispatcher.DispatchHandler {
  private readonly parts: Parts;
  private readonly began = performance.now();
  private readonly timer: NodeJS.Timeout;
  /** By place; undefined once settled. */
  private readonly waiting: (Operation | undefined)[];
  private controller: Dispatcher.DispatchController | undefined = undefined;
  private status = 0;
  private over = false;
  private lines = 0;
  /** The begin of a line whose end has not come yet; `undefined` where it is too long and its rest is skipped. */
  private begun: Buffer[] | undefined = [];
  private begunBytes = 0;

  constructor(parts: Parts) {
    this.parts = parts;
    this.waiting = [...parts.operations];
    this.timer = setTimeout(
      () => this.end('timeout', 'deadline'),
      Math.max(parts.deadlineAt - this.began, 1),
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.over) controller.abort(new Error('the deadline passed before a connection was free'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.status = status;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.status !== 200 || this.over) return;
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.beginLine(chunk.subarray(start));
    if (this.lines > this.waiting.length) this.end('unreachable', 'more lines than operations');
  }

  onResponseEnd(): void {
    this.end('unreachable', this.status === 200 ? 'no answer' : 'refused');
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: NodeJS.ErrnoException): void {
    const queries: Operation[] = [];
    if (this.parts.again !== undefined && this.status === 0 && !this.over) {
      this.waiting.forEach((operation, place) => {
        if (operation === undefined || !isQuery(operation.request.query)) return;
        queries.push(operation);
        this.waiting[place] = undefined;
      });
    }
    this.end('unreachable', 'connection', error.code);
    if (queries.length > 0) this.parts.again?.(queries);
  }

  private beginLine(piece: Buffer): void {
    this.begunBytes += piece.length;
    if (this.begunBytes <= MAX_LINE_BYTES) {
      this.begun?.push(piece);
      return;
    }
    // Only the operation whose answer it is pays for its length.
    const place = Number(
      /^\{"i":(\d{1,6}),/.exec(this.begun?.[0]?.subarray(0, 16).toString('latin1') ?? '')?.[1],
    );
    if (place in this.waiting) this.settle(place, unavailable(), 'error');
    this.begun = undefined;
  }

  private endLine(piece: Buffer): void {
    const { begun } = this;
    const line =
      begun === undefined || begun.length === 0 ? piece : Buffer.concat([...begun, piece]);
    this.begun = [];
    this.begunBytes = 0;
    this.lines++;
    if (begun === undefined || line.length > MAX_LINE_BYTES) return;
    const answer = decodeReply(line.toString('utf8'), this.waiting.length);
    if (answer !== undefined)
      this.settle(answer.place, answer.reply, answer.reply.errors === undefined ? 'ok' : 'error');
  }

  private settle(place: number, reply: SubgraphReply, outcome: Outcome): void {
    const operation = this.waiting[place];
    if (operation === undefined) return;
    this.waiting[place] = undefined;
    this.parts.metrics.subgraphCall(this.parts.name, outcome, performance.now() - this.began);
    operation.resolve(reply);
  }

  /** Nothing more is to come: who still waits is told that there is no answer. */
  private end(outcome: 'timeout' | 'unreachable', reason: string, code?: string): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.timer);
    const count = this.waiting.filter((operation) => operation !== undefined).length;
    if (count > 0)
      this.parts.log.warn(
        { subgraph: this.parts.name, reason, code, count, status: this.status },
        'a subgraph did not answer',
      );
    this.waiting.forEach((_, place) => void this.settle(place, unavailable(), outcome));
    if (reason === 'deadline' || reason.startsWith('more'))
      this.controller?.abort(new Error(reason));
  }
}

/** Whether sending it twice does no harm. Whatever could be a mutation counts as one. */
function isQuery(text: string): boolean {
  return /^\s*(query\b|\{)/.test(text) && !/\bmutation\b/.test(text);
}
