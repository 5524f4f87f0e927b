// Answers bytes that node:http cannot parse, and requests that take too long to arrive.
import type { Duplex } from 'node:stream';
import { errorBody } from './response.ts';
import { writeRawResponse } from './write.ts';

/** A listener for node:http's `clientError`. */
export function createClientErrorListener(
  newId: () => string,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const refused = new WeakSet<Duplex>();
  return (error, socket) => {
    // Whatever the client sends after a refusal is malformed too.
    if (refused.has(socket)) return;
    refused.add(socket);
    if (!socket.writable || responseBegun(socket)) {
      socket.destroy();
      return;
    }
    const requestId = newId();
    const body = errorBody('BAD_REQUEST', requestId);
    writeRawResponse(socket, { status: statusOf(error.code), headers: {}, body }, requestId);
  };
}

function statusOf(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

/** Whether bytes of a response are out. Cast: node:http looks at the same private field. */
function responseBegun(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as Duplex & {
    _httpMessage?: { _headerSent: boolean } | null;
  };
  return message?._headerSent ?? false;
}
