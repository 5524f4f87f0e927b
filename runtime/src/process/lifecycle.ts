// Runs a process from start to stop, and closes what it opened in reverse order.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../observe/log.ts';
import type { Settings } from '../settings/table.ts';
import { reportFailedStart } from './failedstart.ts';

export type Lifecycle = {
  /** Registers how to close something that was opened. The name is for the log. */
  opened(name: string, close: () => Promise<unknown>): void;
  /** True from the first signal on. */
  draining(): boolean;
};

const CLOSING_MS = 25_000;
// npm passes on a signal that a terminal or a supervisor has already sent to the whole group.
const REPEAT_MS = 300;

/**
 * Runs `start`, then waits for SIGTERM or SIGINT. At the signal `draining` turns true, everything
 * that was opened is closed in reverse order within 25 seconds, and the process exits with 0. A
 * second signal ends it at once, unless it is the same one within 0.3 seconds.
 *
 * If the start fails, reportFailedStart says why, what it opened is closed, and the exit code is 1.
 * An uncaught error is logged and ends the process with 1, too.
 *
 * Variables that were probably meant to be settings are logged first, one line each.
 *
 * For `drainSeconds` after the signal, everything stays open: time for a load balancer to notice.
 */
export async function runProcess(
  log: Log,
  start: (lifecycle: Lifecycle) => Promise<void>,
  {
    drainSeconds = 0,
    misspelled = [],
  }: Partial<Pick<Settings, 'drainSeconds' | 'misspelled'>> = {},
): Promise<void> {
  for (const { name, meant } of misspelled)
    log.warn({ reason: `${name} is not read: ${meant} is` }, 'a variable may be misspelled');
  const opened: Opened[] = [];
  // What libraries print, such as about the version of Node, is no line of the log.
  console.warn = (text) => log.debug({}, String(text));
  let draining = false;

  const exit = (code: number): never => {
    log.flush();
    process.exit(code);
  };
  const crash = (err: unknown) => {
    log.fatal({ err }, 'uncaught error');
    exit(1);
  };
  const close = async () => {
    const deadline = globalThis.setTimeout(() => {
      log.error({ reason: 'closing took too long' }, 'stopped');
      exit(1);
    }, CLOSING_MS);
    const clean = await closeAll(opened, log);
    clearTimeout(deadline);
    return clean;
  };

  // Otherwise a limit on the size of files would end the process instead of failing the write.
  process.on('SIGXFSZ', () => {});
  process.on('uncaughtException', crash).on('unhandledRejection', crash);
  onSignals(async (reason) => {
    if (draining) exit(1);
    draining = true;
    log.info({ reason }, 'stopping');
    if (drainSeconds > 0) await setTimeout(drainSeconds * 1_000);
    exit((await close()) ? 0 : 1);
  });
  try {
    await start({
      opened: (name, closeIt) => void opened.push({ name, close: closeIt }),
      draining: () => draining,
    });
  } catch (error) {
    // A signal during the start is already closing everything, which may have failed the start.
    if (draining) return;
    draining = true;
    reportFailedStart(error);
    await close();
    exit(1);
  }
}

type Opened = { name: string; close: () => Promise<unknown> };

/** Closes everything in reverse order. Returns false if something could not be closed. */
async function closeAll(opened: Opened[], log: Log): Promise<boolean> {
  let clean = true;
  for (let last = opened.pop(); last !== undefined; last = opened.pop()) {
    const { name, close } = last;
    await close().catch((err: unknown) => {
      clean = false;
      log.error({ err, reason: name }, 'closing failed');
    });
  }
  return clean;
}

function onSignals(stop: (signal: string) => void): void {
  let last = { signal: '', at: 0 };
  const receive = (signal: string) => {
    const repeated = signal === last.signal && performance.now() - last.at < REPEAT_MS;
    last = { signal, at: performance.now() };
    if (!repeated) stop(signal);
  };
  process.on('SIGTERM', receive).on('SIGINT', receive);
  // A terminal that closes is no reason to stop.
  process.on('SIGHUP', () => {});
}
