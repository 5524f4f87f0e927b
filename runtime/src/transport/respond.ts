// The responses of a subgraph to one operation and to a batch (GraphQL over HTTP, section 6).
import { ERRORS, isErrorCode } from '../errors.ts';
import type { HttpResponse } from '../http/response.ts';
import { type Execute, withDeadline } from './deadline.ts';
import type { LoggedRequest } from './requestline.ts';
import type { SubgraphRequest, SubgraphResponse } from './types.ts';
import { encodeLine, MEDIA_TYPES } from './wire.ts';

/** Receives each response when it is final. */
type Observer = Pick<LoggedRequest, 'answered'>;

const TYPES = {
  json: { 'content-type': `${MEDIA_TYPES.json}; charset=utf-8` },
  response: { 'content-type': `${MEDIA_TYPES.response}; charset=utf-8` },
  lines: { 'content-type': MEDIA_TYPES.lines },
};

/** Answers an operation with an ordinary GraphQL response. */
export function respondToOne(
  execute: Execute,
  request: SubgraphRequest,
  accept: string,
  observer: Observer,
): HttpResponse | Promise<HttpResponse> {
  const response = execute(request);
  return 'then' in response
    ? withDeadline(response).then((late) => responseOf(observer.answered(late), accept))
    : responseOf(observer.answered(response), accept);
}

function responseOf(response: SubgraphResponse, accept: string): HttpResponse {
  const body = JSON.stringify(response);
  // With GraphQL's media type, errors need not have status 200.
  return /application\/graphql-response\+json(?!l)/.test(accept)
    ? { status: statusOf(response), headers: TYPES.response, body }
    : { status: 200, headers: TYPES.json, body };
}

/** An error status if the operation could not be executed at all. */
function statusOf({ data, errors }: SubgraphResponse): number {
  const code = errors?.[0]?.extensions.code;
  return data === undefined && isErrorCode(code) ? Math.max(ERRORS[code].status, 400) : 200;
}

type Late = { place: number; response: Promise<SubgraphResponse> };

/** Answers each operation with a line; with all in one piece if all responses are synchronous. */
export function respondInLines(
  execute: Execute,
  requests: readonly SubgraphRequest[],
  observer: Observer,
): HttpResponse | Promise<HttpResponse> {
  const late: Late[] = [];
  let lines = '';
  requests.forEach((request, place) => {
    const response = execute(request);
    if ('then' in response) late.push({ place, response: withDeadline(response) });
    else lines += encodeLine(place, observer.answered(response));
  });
  return late.length === 0
    ? { status: 200, headers: TYPES.lines, body: lines }
    : answerInPieces(lines, late, observer);
}

/**
 * Writes each line as soon as it is ready, so that a slow operation does not hold up the others.
 * Lines of the same tick are written together.
 */
async function answerInPieces(
  synchronous: string,
  late: readonly Late[],
  observer: Observer,
): Promise<HttpResponse> {
  let lines = synchronous;
  let left = late.length;
  let wake: (() => void) | undefined;
  for (const { place, response } of late)
    void response.then((done) => {
      lines += encodeLine(place, observer.answered(done));
      left -= 1;
      // After the other responses of this tick.
      if (wake !== undefined) process.nextTick(wake);
      wake = undefined;
    });

  /** The lines that are ready, or else the next ones. */
  async function take(): Promise<string> {
    if (lines === '')
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    const taken = lines;
    lines = '';
    return taken;
  }

  const first = await take();
  if (left === 0) return { status: 200, headers: TYPES.lines, body: first };
  const body = async (write: (piece: string) => void) => {
    write(first);
    while (left > 0 || lines !== '') write(await take());
  };
  return { status: 200, headers: TYPES.lines, body };
}
