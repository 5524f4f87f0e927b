// The admin server: health and metrics on a port of their own.

import type { HttpRequest } from '../http/request.ts';
import { errorResponse, type HttpResponse } from '../http/response.ts';
import { type HttpServer, serveHttp } from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { withTimeout } from '../timeout.ts';
import { READY_MS, type Readiness } from './readiness.ts';

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const NOT_READY: Readiness = { ok: false, dependencies: {} };

/** When to try again while a process starts. */
export const RETRY_SECONDS = '1';

/**
 * Serves `/livez`, which answers 200 while the process runs; `/readyz`, which answers 200 with what
 * `ready` checks, or 503 if that is not ok, takes over 2 seconds or the process drains; and
 * `/metrics` in Prometheus' text format. While `ready` returns undefined, the process starts, and
 * all but `/livez` is 503. Open it first and close it last, so that it answers during a drain.
 * Rejects if the port is taken.
 */
export async function serveAdmin(options: {
  port: number;
  host: string;
  ready: () => (() => Promise<Readiness>) | undefined;
  draining: () => boolean;
  metrics: Pick<Metrics, 'text'>;
  log: Log;
}): Promise<HttpServer> {
  const { port, host, ready, draining, metrics, log } = options;

  async function handle(request: HttpRequest): Promise<HttpResponse> {
    const { path, method, requestId } = request;
    await request.admit(undefined);
    const check = ready();
    if (check === undefined && path !== '/livez') {
      const headers = { 'retry-after': RETRY_SECONDS };
      return { status: 503, headers, body: JSON.stringify(NOT_READY) };
    }
    if (!['/livez', '/readyz', '/metrics'].includes(path))
      return errorResponse('NOT_FOUND', requestId);
    if (method !== 'GET' && method !== 'HEAD')
      return errorResponse('METHOD_NOT_ALLOWED', requestId, { allow: 'GET, HEAD' });
    if (path === '/metrics') {
      const headers = { 'content-type': METRICS_TYPE };
      return { status: 200, headers, body: await metrics.text() };
    }
    if (path === '/livez') return { status: 200, headers: {}, body: JSON.stringify({ ok: true }) };
    const readiness = draining() || check === undefined ? NOT_READY : await inTime(check);
    return { status: readiness.ok ? 200 : 503, headers: {}, body: JSON.stringify(readiness) };
  }

  return serveHttp({ port, host, handle, trustedProxies: [], log });
}

async function inTime(ready: () => Promise<Readiness>): Promise<Readiness> {
  try {
    return await withTimeout(ready(), READY_MS, 'not ready in time');
  } catch {
    return NOT_READY;
  }
}
