// The service in the test's process, served over HTTP, on stores that the test may write to.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyStore, serveGateway } from '@partner-loyalty/gateway';
import { openMembersStore, startMembers } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog, type Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { bindPorts } from '@partner-loyalty/runtime/process/ports.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import { createStandings, openStandingsStore } from '@partner-loyalty/standings';
import { openWebhooks } from '@partner-loyalty/webhooks/extension.ts';
import { gatewayExtensions, membersExtensions } from '../../../bin/extensions/list.ts';
import type { Engine } from '../engines.ts';
import { temporaryFolder } from '../folder.ts';
import { freshMongodbUrl } from '../servers/databases.ts';
import { type Provider, startProvider } from '../servers/provider.ts';
import { type Client, createClient } from './client.ts';
import { fillStores, type PartnerId, type Stores } from './testdata.ts';

export type InProcessService = {
  /** The origin of the service. */
  url: string;
  adminUrl: string;
  /** The folder of the embedded stores. */
  dataDir: string;
  stores: Stores;
  /** A key for each partner in the test data. */
  keys: Record<PartnerId, string>;
  provider: Provider;
  /** The subgraphs' calls to their stores, oldest first, such as `members.memberByEmail`. */
  calls: string[];
  /** The emails in the outbox folder, oldest first. */
  mail(): string[];
  /** Sends a request, with alpha's key if it has no credential. */
  send: Client;
  close(): Promise<void>;
};

/** Starts it with test data. `env` adds to its settings; `now` is the clock of the standings. */
export async function startInProcess({
  engine = 'lmdb',
  env = {},
  now = () => new Date(),
  log = createLog('silent'),
}: {
  engine?: Engine;
  env?: Record<string, string>;
  now?: () => Date;
  log?: Log;
} = {}): Promise<InProcessService> {
  const folder = temporaryFolder();
  const provider = await startProvider();
  const opened: (() => unknown)[] = [folder.remove, provider.close];
  const defaults: Record<string, string> = {
    PORT: '0',
    ADMIN_PORT: '0',
    DATA_DIR: folder.path,
    ...provider.env,
  };
  if (engine === 'mongodb') {
    const database = freshMongodbUrl();
    defaults.MONGODB_URL = database.url;
    opened.push(database.drop);
  }
  const settings = readSettings({ ...defaults, ...env }, 'all');
  const lifecycle = {
    opened: (_: string, close: () => Promise<unknown>) => void opened.push(close),
    draining: () => false,
  };
  const stores: Stores = {
    keys: await openKeyStore(settings),
    members: await openMembersStore(settings),
    standings: await openStandingsStore(settings),
  };
  // The first request has 2 seconds, and Jest takes longer to transform the library.
  if (settings.idTokenIssuer === undefined)
    await import('../../../extensions/provider/src/members/handle.ts');
  const calls: string[] = [];
  const members = await startMembers(recorded('members', stores.members, calls), settings, {
    extensions: await membersExtensions(),
    log,
    metrics: createMetrics(),
  });
  const caches = createCaches();
  const toMembers = createInProcessTransport(members, log, caches);
  const webhooks = openWebhooks({
    ...{ store: stores.standings, settings, log, metrics: createMetrics() },
  });
  opened.push(webhooks.close);
  const standings = createStandings(recorded('standings', stores.standings, calls), {
    webhooks,
    now,
    isSandbox: settings.environment === 'sandbox',
    members: toMembers,
  });
  const inProcess = {
    members: toMembers,
    standings: createInProcessTransport(standings, log, caches),
  };
  opened.push(stores.keys.close, inProcess.members.close, inProcess.standings.close);
  const keys = await fillStores(stores, now());
  const metrics = createMetrics();
  const ports = await bindPorts(settings, { isPublic: true, lifecycle, metrics, log });
  await serveGateway({
    settings,
    ports,
    metrics,
    keyStore: stores.keys,
    inProcess,
    extensions: await gatewayExtensions(),
    lifecycle,
    caches,
    log,
  });
  const url = `http://127.0.0.1:${ports.port}`;
  return {
    url,
    adminUrl: `http://127.0.0.1:${ports.adminPort}`,
    dataDir: folder.path,
    stores,
    keys,
    provider,
    calls,
    mail: () => mailIn(folder.path),
    send: createClient(url, keys.alpha),
    async close() {
      for (const close of opened.reverse()) await close();
    },
  };
}

/** The emails that a service has written to its data folder, oldest first. */
export function mailIn(dataDir: string): string[] {
  const outbox = join(dataDir, 'outbox');
  if (!existsSync(outbox)) return [];
  const files = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
  // Joins the lines that the encoding has split (RFC 2045, section 6.7).
  return files
    .sort()
    .map((name) => readFileSync(join(outbox, name), 'utf8').replaceAll('=\r\n', ''));
}

/** The same store, recording its calls. */
function recorded<T extends object>(name: string, store: T, calls: string[]): T {
  return new Proxy(store, {
    get(target, method, receiver) {
      const found = Reflect.get(target, method, receiver);
      if (typeof found !== 'function') return found;
      return (...args: unknown[]) => {
        calls.push(`${name}.${String(method)}`);
        return found.apply(target, args);
      };
    },
  });
}
