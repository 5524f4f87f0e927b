// Collects bytes that arrive in pieces.

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
