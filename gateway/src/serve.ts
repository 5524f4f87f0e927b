// Puts the gateway on its ports: clients on PORT, health and metrics on ADMIN_PORT.
import {
  createMetrics,
  type Lifecycle,
  type Log,
  type Metrics,
  type Settings,
  serveAdmin,
  serveHttp,
  type Transport,
} from '@partner-loyalty/runtime';
import { openGateway } from './gateway.ts';
import type { KeyStore } from './keystore.ts';
import { openCounters } from './limit.open.ts';

export type Serving = { port: number; adminPort: number };

/**
 * Opens the counters and the gateway over stores and transports that are open already, and listens. What it opens is closed by the lifecycle,
 * the port for clients first. Throws where a port is taken.
 */
export async function serveGateway(options: {
  settings: Settings;
  keyStore: KeyStore;
  transports: { members: Transport; standings: Transport };
  lifecycle: Lifecycle;
  metrics?: Metrics;
  log: Log;
}): Promise<Serving> {
  const { settings, keyStore, transports, lifecycle, log } = options;
  const metrics = options.metrics ?? createMetrics();
  const counters = await openCounters(settings, false, log);
  lifecycle.opened('counters', async () => counters.close());
  const gateway = await openGateway({ settings, keyStore, counters, transports, log, metrics });
  lifecycle.opened('gateway', gateway.close);
  const { host, port, adminPort, trustedProxies } = settings;
  const admin = await serveAdmin({ host, port: adminPort, ready: gateway.ready, draining: lifecycle.draining, metrics, log });
  lifecycle.opened('admin port', admin.close);
  const server = await serveHttp({ host, port, handle: gateway.handle, trustedProxies, log });
  lifecycle.opened('port', server.drain);
  log.info({ host, port: server.port, adminPort: admin.port, environment: settings.environment }, 'listening');
  log.flush(); // Whoever waits for this line does not wait for the buffer.
  return { port: server.port, adminPort: admin.port };
}
