// A process from start to end: what was opened is closed in reverse order, on a signal or when the start fails.
import type { Log } from './log.ts';

export type Lifecycle = {
  /** Notes what was opened and how it is closed. The name is for the log. */
  opened(name: string, close: () => Promise<unknown>): void;
  /** True from the first signal on. */
  draining(): boolean;
};

/**
 * Runs `start`, then waits for SIGTERM or SIGINT: `draining` turns true, everything opened is closed in reverse order within 25 seconds, exit code 0.
 * A second signal ends the process at once; an error that nobody caught ends it with exit code 1.
 */
export async function runProcess(_log: Log, _start: (lifecycle: Lifecycle) => Promise<void>): Promise<void> {
  throw new Error('not written yet');
}
