// The messages between a primary and its workers.
import type { MetricsData } from '../observe/aggregate.ts';
import type { Readiness } from './readiness.ts';

/** From the primary to a worker. The response has the same `id`. */
export type PrimaryQuery = { query: 'ready' | 'metrics'; id: number };

/** From a worker to the primary. A worker that is stopping does not respond to `ready`. */
export type WorkerEvent =
  | { event: 'listening'; port: number }
  | { event: 'stopping' }
  | { event: 'ready'; id: number; readiness: Readiness }
  | { event: 'metrics'; id: number; data: MetricsData };

export type WorkerResponse = Extract<WorkerEvent, { id: number }>;

/**
 * Whether a message is a PrimaryQuery. Relays use the same channel. The key is enough to tell,
 * since only this project writes to the channel.
 */
export function isPrimaryQuery(message: unknown): message is PrimaryQuery {
  return typeof message === 'object' && message !== null && 'query' in message;
}

/** Whether a message is a WorkerEvent. */
export function isWorkerEvent(message: unknown): message is WorkerEvent {
  return typeof message === 'object' && message !== null && 'event' in message;
}
