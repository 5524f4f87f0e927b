// The primary of several workers: the process that has the admin port, answers there for all of them, and ends after them.
import type { Worker } from 'node:cluster';
import type { Log } from '../observe/log.ts';
import { type MetricsData, mergeMetrics, sumOfEnded } from '../observe/metrics.ts';
import type { Settings } from '../settings/table.ts';
import { serveAdmin } from './admin.ts';
import { runProcess } from './lifecycle.ts';
import { keepWorkers, type Workers } from './workers.keep.ts';
import type { PrimaryQuery, WorkerEvent } from './workers.messages.ts';

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
    const { workers, ready, metrics } = openPrimary(count, log);
    const admin = await serveAdmin({
      host,
      port: adminPort,
      ready,
      draining: lifecycle.draining,
      metrics: { text: metrics },
      log,
    });
    lifecycle.opened('admin port', admin.close);
    lifecycle.opened('workers', workers.close);
    const port = await workers.start();
    log.info({ host, port, adminPort: admin.port, environment, count }, 'listening');
    log.flush(); // Whoever waits for this line does not wait for the buffer.
    await workers.failed;
  });
}

/** The workers, and what the admin port says of them together: ready where all are, and the sum of their metrics. */
function openPrimary(
  count: number,
  log: Log,
): { workers: Workers; ready: () => Promise<void>; metrics: () => Promise<string> } {
  const questions = new Map<number, (told?: WorkerEvent) => void>();
  let lastQuestion = 0;
  const metricsOf = new Map<Worker, MetricsData>();
  // Counters that fell with each worker that ends would read as a burst of requests.
  let metricsOfEnded: Promise<MetricsData> = Promise.resolve([]);

  /** What a worker answers; undefined where it does not in time. */
  function ask(worker: Worker, what: PrimaryQuery['ask']): Promise<WorkerEvent | undefined> {
    lastQuestion++;
    const question: PrimaryQuery = { ask: what, id: lastQuestion };
    return new Promise((resolve) => {
      const settle = (told?: WorkerEvent) => {
        clearTimeout(timer);
        questions.delete(question.id);
        resolve(told);
      };
      const timer = setTimeout(settle, ANSWER_MS);
      questions.set(question.id, settle);
      worker.send(question);
    });
  }

  const workers = keepWorkers(count, {
    log,
    hear: (told) => questions.get(told.id)?.(told),
    gone: (worker) => {
      const last = metricsOf.get(worker) ?? [];
      metricsOf.delete(worker);
      metricsOfEnded = metricsOfEnded.then((known) => sumOfEnded([known, last]));
    },
  });

  async function ready(): Promise<void> {
    const listening = workers.listening();
    const answers = await Promise.all(listening.map((worker) => ask(worker, 'ready')));
    if (listening.length < count || answers.includes(undefined))
      throw new Error('a worker is not ready');
  }

  async function metrics(): Promise<string> {
    await Promise.all(
      workers.listening().map(async (worker) => {
        const told = await ask(worker, 'metrics');
        if (told?.told === 'metrics' && !worker.isDead()) metricsOf.set(worker, told.data);
      }),
    );
    return mergeMetrics([await metricsOfEnded, ...metricsOf.values()]);
  }

  return { workers, ready, metrics };
}
