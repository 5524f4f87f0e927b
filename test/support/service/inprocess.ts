// The service in the test's own process, behind real HTTP, on stores of its own that the test may write to.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyStore, serveGateway } from '@partner-loyalty/gateway';
import { openMembersStore, startMembers } from '@partner-loyalty/members';
import {
  createInProcessTransport,
  createLog,
  createMetrics,
  type Log,
  readSettings,
} from '@partner-loyalty/runtime';
import { createStandings, openStandingsStore } from '@partner-loyalty/standings';
import { temporaryFolder } from '../folder.ts';
import { freshMongodbUrl } from '../servers/databases.ts';
import { type Provider, startProvider } from '../servers/provider.ts';
import { type Client, createClient } from './client.ts';
import { fillWorld, type PartnerId, type Stores } from './testdata.ts';

export type Stage = {
  /** The origin of the service. */
  url: string;
  adminUrl: string;
  stores: Stores;
  /** A key of each partner of the world. */
  keys: Record<PartnerId, string>;
  provider: Provider;
  /** What the subgraphs have asked of their stores, the latest last: `members.memberByEmail`. */
  calls: string[];
  /** The mail that was sent, the latest last, as it stands in the outbox. */
  mail(): string[];
  /** Asks as alpha where a call names no other credential. */
  ask: Client;
  close(): Promise<void>;
};

/** The engines that the stores may be on. */
export const ENGINES = ['the embedded store', 'MongoDB'] as const;

/** Starts it, filled with the world. `env` are its settings beside those of its own; `now` is the time that standings go by. */
export async function startInProcess({
  engine = ENGINES[0],
  env = {},
  now = () => new Date(),
  log = createLog('silent'),
}: {
  engine?: (typeof ENGINES)[number];
  env?: Record<string, string>;
  now?: () => Date;
  log?: Log;
} = {}): Promise<Stage> {
  const folder = temporaryFolder();
  const provider = await startProvider();
  const opened: (() => unknown)[] = [folder.remove, provider.close];
  const own: Record<string, string> = {
    PORT: '0',
    ADMIN_PORT: '0',
    DATA_DIR: folder.path,
    ...provider.env,
  };
  if (engine === 'MongoDB') {
    const database = freshMongodbUrl();
    own.MONGODB_URL = database.url;
    opened.push(database.drop);
  }
  const settings = readSettings({ ...own, ...env }, 'all');
  const lifecycle = {
    opened: (_: string, close: () => Promise<unknown>) => void opened.push(close),
    draining: () => false,
  };
  const stores: Stores = {
    keys: await openKeyStore(settings),
    members: await openMembersStore(settings),
    standings: await openStandingsStore(settings),
  };
  const calls: string[] = [];
  const members = await startMembers(watched('members', stores.members, calls), settings, {
    log,
    metrics: createMetrics(),
  });
  const transports = {
    members: createInProcessTransport(members, log),
    standings: createInProcessTransport(
      createStandings(watched('standings', stores.standings, calls), now),
      log,
    ),
  };
  opened.push(stores.keys.close, transports.members.close, transports.standings.close);
  const keys = await fillWorld(stores, now());
  const { port, adminPort } = await serveGateway({
    settings,
    keyStore: stores.keys,
    transports,
    lifecycle,
    log,
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    stores,
    keys,
    provider,
    calls,
    mail: () => mailIn(join(folder.path, 'outbox')),
    ask: createClient(url, keys.alpha),
    async close() {
      for (const close of opened.reverse()) await close();
    },
  };
}

function mailIn(outbox: string): string[] {
  if (!existsSync(outbox)) return [];
  const files = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
  // Long lines are broken for the journey (RFC 2045, section 6.7).
  return files
    .sort()
    .map((name) => readFileSync(join(outbox, name), 'utf8').replaceAll('=\r\n', ''));
}

/** The same store, which writes down what it is asked. */
function watched<T extends object>(name: string, store: T, calls: string[]): T {
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
