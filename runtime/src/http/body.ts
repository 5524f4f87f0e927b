// Reads request bodies into bounded memory, however they are chunked.
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

const FIRST_BYTES = 4 * 1024;
/** The most that is allocated for an announced length before any of the body has arrived. */
const ANNOUNCED_BYTES = 64 * 1024;

/**
 * Bytes on the wire, chunk headers included, that a chunked body of `limitBytes` may take. Each
 * chunk costs CPU, however short it is.
 */
export function rawLimit(limitBytes: number): number {
  return 2 * limitBytes;
}

/**
 * The body, copied into at most `limitBytes` of memory: otherwise, each small chunk would keep the
 * larger buffer that it was read into. Rejects with PAYLOAD_TOO_LARGE if the body or its chunks are
 * too long, and with BAD_REQUEST if the client stops early. Pauses a chunked body that is too long.
 */
export function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const announced = Number(incoming.headers['content-length']);
  if (announced > limitBytes) return Promise.reject(new ApiError('PAYLOAD_TOO_LARGE'));
  const isChunked = Number.isNaN(announced);
  const startedAt = incoming.socket.bytesRead;
  const first = isChunked ? FIRST_BYTES : Math.min(announced, ANNOUNCED_BYTES);
  let bytes: Buffer = Buffer.allocUnsafeSlow(Math.min(first, limitBytes));
  let length = 0;

  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      const needed = length + chunk.length;
      const raw = incoming.socket.bytesRead - startedAt;
      if (needed > limitBytes || (isChunked && raw > rawLimit(limitBytes))) {
        // Many more chunks may follow, and each costs CPU, however short it is.
        incoming.off('data', take);
        if (isChunked) incoming.pause();
        bytes = Buffer.alloc(0);
        reject(new ApiError('PAYLOAD_TOO_LARGE'));
        return;
      }
      if (needed > bytes.length) bytes = grown(bytes, length, needed, limitBytes);
      chunk.copy(bytes, length);
      length = needed;
    };
    incoming.on('data', take);
    incoming.on('end', () => resolve(bytes.subarray(0, length)));
    incoming.on('error', () => reject(new ApiError('BAD_REQUEST')));
  });
}

function grown(bytes: Buffer, length: number, needed: number, limitBytes: number): Buffer {
  const next = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * bytes.length, needed), limitBytes));
  bytes.copy(next, 0, 0, length);
  return next;
}
