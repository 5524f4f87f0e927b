// What sends a message to an endpoint.
import type { Endpoint } from '../store/webhooks.ts';

/** Never rejects. `reason` is a short constant. */
export type Send = (
  endpoint: Pick<Endpoint, 'url' | 'secrets'>,
  message: { id: string; type: string; timestamp: Date; data: object },
  options: { signal: AbortSignal; now: number },
) => Promise<{ ok: boolean; gone?: true; status?: number; reason?: string; durationMs: number }>;
