// Counts the memory that callers take, of which each has a share.

/** Not counted: so much for each request in progress of an owner is 16 MiB. */
const SMALL_BYTES = 32 * 1024;

/** A request that takes memory. */
type Holder = {
  owner: string;
  /** The memory that it waited for is its own now. */
  granted(): void;
};

/** Memory of one kind: whoever has more than its share waits for its own requests. */
export class Memory {
  private readonly taken = new Account();
  private readonly held = new Map<Holder, number>();
  /** What requests wait for, by owner, in the order of their arrival. */
  private readonly waiting = new Map<string, Map<Holder, number>>();

  /** Takes so many bytes; false if the request has to wait for them. */
  reserve(holder: Holder, bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true;
    const { owner } = holder;
    if (!this.waiting.has(owner) && this.taken.isBelowShare(owner)) {
      this.count(holder, bytes);
      return true;
    }
    this.waiting.set(owner, (this.waiting.get(owner) ?? new Map()).set(holder, bytes));
    return false;
  }

  /** The request has this many bytes now. */
  takes(holder: Holder, bytes: number): void {
    this.count(holder, bytes);
    for (const [owner, waiting] of this.waiting) this.feed(owner, waiting);
  }

  /** Frees what the request has, and gives up what it waits for. */
  leave(holder: Holder): void {
    this.waiting.get(holder.owner)?.delete(holder);
    this.takes(holder, 0);
  }

  isStarved(owner: string): boolean {
    return this.waiting.has(owner);
  }

  /** The owner with most, if all have too much together. */
  overfull(): string | undefined {
    return this.taken.isFull() ? this.taken.largest() : undefined;
  }

  private feed(owner: string, waiting: Map<Holder, number>): void {
    for (const [holder, bytes] of waiting) {
      if (!this.taken.isBelowShare(owner)) return;
      waiting.delete(holder);
      this.count(holder, bytes);
      holder.granted();
    }
    this.waiting.delete(owner);
  }

  private count(holder: Holder, bytes: number): void {
    const counted = bytes <= SMALL_BYTES ? 0 : bytes;
    const before = this.held.get(holder) ?? 0;
    if (counted === before) return;
    this.taken.add(holder.owner, counted - before);
    if (counted === 0) this.held.delete(holder);
    else this.held.set(holder, counted);
  }
}

const MAX_BYTES = 64 * 1024 * 1024;
/** The maximum of one holder, even if there is no other. */
const MAX_BYTES_OF_ONE = MAX_BYTES / 4;

/** The bytes that something takes of a process, by holder. */
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
    const share = Math.min(MAX_BYTES_OF_ONE, MAX_BYTES / this.held.size);
    return (this.held.get(holder) ?? 0) < share;
  }

  /** How much the holder has of what anyone may have, which is 1. */
  partOf(holder: string): number {
    return (this.held.get(holder) ?? 0) / MAX_BYTES_OF_ONE;
  }

  isFull(): boolean {
    return this.total > MAX_BYTES;
  }

  /** The holder of the most bytes; undefined if nobody has any. */
  largest(): string | undefined {
    const [largest] = [...this.held].sort(([, one], [, other]) => other - one);
    return largest?.[0];
  }
}
