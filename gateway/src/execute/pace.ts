// Lets others have their turn while a run goes on, and bounds what other teams send for it.
import type { Reading } from '@partner-loyalty/runtime/transport/types.ts';
import type { Turn } from '../document/responsesize.ts';

/** How many fetches begin at once, whatever else there is to do. */
const MAX_AT_ONCE = 16;
/** Of all responses of other teams to a run, which become one of 1 MiB at most. */
const MAX_BYTES = 4 * 1024 * 1024;

export class Pace implements Reading {
  private fetches = 0;
  private bytes = 0;
  /** What waits goes on one after another: a request waits for one turn at a time. */
  private last: Promise<void> | undefined = undefined;
  private readonly ofOwner: Turn;

  /** `turn` is the owner's. */
  constructor(turn: Turn) {
    this.ofOwner = turn;
  }

  turn(): Promise<void> | undefined {
    const { last, ofOwner } = this;
    // If the client is gone, nothing is left to wait for.
    const own = (last === undefined ? ofOwner() : last.then(ofOwner))?.catch(() => {});
    this.last = own;
    void own?.then(() => {
      if (this.last === own) this.last = undefined;
    });
    return own;
  }

  /** Waits until the next fetch may begin; undefined if it may now. */
  fetch(): Promise<void> | undefined {
    this.fetches += 1;
    const isDue = this.last !== undefined || this.fetches % MAX_AT_ONCE === 0;
    return isDue ? this.turn() : undefined;
  }

  takes(bytes: number): boolean {
    this.bytes += bytes;
    return this.bytes <= MAX_BYTES;
  }
}
