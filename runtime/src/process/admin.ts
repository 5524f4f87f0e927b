// The admin server: health and metrics, on a port of their own.
import { HEADERS } from '../http/headers.ts';
import { errorReply, type HttpReply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { serveHttp } from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';

export type Admin = { port: number; close(): Promise<void> };

const READY_MS = 2_000;

/**
 * `/livez` answers 200 while the process does. `/readyz` answers 200 when `ready` resolves within 2 seconds and nothing is draining, 503 otherwise.
 * `/metrics` answers in Prometheus' text format. Open it first and close it last, so that it answers during the draining. Rejects where the port is taken.
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

  async function handle(request: HttpRequest): Promise<HttpReply> {
    if (!['/livez', '/readyz', '/metrics'].includes(request.path))
      return errorReply('NOT_FOUND', request.requestId);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return errorReply('METHOD_NOT_ALLOWED', request.requestId, {
        [HEADERS.allow.name]: 'GET, HEAD',
      });
    if (request.path === '/metrics')
      return {
        status: 200,
        headers: { [HEADERS.contentType.name]: 'text/plain; version=0.0.4; charset=utf-8' },
        body: await metrics.text(),
      };
    const status =
      request.path === '/livez' || (!draining() && (await resolves(ready))) ? 200 : 503;
    return { status, headers: {}, body: JSON.stringify({ ok: status === 200 }) };
  }

  const server = await serveHttp({ port, host, handle, trustedProxies: [], log });
  return { port: server.port, close: server.close };
}

/** Whether it resolves in time; one that comes too late is let go. */
async function resolves(ready: () => Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, READY_MS, false);
  });
  try {
    return await Promise.race([ready().then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
