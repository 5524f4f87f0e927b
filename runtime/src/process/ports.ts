// The ports of a process: one for clients, one for health and metrics.
import type { Handle } from '../http/respond.ts';
import { errorResponse } from '../http/response.ts';
import { type HttpServer, serveHttp } from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Readings } from '../observe/series.ts';
import type { Settings } from '../settings/table.ts';
import { RETRY_SECONDS, serveAdmin } from './admin.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Readiness } from './readiness.ts';
import { watchSizes } from './sizes.open.ts';

export type Ports = Awaited<ReturnType<typeof bindPorts>>;

/**
 * Binds both ports, before the process opens or makes anything. Until `serve` is called, `/livez`
 * answers and every other response is a 503. The lifecycle closes them: the port for clients
 * before what is opened between the two calls, the admin port last. Rejects if a port is taken,
 * with an error that names its setting. `isPublic` says whether others than gateways call.
 */
export async function bindPorts(
  settings: Settings,
  parts: { isPublic: boolean; lifecycle: Lifecycle; metrics: Metrics; log: Log },
) {
  const { isPublic, lifecycle, metrics, log } = parts;
  const { host, environment, commit, maxConnections, maxConnectionsPerAddress } = settings;
  let handle: Handle = async (request) => {
    await request.admit(undefined);
    const headers = { 'retry-after': RETRY_SECONDS };
    return errorResponse('SERVICE_UNAVAILABLE', request.requestId, headers);
  };
  let ready: (() => Promise<Readiness>) | undefined;
  const limits = { maxConnections, maxConnectionsPerAddress };
  const server = await opened(`port ${settings.port} of ${host}`, 'PORT', () =>
    serveHttp({
      ...{ host, port: settings.port, log, handle: (request) => handle(request) },
      ...(isPublic && { limits, metrics }),
      trustedProxies: isPublic ? settings.trustedProxies : [],
    }),
  );
  lifecycle.opened('port', server.close);
  const { draining } = lifecycle;
  const { adminPort } = settings;
  const adminName = `port ${adminPort} of ${host}, for health and metrics,`;
  const admin = await opened(adminName, 'PORT or ADMIN_PORT', () =>
    serveAdmin({ host, port: adminPort, ready: () => ready, draining, metrics, log }),
  );
  lifecycle.opened('admin port', admin.close);
  const bound = { port: server.port, adminPort: admin.port };
  return {
    ...bound,
    /** Answers requests from now on, and logs the ports. */
    async serve(served: { handle: Handle; ready: () => Promise<Readiness> }): Promise<void> {
      metrics.dependencyUp(() => dependenciesUp(served.ready));
      await watchSizes(settings, metrics);
      ({ handle, ready } = served);
      lifecycle.opened('port', server.drain);
      const about = { environment, commit, ...placesOf(settings) };
      log.info({ host, ...bound, ...about }, 'listening');
      log.flush(); // Whoever waits for this line does not wait for the buffer.
    },
  };
}

/** Rejects with a line that says which port it is and, if it is in use, what to set. */
async function opened(
  which: string,
  setting: string,
  bind: () => Promise<HttpServer>,
): Promise<HttpServer> {
  try {
    return await bind();
  } catch (error) {
    // Cast: errors of the system have a code.
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? `is in use: set ${setting}` : `cannot be opened: ${code}`;
    // Without a cause, which would make it an outage of a store.
    throw new Error(`${which} ${why}`);
  }
}

/** Empty if that cannot be found out in time. */
async function dependenciesUp(ready: () => Promise<Readiness>): Promise<Readings> {
  const { dependencies } = await ready().catch(() => ({ dependencies: {} }));
  return Object.entries(dependencies).map(([dependency, state]) => [
    { dependency },
    state === 'up' ? 1 : 0,
  ]);
}

/** For log lines: the engine with its database or folder, and Redis or `none`. */
export function placesOf({
  mongodbUrl,
  dataDir,
  redisUrl,
}: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'redisUrl'>) {
  const redis = redisUrl === undefined ? 'none' : placeIn(redisUrl);
  if (mongodbUrl === undefined) return { engine: 'lmdb', folder: dataDir, redis };
  const place = placeIn(mongodbUrl);
  const database = /\/./.test(place) ? place : `${place.replace('/', '')}/loyalty`;
  return { engine: 'mongodb', database, redis };
}

/** The hosts and the path of a connection URL. */
function placeIn(url: string): string {
  // After the last @, however a password is written.
  const [place = ''] = url.replace(/^.*@|^[\w+]+:\/\//s, '').split('?');
  return place;
}
