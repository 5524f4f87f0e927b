// Counts the bytes that something takes of a process, by holder, each of which has a share.

const MAX_BYTES = 64 * 1024 * 1024;
/** The maximum of one holder, even if there is no other. */
const MAX_BYTES_OF_ONE = MAX_BYTES / 4;

export class Account {
  private readonly held = new Map<string, number>();
  private total = 0;

  add(holder: string, bytes: number): void {
    const held = (this.held.get(holder) ?? 0) + bytes;
    this.total += bytes;
    if (held === 0) this.held.delete(holder);
    else this.held.set(holder, held);
  }

  /** Whether the holder has less than its share: what there is, divided by those who have any. */
  isBelowShare(holder: string): boolean {
    const held = this.held.get(holder);
    if (held === undefined) return true;
    return held < Math.min(MAX_BYTES_OF_ONE, MAX_BYTES / this.held.size);
  }

  /** Whether the holder has half of what anyone may have. */
  isHalfFull(holder: string): boolean {
    return (this.held.get(holder) ?? 0) >= MAX_BYTES_OF_ONE / 2;
  }

  /** Whether the holder has more than anyone may have. */
  isOver(holder: string): boolean {
    return (this.held.get(holder) ?? 0) > MAX_BYTES_OF_ONE;
  }

  isFull(): boolean {
    return this.total > MAX_BYTES;
  }

  /** The holder of the most bytes; undefined if nobody has any. */
  largest(): string | undefined {
    let largest: string | undefined;
    let most = 0;
    for (const [holder, bytes] of this.held) if (bytes > most) [largest, most] = [holder, bytes];
    return largest;
  }
}
