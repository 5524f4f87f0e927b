// Decides how long to wait before a worker is replaced, and when to give up.

/** A worker that ends sooner than this after its start ends early. */
const EARLY_MS = 10_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/**
 * Failed starts in a row after which more are hopeless; before the first success, one is enough.
 */
const MAX_FAILED_STARTS = 5;

export class Backoff {
  private everStarted = false;
  private failedStarts = 0;
  private earlyEnds = 0;

  /** Notes that a worker has started. */
  started(): void {
    this.everStarted = true;
    this.failedStarts = 0;
  }

  /** Notes that a worker has ended, `lifeMs` after its start. */
  ended(started: boolean, lifeMs: number): void {
    this.failedStarts = started ? 0 : this.failedStarts + 1;
    this.earlyEnds = started && lifeMs > EARLY_MS ? 0 : this.earlyEnds + 1;
  }

  /** Whether further starts are hopeless, given that no other worker runs. */
  hopeless(): boolean {
    return this.failedStarts >= (this.everStarted ? MAX_FAILED_STARTS : 1);
  }

  /** 0 after the first early end; from the second in a row it doubles each time. */
  delayMs(): number {
    if (this.earlyEnds <= 1) return 0;
    return Math.min(FIRST_DELAY_MS * 2 ** (this.earlyEnds - 2), MAX_DELAY_MS);
  }
}
