// The primary of several workers: starts them, replaces those that end, answers for them on the admin port, and ends after them.
import cluster, { type Worker } from 'node:cluster';
import { serveAdmin } from './admin.ts';
import { runProcess } from './lifecycle.ts';
import type { Log } from './log.ts';
import { type MetricsData, mergeMetrics, sumOfEnded } from './metrics.ts';
import type { Settings } from './settings.table.ts';
import { declineWhenDead } from './workers.handover.ts';
import { type Ask, isTold, type Told } from './workers.messages.ts';

/** Ending sooner than this after its start is ending early: from the second in a row on the next start waits, each time twice as long. */
const EARLY_MS = 10_000;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;
/** Failed starts in a row, with no other worker running, after which the primary gives up; the very first may not fail. */
const MAX_FAILED_STARTS = 5;
const ANSWER_MS = 2_000;

export type PrimaryOptions = {
  settings: Pick<Settings, 'workers' | 'host' | 'adminPort' | 'environment'>;
  log: Log;
  shared?: () => void;
};

/** Never resolves: the process ends with 0 after a signal, and with 1 where no worker can be started. */
export async function runPrimary({ settings, log, shared }: PrimaryOptions): Promise<void> {
  const { workers: count, host, adminPort, environment } = settings;
  await runProcess(log, async (lifecycle) => {
    shared?.();
    const workers = openWorkers(count, log);
    const { ready, metrics, failed } = workers;
    const admin = await serveAdmin({ host, port: adminPort, ready, draining: lifecycle.draining, metrics: { text: metrics }, log });
    lifecycle.opened('admin port', admin.close);
    lifecycle.opened('workers', workers.close);
    const port = await workers.start();
    log.info({ host, port, adminPort: admin.port, environment, count }, 'listening');
    log.flush(); // Whoever waits for this line does not wait for the buffer.
    await failed;
  });
}

/** A worker; `port` is set once it listens, `metrics` is what it told last. */
type Seat = { worker: Worker; startedAt: number; port?: number; metrics: MetricsData };

/** Once started, keeps `count` workers running until it is closed. */
function openWorkers(count: number, log: Log) {
  const seats = new Map<number, Seat>();
  const questions = new Map<number, (told?: Told) => void>();
  let lastQuestion = 0;
  let earlyEnds = 0;
  let failedStarts = 0;
  let port: number | undefined;
  let closing = false;
  let clean = true;
  let changed = () => {};
  // Counters that fell with each worker that ends would read as a burst of requests.
  let past: Promise<MetricsData> = Promise.resolve([]);
  let giveUp = (_reason: Error) => {};
  const failed = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  failed.catch(() => {}); // It may come while nobody waits for it.
  process.once('exit', () => {
    for (const { worker } of seats.values()) worker.process.kill('SIGKILL');
  });

  const listening = () => [...seats.values()].filter((seat) => seat.port !== undefined);

  function fork(): void {
    if (closing) return;
    const worker = cluster.fork();
    const seat: Seat = { worker, startedAt: performance.now(), metrics: [] };
    seats.set(worker.id, seat);
    declineWhenDead(worker, () => listening().some((other) => other !== seat));
    worker.on('error', () => {}); // A message to one that has just ended.
    worker.on('message', (message: unknown) => {
      if (isTold(message)) hear(seat, message);
    });
    if (worker.process.pid === undefined) setImmediate(ended, seat, null, null);
    else worker.once('exit', (code, signal) => ended(seat, code, signal));
  }

  function hear(seat: Seat, told: Told): void {
    if (told.told === 'listening') {
      seat.port = told.port;
      port = told.port;
      failedStarts = 0;
      changed();
    } else {
      questions.get(told.id)?.(told);
    }
  }

  function ended(seat: Seat, code: number | null, signal: string | null): void {
    const { worker, startedAt, metrics } = seat;
    const started = seat.port !== undefined;
    seats.delete(worker.id);
    past = past.then((known) => sumOfEnded([known, metrics]));
    if (closing && started && code !== 0) clean = false;
    if (!closing) {
      log.warn({ worker: worker.id, reason: signal ?? `exit code ${code}` }, 'a worker ended');
      failedStarts = started ? 0 : failedStarts + 1;
      earlyEnds = started && performance.now() - startedAt > EARLY_MS ? 0 : earlyEnds + 1;
      const hopeless = listening().length === 0 && failedStarts >= (port === undefined ? 1 : MAX_FAILED_STARTS);
      if (hopeless) giveUp(new Error('no worker can be started'));
      else setTimeout(fork, earlyEnds <= 1 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (earlyEnds - 2), MAX_WAIT_MS));
    }
    changed();
  }

  /** Resolves when `reached` says so, looked at whenever a worker listens or has ended; rejects when the primary gives up. */
  function until(reached: () => boolean): Promise<void> {
    const met = new Promise<void>((resolve) => {
      changed = () => reached() && resolve();
      changed();
    });
    return Promise.race([met, failed]);
  }

  /** What a worker answers; undefined where it does not in time. */
  function ask({ worker }: Seat, what: 'ready' | 'metrics'): Promise<Told | undefined> {
    lastQuestion++;
    const id = lastQuestion;
    return new Promise((resolve) => {
      const settle = (told?: Told) => {
        clearTimeout(timer);
        questions.delete(id);
        resolve(told);
      };
      const timer = setTimeout(settle, ANSWER_MS);
      questions.set(id, settle);
      const question: Ask = { ask: what, id };
      worker.send(question);
    });
  }

  return {
    /** Starts the first worker, then the others; resolves with the port once all listen. Rejects where the first cannot be started. */
    async start(): Promise<number> {
      fork();
      await until(() => listening().length > 0);
      for (let more = 1; more < count; more++) fork();
      await until(() => listening().length === count);
      return port ?? 0;
    },
    /** Rejects when no worker can be started any more. */
    failed,
    async ready(): Promise<void> {
      const up = listening();
      const answers = await Promise.all(up.map((seat) => ask(seat, 'ready')));
      if (up.length < count || answers.includes(undefined)) throw new Error('a worker is not ready');
    },
    async metrics(): Promise<string> {
      const up = listening();
      await Promise.all(
        up.map(async (seat) => {
          const told = await ask(seat, 'metrics');
          if (told?.told === 'metrics') seat.metrics = told.data;
        }),
      );
      return mergeMetrics([await past, ...up.map((seat) => seat.metrics)]);
    },
    /** Has the workers finish what they hold. Rejects where one could not. */
    async close(): Promise<void> {
      closing = true;
      // A signal, since it finds those too that have not begun to listen to messages.
      for (const { worker } of seats.values()) worker.process.kill('SIGTERM');
      await until(() => seats.size === 0);
      if (!clean) throw new Error('a worker did not end well');
    },
  };
}
