// Memory of one kind: whoever has more than its share waits for its own requests.
import { Account } from './account.ts';

/** Not counted: so much for each request in progress of an owner is 16 MiB. */
const SMALL_BYTES = 32 * 1024;

/** A request that takes memory. */
type Holder = {
  owner: string;
  /** The memory that it waited for is its own now. */
  granted(): void;
};

export class Memory {
  private readonly taken = new Account();
  private readonly held = new Map<Holder, number>();
  /** What requests wait for, by owner, in the order of their arrival. */
  private readonly waiting = new Map<string, Map<Holder, number>>();

  /** Takes so many bytes; false if the request has to wait for them. */
  reserve(holder: Holder, bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true;
    const { owner } = holder;
    const waiting = this.waiting.get(owner);
    if (waiting === undefined && this.taken.isBelowShare(owner)) {
      this.count(holder, bytes);
      return true;
    }
    if (waiting === undefined) this.waiting.set(owner, new Map([[holder, bytes]]));
    else waiting.set(holder, bytes);
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
