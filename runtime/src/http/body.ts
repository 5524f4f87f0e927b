// Reads request bodies into bounded memory, however they are chunked.
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';
import type { ArrivingBody, Connection } from './connection.ts';

const NOTHING: Buffer = Buffer.alloc(0);
/** Chunks that are parsed, however short they are; more must have so many bytes on average. */
const MANY_CHUNKS = 1_000;
const AVERAGE_BYTES = 64;

/** Whether a body has too many chunks for its length: each costs CPU. */
export function areTooShort(chunks: number, bytes: number): boolean {
  return chunks > MANY_CHUNKS && bytes < chunks * AVERAGE_BYTES;
}

/**
 * The body: the chunk, if it came in one; otherwise a copy in at most twice the bytes that came,
 * because each small chunk would keep the larger buffer that it was read into. Rejects with
 * PAYLOAD_TOO_LARGE if the body or its chunks are too long or too many, and with BAD_REQUEST if the
 * client stops early, or is slower than a connection may be (408). Nothing more of a chunked body
 * that is too long is parsed.
 */
export function readBody(
  incoming: IncomingMessage,
  limitBytes: number,
  connection: Connection,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = Number(incoming.headers['content-length']);
    const body = new Body(connection, limitBytes, announced, reject);
    incoming.on('data', (chunk: Buffer) => {
      if (body.takes(chunk)) return;
      // Many more chunks may follow, and each costs CPU, however short it is.
      if (body.isChunked) connection.stop();
      reject(new ApiError('PAYLOAD_TOO_LARGE'));
    });
    incoming.on('end', () => resolve(body.read()));
    incoming.on('error', () => reject(new ApiError('BAD_REQUEST')));
    connection.readBody(body);
  });
}

class Body implements ArrivingBody {
  readonly isChunked: boolean;
  private readonly connection: Connection;
  private readonly limitBytes: number;
  private readonly startedAt: number;
  private readonly announced: number;
  private readonly reject: (reason: ApiError) => void;
  private bytes = NOTHING;
  private chunks = 0;
  length = 0;
  private isTooLong = false;

  constructor(
    connection: Connection,
    limitBytes: number,
    announced: number,
    reject: (reason: ApiError) => void,
  ) {
    this.connection = connection;
    this.limitBytes = limitBytes;
    this.isChunked = Number.isNaN(announced);
    this.startedAt = connection.parsedBytes;
    this.announced = announced;
    this.reject = reject;
  }

  tooSlow(): void {
    this.reject(new ApiError('BAD_REQUEST', 'the body arrives too slowly', { status: 408 }));
  }

  /** A chunk header may never end, so that no chunk comes. */
  checkChunks(): void {
    // With the heads of its chunks.
    if (this.connection.parsedBytes - this.startedAt <= 2 * this.limitBytes) return;
    this.connection.stop();
    this.reject(new ApiError('PAYLOAD_TOO_LARGE'));
  }

  /** Adds a chunk; false, and nothing is kept, if the body or its chunks are too long. */
  takes(chunk: Buffer): boolean {
    if (this.isTooLong) return false;
    const { limitBytes } = this;
    const needed = this.length + chunk.length;
    this.chunks += 1;
    if (needed > limitBytes || (this.isChunked && areTooShort(this.chunks, needed))) {
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
      const size = Math.max(2 * bytes.length, needed);
      this.bytes = Buffer.allocUnsafeSlow(Math.min(size, this.limitBytes));
      bytes.copy(this.bytes, 0, 0, length);
    }
    chunk.copy(this.bytes, length);
  }
}
