// The responses of a subgraph to one operation and to a batch (GraphQL over HTTP, section 6).
import { ERRORS, isErrorCode } from '../errors.ts';
import { HEADERS } from '../http/headers.ts';
import type { HttpReply } from '../http/reply.ts';
import { type Execute, withDeadline } from '../subgraph/executor.ts';
import type { SubgraphReply, SubgraphRequest } from '../subgraph/types.ts';
import { encodeLine, MEDIA_TYPES } from './wire.ts';

const TYPES = {
  json: { [HEADERS.contentType.name]: `${MEDIA_TYPES.json}; charset=utf-8` },
  response: { [HEADERS.contentType.name]: `${MEDIA_TYPES.response}; charset=utf-8` },
  lines: { [HEADERS.contentType.name]: MEDIA_TYPES.lines },
};

/** Answers an operation with an ordinary GraphQL response. */
export function answerOne(
  execute: Execute,
  request: SubgraphRequest,
  accept: string,
): HttpReply | Promise<HttpReply> {
  const reply = execute(request);
  return 'then' in reply
    ? withDeadline(reply).then((late) => responseOf(late, accept))
    : responseOf(reply, accept);
}

function responseOf(reply: SubgraphReply, accept: string): HttpReply {
  const body = JSON.stringify(reply);
  return acceptsResponse(accept)
    ? { status: statusOf(reply), headers: TYPES.response, body }
    : { status: 200, headers: TYPES.json, body };
}

/** Whether the caller knows GraphQL's own media type, with which errors may have other statuses. */
function acceptsResponse(accept: string): boolean {
  return /application\/graphql-response\+json(?!l)/.test(accept);
}

/** An error if the operation could not be executed at all. */
function statusOf({ data, errors }: SubgraphReply): number {
  const code = errors?.[0]?.extensions.code;
  return data === undefined && isErrorCode(code) ? Math.max(ERRORS[code].status, 400) : 200;
}

/** Answers a batch with an array. */
export async function answerArray(
  execute: Execute,
  requests: readonly SubgraphRequest[],
  accept: string,
): Promise<HttpReply> {
  const replies = await Promise.all(
    requests.map((request) => {
      const reply = execute(request);
      return 'then' in reply ? withDeadline(reply) : reply;
    }),
  );
  const headers = acceptsResponse(accept) ? TYPES.response : TYPES.json;
  return { status: 200, headers, body: JSON.stringify(replies) };
}

type Late = { place: number; reply: Promise<SubgraphReply> };

/** Answers each operation with a line, and in one piece if all replies are synchronous. */
export function answerLines(
  execute: Execute,
  requests: readonly SubgraphRequest[],
): HttpReply | Promise<HttpReply> {
  const late: Late[] = [];
  let lines = '';
  requests.forEach((request, place) => {
    const reply = execute(request);
    if ('then' in reply) late.push({ place, reply: withDeadline(reply) });
    else lines += encodeLine(place, reply);
  });
  return late.length === 0
    ? { status: 200, headers: TYPES.lines, body: lines }
    : answerInPieces(lines, late);
}

/**
 * Writes each line as soon as it is there, so that a slow operation does not hold up the others.
 * Lines of the same tick go out together; if they are all there are, in one piece.
 */
async function answerInPieces(synchronous: string, late: readonly Late[]): Promise<HttpReply> {
  let lines = synchronous;
  let left = late.length;
  let wake = () => {};
  for (const { place, reply } of late) {
    reply.then((done) => {
      lines += encodeLine(place, done);
      left--;
      wake();
    });
  }
  /** Resolves after the next reply, together with those that follow in the same tick. */
  const next = () =>
    new Promise<void>((resolve) => {
      wake = () => {
        wake = () => {};
        process.nextTick(resolve);
      };
    });
  const take = () => {
    const taken = lines;
    lines = '';
    return taken;
  };
  if (lines === '') await next();
  if (left === 0) return { status: 200, headers: TYPES.lines, body: take() };
  const body = async (write: (piece: string) => void) => {
    while (left > 0 || lines !== '') {
      if (lines === '') await next();
      write(take());
    }
  };
  return { status: 200, headers: TYPES.lines, body };
}
