// The primary of several workers: owns the admin port and answers there for all of them.
import type { Worker } from 'node:cluster';
import { type MetricsData, mergeMetrics, sumOfEnded } from '../observe/aggregate.ts';
import type { Log } from '../observe/log.ts';
import type { Settings } from '../settings/table.ts';
import { withTimeout } from '../timeout.ts';
import { serveAdmin } from './admin.ts';
import { type Lifecycle, runProcess } from './lifecycle.ts';
import type { PrimaryQuery, WorkerResponse } from './messages.ts';
import { READY_MS, type Readiness } from './readiness.ts';
import { WorkerPool } from './workerpool.ts';

const RESPONSE_MS = READY_MS;

export type PrimaryOptions = {
  settings: Pick<Settings, 'workers' | 'host' | 'adminPort' | 'environment' | 'drainSeconds'>;
  log: Log;
  /** Runs before the first worker starts. */
  shared?: (() => void | Promise<void>) | undefined;
};

/**
 * Never resolves: the process ends with 0 after a signal, and with 1 if no worker can be started.
 */
export async function runPrimary({ settings, log, shared }: PrimaryOptions): Promise<void> {
  const { workers: count, host, adminPort, environment, drainSeconds } = settings;
  const start = async (lifecycle: Lifecycle) => {
    await shared?.();
    const primary = new Primary(count, log);
    const admin = await serveAdmin({
      host,
      port: adminPort,
      ready: () => primary.ready(),
      draining: lifecycle.draining,
      metrics: { text: () => primary.metrics() },
      log,
    });
    lifecycle.opened('admin port', admin.close);
    lifecycle.opened('workers', () => primary.pool.close());
    const port = await primary.pool.start();
    log.info({ host, port, adminPort: admin.port, environment, count }, 'listening');
    log.flush(); // Whoever waits for this line does not wait for the buffer.
    await primary.pool.failed;
  };
  await runProcess(log, start, undefined, drainSeconds * 1_000);
}

/** The workers, and their readiness and metrics taken together. */
class Primary {
  readonly pool: WorkerPool;
  private readonly count: number;
  private readonly pending = new Map<number, (response: WorkerResponse) => void>();
  private lastId = 0;
  private readonly metricsOf = new Map<Worker, MetricsData>();
  // If counters fell whenever a worker ends, that would read as a burst of requests.
  private metricsOfEnded: Promise<MetricsData> = Promise.resolve([]);

  constructor(count: number, log: Log) {
    this.count = count;
    this.pool = new WorkerPool({
      count,
      log,
      onResponse: (response) => this.pending.get(response.id)?.(response),
      onExit: (worker) => this.keepMetricsOf(worker),
    });
  }

  /** Ready as soon as one worker is, and with its dependencies. Rejects if none responds. */
  async ready(): Promise<Readiness> {
    const listening = this.pool.listening();
    const workers = listening.length === this.count ? 'up' : 'degraded';
    const responses = listening.map((worker) => this.query(worker, 'ready'));
    const { ok, dependencies } = await firstReady(responses);
    return { ok, dependencies: { ...dependencies, workers } };
  }

  /** The text of `/metrics`, with the last known metrics of workers that do not respond. */
  async metrics(): Promise<string> {
    await Promise.allSettled(
      this.pool.listening().map(async (worker) => {
        const response = await this.query(worker, 'metrics');
        if (response.event === 'metrics' && !worker.isDead())
          this.metricsOf.set(worker, response.data);
      }),
    );
    return mergeMetrics([await this.metricsOfEnded, ...this.metricsOf.values()]);
  }

  /** Rejects if the worker does not respond in time. */
  private query(worker: Worker, query: PrimaryQuery['query']): Promise<WorkerResponse> {
    const id = ++this.lastId;
    const response = new Promise<WorkerResponse>((resolve) => {
      this.pending.set(id, resolve);
      worker.send({ query, id } satisfies PrimaryQuery);
    });
    return withTimeout(response, RESPONSE_MS, () => new Error('a worker does not respond')).finally(
      () => this.pending.delete(id),
    );
  }

  private keepMetricsOf(worker: Worker): void {
    const last = this.metricsOf.get(worker) ?? [];
    this.metricsOf.delete(worker);
    this.metricsOfEnded = this.metricsOfEnded.then((known) => sumOfEnded([known, last]));
  }
}

/** The first response that is ok or, if there is none, any. Rejects if there is none at all. */
async function firstReady(responses: Promise<WorkerResponse>[]): Promise<Readiness> {
  const all = responses.map(async (response) => {
    const message = await response;
    if (message.event !== 'ready') throw new Error('a worker responds to something else');
    return message.readiness;
  });
  const ok = all.map(async (each) => {
    const readiness = await each;
    if (!readiness.ok) throw new Error('a worker is not ready');
    return readiness;
  });
  return Promise.any(ok).catch(() => Promise.any(all));
}
