// Reads request bodies into bounded memory, however they are chunked.
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

const FIRST_BYTES = 4 * 1024;
/** The most that is allocated ahead, on the first chunk, for an announced length. */
const ANNOUNCED_BYTES = 64 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Bytes on the wire, chunk headers included, that a chunked body of `limitBytes` may take. Each
 * chunk costs CPU, however short it is.
 */
function rawLimit(limitBytes: number): number {
  return 2 * limitBytes;
}

/**
 * The body: the chunk, if it came in one; otherwise a copy in at most `limitBytes` of memory,
 * because each small chunk would keep the larger buffer that it was read into. Rejects with
 * PAYLOAD_TOO_LARGE if the body or its chunks are too long, and with BAD_REQUEST if the client
 * stops early. Pauses a chunked body that is too long.
 */
export function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const announced = Number(incoming.headers['content-length']);
  if (announced > limitBytes) return Promise.reject(new ApiError('PAYLOAD_TOO_LARGE'));
  const body = new Body(incoming, limitBytes, announced);
  return new Promise((resolve, reject) => {
    incoming.on('data', (chunk: Buffer) => {
      if (body.takes(chunk)) return;
      // Many more chunks may follow, and each costs CPU, however short it is.
      if (body.isChunked) incoming.pause();
      reject(new ApiError('PAYLOAD_TOO_LARGE'));
    });
    incoming.on('end', () => resolve(body.read()));
    incoming.on('error', () => reject(new ApiError('BAD_REQUEST')));
  });
}

class Body {
  readonly isChunked: boolean;
  private readonly incoming: IncomingMessage;
  private readonly limitBytes: number;
  private readonly startedAt: number;
  private readonly announced: number;
  private bytes = NOTHING;
  private length = 0;
  private isTooLong = false;

  constructor(incoming: IncomingMessage, limitBytes: number, announced: number) {
    this.incoming = incoming;
    this.limitBytes = limitBytes;
    this.isChunked = Number.isNaN(announced);
    this.startedAt = incoming.socket.bytesRead;
    this.announced = announced;
  }

  /** Adds a chunk; false, and nothing is kept, if the body or its chunks are too long. */
  takes(chunk: Buffer): boolean {
    if (this.isTooLong) return false;
    const { limitBytes } = this;
    const needed = this.length + chunk.length;
    const raw = this.incoming.socket.bytesRead - this.startedAt;
    if (needed > limitBytes || (this.isChunked && raw > rawLimit(limitBytes))) {
      this.isTooLong = true;
      this.bytes = NOTHING;
      return false;
    }
    // Most bodies come in one chunk. Copying it would only make garbage.
    if (chunk.length === this.announced) this.bytes = chunk;
    else this.append(chunk, needed);
    this.length = needed;
    return true;
  }

  read(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  private append(chunk: Buffer, needed: number): void {
    const { bytes, length } = this;
    if (needed > bytes.length) {
      const size = length === 0 ? this.firstBytes() : 2 * bytes.length;
      this.bytes = Buffer.allocUnsafeSlow(Math.min(Math.max(size, needed), this.limitBytes));
      bytes.copy(this.bytes, 0, 0, length);
    }
    chunk.copy(this.bytes, length);
  }

  private firstBytes(): number {
    return this.isChunked ? FIRST_BYTES : Math.min(this.announced, ANNOUNCED_BYTES);
  }
}
