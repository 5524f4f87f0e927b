// The ports of a process: one for clients, one for health and metrics.
import type { HttpServer } from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Readings } from '../observe/series.ts';
import { placesOf } from '../settings/place.ts';
import type { Settings } from '../settings/table.ts';
import { serveAdmin } from './admin.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Readiness } from './readiness.ts';
import { watchSizes } from './sizes.open.ts';

/**
 * Opens the admin port, then the port for clients with `listen`, and logs both. The lifecycle
 * closes them, the port for clients first. Rejects if a port is taken.
 */
export async function openPorts(options: {
  settings: Settings;
  lifecycle: Lifecycle;
  ready: () => Promise<Readiness>;
  metrics: Metrics;
  log: Log;
  listen: () => Promise<HttpServer>;
}): Promise<{ port: number; adminPort: number }> {
  const { settings, lifecycle, ready, metrics, log, listen } = options;
  const { host, environment, commit } = settings;
  metrics.dependencyUp(() => dependenciesUp(ready));
  await watchSizes(settings, metrics);
  const admin = await serveAdmin({
    host,
    port: settings.adminPort,
    ready,
    draining: lifecycle.draining,
    metrics,
    log,
  });
  lifecycle.opened('admin port', admin.close);
  const server = await listen();
  lifecycle.opened('port', server.drain);
  const ports = { host, port: server.port, adminPort: admin.port };
  log.info({ ...ports, environment, commit, ...placesOf(settings) }, 'listening');
  log.flush(); // Whoever waits for this line does not wait for the buffer.
  return { port: server.port, adminPort: admin.port };
}

/** Empty if that cannot be found out in time. */
async function dependenciesUp(ready: () => Promise<Readiness>): Promise<Readings> {
  const { dependencies } = await ready().catch(() => ({ dependencies: {} }));
  return Object.entries(dependencies).map(([dependency, state]) => [
    { dependency },
    state === 'up' ? 1 : 0,
  ]);
}
