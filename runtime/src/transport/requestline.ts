// Records a request to a subgraph when its response has ended: the log line and the metrics.

import { type ErrorCode, isServerError } from '../errors.ts';
import type { ResponseHeaders } from '../http/headers.ts';
import type { HttpRequest } from '../http/request.ts';
import { errorResponse, type HttpResponse, type ResponseObserver } from '../http/response.ts';
import { jsonFields, type Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { ReceivedHeaders, Trace, Tracing } from '../observe/tracing/trace.ts';
import { mismatch, PROTOCOL } from './protocol.ts';
import type { Refusal } from './signature/verifier.ts';
import type { SubgraphRequest, SubgraphResponse } from './types.ts';

type RequestLineParts = {
  log: Pick<Log, 'infoJson' | 'outage'>;
  metrics: Pick<Metrics, 'request' | 'operation'>;
  tracing: Tracing | undefined;
};

/** Codes in a line, of which a batch of operations may have many. */
const MAX_CODES = 20;

/** A request to a subgraph, which carries one operation or a batch of them. */
export class LoggedRequest implements ResponseObserver {
  private readonly name: string;
  private readonly requestId: string;
  private readonly headers: ReceivedHeaders;
  private readonly parts: RequestLineParts;
  private readonly startedAt = performance.now();
  private status = 200;
  private asked: readonly SubgraphRequest[] = [];
  private spans: readonly Trace[] = NO_SPANS;
  private readonly codes = new Set<string>();
  /** Set if the request was not signed as it should be, or is of another protocol. */
  private refusal: string | undefined = undefined;

  constructor(
    name: string,
    { requestId, headers }: Pick<HttpRequest, 'requestId' | 'headers'>,
    parts: RequestLineParts,
  ) {
    this.name = name;
    this.requestId = requestId;
    this.headers = headers;
    this.parts = parts;
  }

  /** Notes the operations that are about to be executed. */
  executing(asked: readonly SubgraphRequest[]): void {
    this.asked = asked;
    if (this.parts.tracing !== undefined) this.spans = this.beginSpans(this.parts.tracing);
  }

  /**
   * One span in each of the traces that the operations belong to, or in the one that the headers
   * name: the first of a batch.
   */
  private beginSpans(tracing: Tracing): Trace[] {
    const name = `subgraph ${this.name}`;
    const received = this.asked.map((each) => each.received).filter((each) => each !== undefined);
    const spans = received.map((each) => tracing.begin(name, each));
    return spans.length === 0 ? [tracing.begin(name, this.headers)] : spans;
  }

  /** Notes the response to one of the operations, and returns it. */
  answered(response: SubgraphResponse): SubgraphResponse {
    const { errors } = response;
    this.parts.metrics.operation(errors?.[0]?.extensions.code ?? 'OK');
    if (errors === undefined) return response;
    for (const { extensions } of errors)
      if (this.codes.size < MAX_CODES) this.codes.add(extensions.code);
    return response;
  }

  /** The response to a request that is not signed as it should be. It does not say why. */
  refuse(refusal: Refusal | 'query string'): HttpResponse {
    this.refusal = refusal;
    return this.fail('UNAUTHENTICATED');
  }

  /** The response to a request with a valid signature, whose protocol is not understood. */
  refuseProtocol(protocol: number): HttpResponse {
    this.refusal = mismatch(protocol);
    return this.fail('SERVICE_UNAVAILABLE', { 'partner-loyalty-protocol': `${PROTOCOL}` });
  }

  /** The response to a request of which no operation is executed. */
  fail(code: ErrorCode, headers?: ResponseHeaders): HttpResponse {
    this.codes.add(code);
    return errorResponse(code, this.requestId, headers);
  }

  /** The response, with this as its observer. */
  observe({ status, headers, body }: HttpResponse): HttpResponse {
    this.status = status;
    return { status, headers, body, observer: this };
  }

  ended(bytes: number, isWhole: boolean): void {
    const { name: subgraph, requestId, status, refusal } = this;
    const { log, metrics } = this.parts;
    const durationMs = Math.round((performance.now() - this.startedAt) * 1000) / 1000;
    const [code = 'OK'] = this.codes;
    metrics.request(status, code, durationMs);
    for (const span of this.spans) this.endSpan(span);
    // Anyone who reaches the port can send such requests, or all of them are too new or too old.
    if (refusal !== undefined)
      log.outage({ requestId, subgraph, status, reason: refusal }, 'a request was refused');
    else
      log.infoJson(
        `,"requestId":"${requestId}"${this.others()},"subgraph":"${subgraph}","count":${this.asked.length},"status":${status}${this.failures()}${isWhole ? `,"bytes":${bytes}` : CLOSED_EARLY},"durationMs":${durationMs}`,
        'request',
      );
  }

  private endSpan(span: Trace): void {
    const [code] = this.codes;
    const attributes = {
      'http.response.status_code': this.status,
      'loyalty.subgraph': this.name,
      'loyalty.operations': this.asked.length,
      'error.type': code,
    };
    span.end(attributes, isServerError(code));
  }

  /** The other requests of clients whose operations came along. */
  private others(): string {
    if (this.asked.length < 2) return '';
    const ids = new Set(this.asked.map(({ requestId }) => requestId));
    ids.delete(this.requestId);
    return ids.size === 0 ? '' : jsonFields({ requestIds: [...ids] });
  }

  private failures(): string {
    return this.codes.size === 0 ? '' : jsonFields({ codes: [...this.codes] });
  }
}

const NO_SPANS: readonly Trace[] = [];
const CLOSED_EARLY = jsonFields({ reason: 'the client closed the connection' });
