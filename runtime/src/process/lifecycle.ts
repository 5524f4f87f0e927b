// A process from start to end: what was opened is closed in reverse order, on a signal or when the start fails.
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';

export type Lifecycle = {
  /** Notes what was opened and how it is closed. The name is for the log. */
  opened(name: string, close: () => Promise<unknown>): void;
  /** True from the first signal on. */
  draining(): boolean;
  /** Set where this process is one of several that share a port; see workers.ts. */
  worker?: WorkerSeat;
};

/** What a worker owes its primary, which has the admin port and says where they listen. */
export type WorkerSeat = {
  /** Whether it is the one that starts before the others. */
  first: boolean;
  /** What the primary may ask for from now on. */
  serve(parts: { ready: () => Promise<void>; metrics: Pick<Metrics, 'data'> }): void;
  /** Tells the primary that it accepts requests. */
  listening(port: number): void;
};

const CLOSING_MS = 25_000;
// What a terminal or a supervisor sends to the whole group, npm passes on once more.
const REPEAT_MS = 300;

/**
 * Runs `start`, then waits for SIGTERM or SIGINT: `draining` turns true, everything opened is closed in reverse order within 25 seconds, exit code 0.
 * A second signal ends the process at once, unless it is the same one within 0.3 seconds. Where the start fails, what it opened is closed, the error's
 * message goes to stderr and the exit code is 1; an error that nobody caught is logged and ends the process with 1 as well.
 * `obey` is given what begins the closing; the two signals do unless told.
 */
export async function runProcess(
  log: Log,
  start: (lifecycle: Lifecycle) => Promise<void>,
  obey: (stop: (reason: string) => void) => void = obeySignals,
): Promise<void> {
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
  const stop = async (reason: string) => {
    if (draining) end(1);
    draining = true;
    log.info({ reason }, 'stopping');
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

  process.on('uncaughtException', crash).on('unhandledRejection', crash);
  obey(stop);
  try {
    await start({
      opened: (name, close) => void opened.push({ name, close }),
      draining: () => draining,
    });
  } catch (error) {
    // A signal during the start has begun the closing already, and made the start fail perhaps.
    if (draining) return;
    draining = true;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    await closeAll();
    end(1);
  }
}

function obeySignals(stop: (signal: string) => void): void {
  let last = { signal: '', at: 0 };
  const obey = (signal: string) => {
    const repeated = signal === last.signal && performance.now() - last.at < REPEAT_MS;
    last = { signal, at: performance.now() };
    if (!repeated) stop(signal);
  };
  process.on('SIGTERM', obey).on('SIGINT', obey);
}
