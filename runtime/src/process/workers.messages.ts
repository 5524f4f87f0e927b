// What a primary and its workers say to each other, as JSON.
import type { MetricsData } from '../observe/metrics.ts';

/** From the primary to a worker. `id` comes back with the answer. */
export type PrimaryQuery = { ask: 'ready' | 'metrics'; id: number };

/** From a worker to the primary: where it listens, and answers. */
export type WorkerEvent =
  | { told: 'listening'; port: number }
  | { told: 'ready'; id: number }
  | { told: 'metrics'; id: number; data: MetricsData };

/** Whether a message is of these: the limits' counters use the same channel. Only this project writes to it, so that the key says it all. */
export function isPrimaryQuery(message: unknown): message is PrimaryQuery {
  return typeof message === 'object' && message !== null && 'ask' in message;
}

export function isWorkerEvent(message: unknown): message is WorkerEvent {
  return typeof message === 'object' && message !== null && 'told' in message;
}
