// Several processes that share a port (WORKERS): each runs the same main file, and a primary keeps them running.
import type { Worker } from 'node:cluster';
import type { Log } from '../observe/log.ts';
import type { Settings } from '../settings/table.ts';
import { type Lifecycle, runProcess, type WorkerSeat } from './lifecycle.ts';
import { isPrimaryQuery, type PrimaryQuery, type WorkerEvent } from './workers.messages.ts';

/**
 * Runs `start` as runProcess does: in this process, or, where the settings ask for several, in each of as many workers. The first of them has started
 * before the others begin. This process is their primary then: it has the admin port, replaces a worker that ends, and ends when it is told to,
 * after its workers. `shared` runs in the primary, before the first worker: what all workers share through it.
 */
export async function runWorkers(options: {
  settings: Pick<Settings, 'workers' | 'host' | 'adminPort' | 'environment'>;
  log: Log;
  start: (lifecycle: Lifecycle) => Promise<void>;
  shared?: () => void;
}): Promise<void> {
  const { settings, log, start } = options;
  if (settings.workers === 1) return runProcess(log, start);
  // Loaded only here: node:cluster and the primary are nothing to a process that is alone.
  const { default: cluster } = await import('node:cluster');
  if (cluster.worker) return runWorker(cluster.worker, log, start);
  const { runPrimary } = await import('./workers.primary.ts');
  return runPrimary(options);
}

/** A worker drains and ends on SIGTERM, which its primary sends, or when its primary is gone. */
async function runWorker(
  worker: Worker,
  log: Log,
  start: (lifecycle: Lifecycle) => Promise<void>,
): Promise<void> {
  let served: Parameters<WorkerSeat['serve']>[0] | undefined;
  let stopping = false;
  const tell = (told: WorkerEvent) => void worker.send(told);
  const seat: WorkerSeat = {
    first: worker.id === 1,
    serve: (parts) => {
      served = parts;
    },
    listening: (port) => tell({ told: 'listening', port }),
  };

  async function answer({ ask, id }: PrimaryQuery): Promise<void> {
    if (served === undefined) return;
    if (ask === 'metrics') return tell({ told: 'metrics', id, data: await served.metrics.data() });
    if (stopping) return;
    await served.ready();
    tell({ told: 'ready', id });
  }

  function obey(stop: (reason: string) => void): void {
    const stopOnce = (reason: string) => {
      if (!stopping) stop(reason);
      stopping = true;
    };
    process.on('SIGTERM', stopOnce);
    // From a terminal it reaches the whole group, and is the primary's to obey.
    process.on('SIGINT', () => {});
    worker.on('disconnect', () => stopOnce('the primary is gone'));
    // Without this Node would end the worker at that moment, with all the requests that it holds.
    worker.exitedAfterDisconnect = true;
    worker.on('error', () => {}); // A message that finds the primary gone.
    worker.on('message', (message: unknown) => {
      // No answer is one too: the primary takes the worker as not ready.
      if (isPrimaryQuery(message)) answer(message).catch(() => {});
    });
  }

  await runProcess(log, (lifecycle) => start({ ...lifecycle, worker: seat }), obey);
}
