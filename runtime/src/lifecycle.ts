// A process from start to end: what was opened is closed in reverse order, on a signal or when the start fails.
import type { Log } from './log.ts';

export type Lifecycle = {
  /** Notes what was opened and how it is closed. The name is for the log. */
  opened(name: string, close: () => Promise<unknown>): void;
  /** True from the first signal on. */
  draining(): boolean;
};

const CLOSING_MS = 25_000;

/**
 * Runs `start`, then waits for SIGTERM or SIGINT: `draining` turns true, everything opened is closed in reverse order within 25 seconds, exit code 0.
 * A second signal ends the process at once. Where the start fails, what it opened is closed, the error's message goes to stderr and the exit code is 1;
 * an error that nobody caught is logged and ends the process with 1 as well.
 */
export async function runProcess(log: Log, start: (lifecycle: Lifecycle) => Promise<void>): Promise<void> {
  const opened: { name: string; close: () => Promise<unknown> }[] = [];
  let draining = false;

  const end = (code: number): never => {
    log.flush();
    process.exit(code);
  };
  const crash = (err: unknown) => {
    log.fatal({ err }, 'nobody caught this');
    end(1);
  };
  const stop = async (signal: string) => {
    if (draining) end(1);
    draining = true;
    log.info({ signal }, 'stopping');
    end((await closeAll()) ? 0 : 1);
  };

  /** False where something could not be closed in time. */
  async function closeAll(): Promise<boolean> {
    let clean = true;
    const deadline = setTimeout(() => {
      log.error({ reason: 'closing took too long' }, 'stopped');
      end(1);
    }, CLOSING_MS);
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) {
      await last.close().catch((err: unknown) => {
        clean = false;
        log.error({ err, reason: last?.name }, 'closing failed');
      });
    }
    clearTimeout(deadline);
    return clean;
  }

  process.on('SIGTERM', stop).on('SIGINT', stop).on('uncaughtException', crash).on('unhandledRejection', crash);
  try {
    await start({ opened: (name, close) => void opened.push({ name, close }), draining: () => draining });
  } catch (error) {
    // A signal during the start has begun the closing already, and made the start fail perhaps.
    if (draining) return;
    draining = true;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    await closeAll();
    end(1);
  }
}
