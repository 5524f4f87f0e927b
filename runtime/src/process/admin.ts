// The admin server: health and metrics on a port of their own.
import { HEADERS } from '../http/headers.ts';
import { errorReply, type HttpReply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { serveHttp } from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { withTimeout } from '../timeout.ts';

export type Admin = { port: number; close(): Promise<void> };

const READY_MS = 2_000;
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Serves `/livez`, which answers 200 while the process runs; `/readyz`, which answers 200 if
 * `ready` resolves within 2 seconds and nothing drains, and 503 otherwise; and `/metrics` in
 * Prometheus' text format. Open it first and close it last, so that it answers during a drain.
 * Rejects if the port is taken.
 */
export async function serveAdmin(options: {
  port: number;
  host: string;
  ready: () => Promise<void>;
  draining: () => boolean;
  metrics: Pick<Metrics, 'text'>;
  log: Log;
}): Promise<Admin> {
  const { port, host, ready, draining, metrics, log } = options;

  async function handle({ path, method, requestId }: HttpRequest): Promise<HttpReply> {
    if (!['/livez', '/readyz', '/metrics'].includes(path))
      return errorReply('NOT_FOUND', requestId);
    if (method !== 'GET' && method !== 'HEAD')
      return errorReply('METHOD_NOT_ALLOWED', requestId, { [HEADERS.allow.name]: 'GET, HEAD' });
    if (path === '/metrics') {
      const headers = { [HEADERS.contentType.name]: METRICS_TYPE };
      return { status: 200, headers, body: await metrics.text() };
    }
    const ok = path === '/livez' || (!draining() && (await resolvesInTime(ready)));
    return { status: ok ? 200 : 503, headers: {}, body: JSON.stringify({ ok }) };
  }

  const server = await serveHttp({ port, host, handle, trustedProxies: [], log });
  return { port: server.port, close: server.close };
}

async function resolvesInTime(ready: () => Promise<void>): Promise<boolean> {
  try {
    await withTimeout(ready(), READY_MS, () => new Error('not ready in time'));
    return true;
  } catch {
    return false;
  }
}
