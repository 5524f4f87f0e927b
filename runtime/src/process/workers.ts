// Runs a service in one process or, with WORKERS above 1, in several that share its port.
import type { Worker } from 'node:cluster';
import type { Log } from '../observe/log.ts';
import type { Settings } from '../settings/table.ts';
import { type Lifecycle, runProcess, type WorkerLink } from './lifecycle.ts';
import { isPrimaryQuery, type PrimaryQuery, type WorkerEvent } from './messages.ts';

/**
 * Runs `start` as runProcess does: in this process or, if the settings ask for several workers, in
 * each of them. The others start once the first worker has started. This process is then their
 * primary: it owns the admin port, replaces workers that end, and stops after them. `shared` runs
 * in the primary before the first worker, and sets up what the workers share through it.
 */
export async function runWorkers(options: {
  settings: Pick<Settings, 'workers' | 'host' | 'adminPort' | 'environment' | 'drainSeconds'>;
  log: Log;
  start: (lifecycle: Lifecycle) => Promise<void>;
  shared?: (() => void | Promise<void>) | undefined;
}): Promise<void> {
  const { settings, log, start } = options;
  if (settings.workers === 1)
    return runProcess(log, start, undefined, settings.drainSeconds * 1_000);
  // Imported here because a single process needs neither node:cluster nor the primary.
  const { default: cluster } = await import('node:cluster');
  if (cluster.worker) return runWorker(cluster.worker, log, start);
  const { runPrimary } = await import('./primary.ts');
  return runPrimary(options);
}

/** A worker drains and ends on SIGTERM, which its primary sends, or when its primary is gone. */
async function runWorker(
  worker: Worker,
  log: Log,
  start: (lifecycle: Lifecycle) => Promise<void>,
): Promise<void> {
  let served: Parameters<WorkerLink['serve']>[0] | undefined;
  let stopping = false;
  const send = (event: WorkerEvent) => void worker.send(event);
  const link: WorkerLink = {
    first: worker.id === 1,
    serve: (parts) => {
      served = parts;
    },
    listening: (port) => send({ event: 'listening', port }),
  };

  async function respond({ query, id }: PrimaryQuery): Promise<void> {
    if (served === undefined) return;
    if (query === 'metrics') {
      send({ event: 'metrics', id, data: await served.metrics.data() });
    } else if (!stopping) {
      send({ event: 'ready', id, readiness: await served.ready() });
    }
  }

  function onStop(stop: (reason: string) => void): void {
    const stopOnce = (reason: string) => {
      if (stopping) return;
      stopping = true;
      if (process.connected) send({ event: 'stopping' });
      stop(reason);
    };
    process.on('SIGTERM', stopOnce);
    // A terminal sends SIGINT to the whole process group; only the primary acts on it.
    process.on('SIGINT', () => {});
    worker.on('disconnect', () => stopOnce('the primary is gone'));
  }

  // Otherwise Node would end the worker, with all its requests, as soon as the primary is gone.
  worker.exitedAfterDisconnect = true;
  worker.on('error', () => {}); // A message to a primary that is gone.
  worker.on('message', (message: unknown) => {
    // No response is a response too: the primary considers the worker not ready.
    if (isPrimaryQuery(message)) respond(message).catch(() => {});
  });
  await runProcess(log, (lifecycle) => start({ ...lifecycle, worker: link }), onStop);
}
