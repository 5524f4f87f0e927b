// The service in the test's own process, behind real HTTP, on embedded stores of its own that the test may write to.
import { openKeyStore, serveGateway } from '@partner-loyalty/gateway';
import { createMembers, openMembersStore } from '@partner-loyalty/members';
import { createInProcessTransport, createLog, type Log, readSettings } from '@partner-loyalty/runtime';
import { createStandings, openStandingsStore } from '@partner-loyalty/standings';
import { temporaryFolder } from '../support/servers.ts';
import { type Client, createClient } from './client.ts';
import { type Provider, startProvider } from './provider.ts';
import { fillWorld, type PartnerId, type Stores } from './world.ts';

export type Stage = {
  /** The origin of the service. */
  url: string;
  adminUrl: string;
  stores: Stores;
  /** A key of each partner of the world. */
  keys: Record<PartnerId, string>;
  provider: Provider;
  /** Asks as alpha where a call names no other credential. */
  ask: Client;
  close(): Promise<void>;
};

/** Starts it, filled with the world. `env` are its settings beside those of its own; `now` is the time that standings go by. */
export async function startInProcess({
  env = {},
  now = () => new Date(),
  log = createLog('silent'),
}: {
  env?: Record<string, string>;
  now?: () => Date;
  log?: Log;
} = {}): Promise<Stage> {
  const folder = temporaryFolder();
  const provider = await startProvider();
  const settings = readSettings({ PORT: '0', ADMIN_PORT: '0', DATA_DIR: folder.path, ...provider.env, ...env }, 'all');
  const opened: (() => Promise<unknown>)[] = [async () => folder.remove(), async () => provider.close()];
  const lifecycle = { opened: (_: string, close: () => Promise<unknown>) => void opened.push(close), draining: () => false };
  const stores: Stores = {
    keys: await openKeyStore(settings),
    members: await openMembersStore(settings),
    standings: await openStandingsStore(settings),
  };
  const transports = {
    members: createInProcessTransport(createMembers(stores.members), log),
    standings: createInProcessTransport(createStandings(stores.standings, now), log),
  };
  opened.push(stores.keys.close, transports.members.close, transports.standings.close);
  const keys = await fillWorld(stores, now());
  const { port, adminPort } = await serveGateway({ settings, keyStore: stores.keys, transports, lifecycle, log });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    stores,
    keys,
    provider,
    ask: createClient(url, keys.alpha),
    async close() {
      for (const close of opened.reverse()) await close();
    },
  };
}
