// Serves the gateway on its ports: clients on PORT, health and metrics on ADMIN_PORT.
import {
  type Caches,
  createMetrics,
  type Lifecycle,
  type Log,
  type Metrics,
  openPorts,
  type Settings,
  serveHttp,
} from '@partner-loyalty/runtime';
import { openGateway, type Transports } from './gateway.ts';
import type { KeyStore } from './identity/keystore.ts';
import { openCounters } from './limits/counters.open.ts';

export type Serving = { port: number; adminPort: number };

/**
 * Opens the counters and the gateway over an open store and open transports, then listens. The
 * lifecycle closes what this function opens, the clients' port first. Rejects if a port is taken.
 */
export async function serveGateway(options: {
  settings: Settings;
  keyStore: KeyStore;
  transports: Transports;
  lifecycle: Lifecycle;
  metrics?: Metrics;
  caches: Caches;
  log: Log;
}): Promise<Serving> {
  const { settings, keyStore, transports, lifecycle, caches, log } = options;
  const metrics = options.metrics ?? createMetrics();
  const counters = await openCounters(settings, lifecycle.worker !== undefined, log);
  lifecycle.opened('counters', async () => counters.close());
  const gateway = openGateway({ settings, keyStore, counters, transports, caches, log, metrics });
  const { host, port, trustedProxies, maxConnections, maxConnectionsPerAddress } = settings;
  const limits = { maxConnections, maxConnectionsPerAddress };
  const { handle } = gateway;
  const listen = () => serveHttp({ port, host, handle, trustedProxies, limits, log });
  return openPorts({ settings, lifecycle, ready: gateway.ready, metrics, log, listen });
}
