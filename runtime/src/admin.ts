// The admin server: health and metrics, on a port of their own.
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export type Admin = { port: number; close(): Promise<void> };

/**
 * `/livez` answers 200 while the process does. `/readyz` answers 200 when `ready` resolves within 2 seconds and nothing is draining, 503 otherwise.
 * `/metrics` answers in Prometheus' text format. Open it first and close it last, so that it answers during the draining.
 */
export async function serveAdmin(_options: {
  port: number;
  host: string;
  ready: () => Promise<void>;
  draining: () => boolean;
  metrics: Pick<Metrics, 'text'>;
  log: Log;
}): Promise<Admin> {
  throw new Error('not written yet');
}
