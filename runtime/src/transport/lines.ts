// Bytes that arrive in pieces, as a whole or in lines, of which at most one is kept.

const LINE_FEED = 10;

/** Receives the lines, without their line feeds. */
type Listener = {
  line(bytes: Buffer): void;
  /** Receives the beginning of a line that is too long; the rest of the line is skipped. */
  tooLong(beginning: Buffer): void;
};

export class LineSplitter {
  /** How many lines have ended so far. */
  count = 0;
  private readonly maxBytes: number;
  private readonly listener: Listener;
  private readonly bytes = new Bytes();
  /** The length of the line so far, what was skipped included. */
  private length = 0;

  constructor(maxBytes: number, listener: Listener) {
    this.maxBytes = maxBytes;
    this.listener = listener;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.append(chunk.subarray(start, end));
      this.endLine();
      start = end + 1;
    }
    if (start < chunk.length) this.append(chunk.subarray(start));
  }

  /** Ends the last line, which may lack a line feed. */
  end(): void {
    if (this.length > 0) this.endLine();
  }

  private append(piece: Buffer): void {
    const fitted = this.length <= this.maxBytes;
    this.length += piece.length;
    if (this.length <= this.maxBytes) {
      this.bytes.append(piece);
    } else if (fitted) {
      const beginning = this.bytes.take();
      this.listener.tooLong(beginning.length > 0 ? beginning : piece);
    }
  }

  private endLine(): void {
    const isWhole = this.length <= this.maxBytes;
    this.length = 0;
    this.count++;
    if (isWhole) this.listener.line(this.bytes.take());
  }
}

const EMPTY = Buffer.alloc(0);

/**
 * Uses at most four times the memory of the bytes, however small the pieces are: a list of single
 * bytes would take a hundred times as much. A single piece is not copied.
 */
export class Bytes {
  length = 0;
  private held: Buffer = EMPTY;

  append(piece: Buffer): void {
    const { length } = this;
    this.length += piece.length;
    if (length === 0) {
      this.held = piece;
      return;
    }
    if (this.length > this.held.length) {
      const larger = Buffer.allocUnsafe(this.length * 2);
      this.held.copy(larger, 0, 0, length);
      this.held = larger;
    }
    piece.copy(this.held, length);
  }

  /** Returns all bytes, and releases them. */
  take(): Buffer {
    const all = this.held.subarray(0, this.length);
    this.held = EMPTY;
    this.length = 0;
    return all;
  }
}
