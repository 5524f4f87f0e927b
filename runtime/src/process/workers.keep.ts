// Keeps a number of workers running: starts them, replaces those that end, and has them end.
import cluster, { type Worker } from 'node:cluster';
import type { Log } from '../observe/log.ts';
import { declineWhenDead } from './workers.handover.ts';
import { isWorkerEvent, type WorkerEvent } from './workers.messages.ts';

/** Ending sooner than this after its start is ending early: from the second in a row on the next start waits, each time twice as long. */
const EARLY_MS = 10_000;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;
/** Failed starts in a row, with no other worker running, after which there is no hope; the very first may not fail. */
const MAX_FAILED_STARTS = 5;

export type Workers = {
  /** Starts the first worker, then the others; resolves with the port once all listen. Rejects as `failed` does. */
  start(): Promise<number>;
  /** Rejects when no worker can be started, or none any more; never resolves. */
  failed: Promise<never>;
  /** Those that listen at the moment. */
  listening(): Worker[];
  /** Has the workers finish what they hold. Rejects where one could not. */
  close(): Promise<void>;
};

type Seat = { worker: Worker; startedAt: number; listens: boolean };

/** `hear` is given what a worker tells but where it listens, `gone` each worker that has ended. What still runs when this process exits is killed. */
export function keepWorkers(
  count: number,
  {
    hear,
    gone,
    log,
  }: {
    hear: (told: Exclude<WorkerEvent, { told: 'listening' }>) => void;
    gone: (worker: Worker) => void;
    log: Log;
  },
): Workers {
  const seats = new Set<Seat>();
  let port: number | undefined;
  let earlyEnds = 0;
  let failedStarts = 0;
  let closing = false;
  let clean = true;
  let changed = () => {};
  let giveUp = (_reason: Error) => {};
  const failed = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  failed.catch(() => {}); // It may come while nobody waits for it.
  process.once('exit', () => {
    for (const { worker } of seats) worker.process.kill('SIGKILL');
  });

  const listening = () => [...seats].filter(({ listens }) => listens).map(({ worker }) => worker);

  function fork(): void {
    if (closing) return;
    const worker = cluster.fork();
    const seat: Seat = { worker, startedAt: performance.now(), listens: false };
    seats.add(seat);
    declineWhenDead(worker, () => listening().some((other) => other !== worker));
    worker.on('error', () => {}); // A message to one that has just ended.
    worker.on('message', (message: unknown) => {
      if (!isWorkerEvent(message)) return;
      if (message.told !== 'listening') return hear(message);
      seat.listens = true;
      port = message.port;
      failedStarts = 0;
      changed();
    });
    if (worker.process.pid === undefined) setImmediate(ended, seat, null, null);
    else worker.once('exit', (code, signal) => ended(seat, code, signal));
  }

  function ended(seat: Seat, code: number | null, signal: string | null): void {
    const { worker, startedAt, listens } = seat;
    seats.delete(seat);
    gone(worker);
    if (closing && listens && code !== 0) clean = false;
    if (!closing) {
      log.warn({ worker: worker.id, reason: signal ?? `exit code ${code}` }, 'a worker ended');
      failedStarts = listens ? 0 : failedStarts + 1;
      earlyEnds = listens && performance.now() - startedAt > EARLY_MS ? 0 : earlyEnds + 1;
      const hopeless =
        listening().length === 0 && failedStarts >= (port === undefined ? 1 : MAX_FAILED_STARTS);
      if (hopeless) giveUp(new Error('no worker can be started'));
      else
        setTimeout(
          fork,
          earlyEnds <= 1 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (earlyEnds - 2), MAX_WAIT_MS),
        );
    }
    changed();
  }

  /** Resolves when `reached` says so, looked at whenever a worker listens or has ended; rejects as `failed` does. */
  function until(reached: () => boolean): Promise<void> {
    const met = new Promise<void>((resolve) => {
      changed = () => reached() && resolve();
      changed();
    });
    return Promise.race([met, failed]);
  }

  return {
    async start() {
      fork();
      await until(() => listening().length > 0);
      for (let more = 1; more < count; more++) fork();
      await until(() => listening().length === count);
      return port ?? 0;
    },
    failed,
    listening,
    async close() {
      closing = true;
      // A signal, since it ends those too that do not hear messages yet.
      for (const { worker } of seats) worker.process.kill('SIGTERM');
      await until(() => seats.size === 0);
      if (!clean) throw new Error('a worker did not end well');
    },
  };
}
