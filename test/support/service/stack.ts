// Starts the service as it is deployed: in separate processes, on free ports, on its own stores.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyStore } from '@partner-loyalty/gateway';
import { type MembersStore, openMembersStore } from '@partner-loyalty/members';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { openStandingsStore, type StandingsStore } from '@partner-loyalty/standings';
// Without the rest of the gateway, which takes half a second to load.
import { openKeyStore } from '../../../gateway/src/stores.ts';
import { temporaryFolder } from '../folder.ts';
import { programArgs, ROOT } from '../programs/programs.ts';
import { freshMongodbUrl, redisUrl } from '../servers/databases.ts';
import { type ServerProcess, startProcess } from '../servers/process.ts';
import { type Provider, startProvider } from '../servers/provider.ts';
import { startRedis } from '../servers/redis/server.ts';
import { type Client, createClient } from './client.ts';
import { bareEnv, type Env } from './loyalty.ts';
import { fillStores, type PartnerId } from './testdata.ts';

/** The deployments: whether subgraphs are separate processes, and whether stores are servers. */
export const DEPLOYMENTS = {
  'one process': { separate: false, servers: false },
  'three processes': { separate: true, servers: false },
  'three processes on MongoDB and Redis': { separate: true, servers: true },
} as const;

export type Deployment = keyof typeof DEPLOYMENTS;

// Cast: Object.keys loses the names.
export const DEPLOYMENT_NAMES = Object.keys(DEPLOYMENTS) as Deployment[];

/**
 * A process of the service. Tests may send it signals with `process.kill(running.pid, …)`, or stop
 * it with `running.stop()`, which sends SIGTERM and resolves with the exit code.
 */
export type Running = ServerProcess & {
  /** Its origin. */
  url: string;
  adminUrl: string;
};

export type Stack = {
  /** The gateway, or the one process that contains everything. */
  gateway: Running;
  /** The subgraphs, if they are separate processes. */
  members: Running | undefined;
  standings: Running | undefined;
  /** The same stores that the service uses, opened in the test's process. */
  stores: { keys: KeyStore; members: MembersStore; standings: StandingsStore };
  /** Settings that lead to the same stores: loyalty(stack.env, 'keys', 'create', …). */
  env: Env;
  /** Starts another gateway on the same stores and subgraphs. close() ends it too. */
  addGateway(env?: Env): Promise<Running>;
  /**
   * Stops one of its processes by SIGTERM, unless it has ended, and starts it again with the same
   * settings, on the same port.
   */
  restart(running: Running): Promise<Running>;
  /** Ends all processes and removes all data. */
  close(): Promise<void>;
};

const MAINS = {
  all: 'bin/start.ts',
  gateway: 'bin/gateway.ts',
  members: 'bin/members.ts',
  standings: 'bin/standings.ts',
} as const;

/** Where they were in the version before. */
const FORMER_MAINS: Partial<Record<keyof typeof MAINS, string>> = {
  gateway: 'gateway/src/main.ts',
  members: 'subgraphs/members/src/main.ts',
  standings: 'subgraphs/standings/src/main.ts',
};

/**
 * Another version's folder, the settings that lead to its stores, whose format may be another one,
 * and the keys in them.
 */
export type Checkout = { root: string; env: Env; keys: Record<PartnerId, string> };
/** What processes run from, if it is not this version. */
export type Checkouts = { gateway?: Checkout; subgraphs?: Checkout };

/**
 * Starts the service with empty stores and without demo data. `env` adds to the settings of every
 * process. Rejects with the output of a process that does not start.
 */
export async function startStack(
  deployment: Deployment,
  env: Env = {},
  checkouts: Checkouts = {},
): Promise<Stack> {
  const { separate, servers } = DEPLOYMENTS[deployment];
  const opened: (() => unknown)[] = [];
  const close = async () => {
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) await last();
  };
  const starts = new WeakMap<Running, (port: string) => Promise<Running>>();
  const start = async (name: keyof typeof MAINS, settings: Env): Promise<Running> => {
    const isSubgraph = name === 'members' || name === 'standings';
    const checkout = isSubgraph ? checkouts.subgraphs : checkouts.gateway;
    const running = await startMain(name, { ...settings, ...checkout?.env }, checkout?.root);
    opened.push(running.stop);
    starts.set(running, (port) => start(name, { ...settings, PORT: port }));
    return running;
  };
  const restart = async (running: Running): Promise<Running> => {
    await running.stop();
    const again = starts.get(running);
    if (again === undefined) throw new Error('only processes of this stack start again');
    return again(new URL(running.url).port);
  };
  try {
    const folder = temporaryFolder();
    opened.push(folder.remove);
    const database = servers ? freshMongodbUrl() : undefined;
    if (database) opened.push(database.drop);
    const shared: Env = {
      DATA_DIR: folder.path,
      DRAIN_SECONDS: '0',
      ...(database && { MONGODB_URL: database.url, REDIS_URL: redisUrl() }),
      ...(separate && { SUBGRAPH_SECRET: randomBytes(24).toString('hex') }),
      ...env,
    };
    const stores = await openStores(shared, opened);
    // The service fills stores with demo data unless an operator has written to them.
    await stores.keys.setOrigin('operator');
    const members = separate ? await start('members', shared) : undefined;
    const standings = members
      ? await start('standings', { ...shared, MEMBERS_URL: members.url })
      : undefined;
    const addresses: Env =
      members && standings ? { MEMBERS_URL: members.url, STANDINGS_URL: standings.url } : {};
    const addGateway = (more: Env = {}) =>
      start(separate ? 'gateway' : 'all', { ...shared, ...addresses, ...more });
    return {
      gateway: await addGateway(),
      members,
      standings,
      stores,
      env: shared,
      addGateway,
      restart,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openStores(env: Env, opened: (() => unknown)[]): Promise<Stack['stores']> {
  const settings = readSettings(env, 'all');
  const keys = await openKeyStore(settings);
  opened.push(keys.close);
  const members = await openMembersStore(settings);
  opened.push(members.close);
  const standings = await openStandingsStore(settings);
  opened.push(standings.close);
  return { keys, members, standings };
}

async function startMain(name: keyof typeof MAINS, settings: Env, root = ROOT): Promise<Running> {
  const former = join(root, FORMER_MAINS[name] ?? '');
  const program = root !== ROOT && existsSync(former) ? FORMER_MAINS[name] : undefined;
  const running = await startProcess({
    command: process.execPath,
    args: programArgs(program ?? MAINS[name], root),
    env: { ...bareEnv(), PORT: '0', ADMIN_PORT: '0', ...settings, LOG_LEVEL: 'info' },
    ...{ isWhole: true, cwd: root, signal: 'TERM' },
  });
  try {
    const [, line = ''] = await running.wrote(/^(\{.*"listening".*\})$/m);
    const { port, adminPort }: { port: number; adminPort: number } = JSON.parse(line);
    return {
      ...running,
      url: `http://127.0.0.1:${port}`,
      adminUrl: `http://127.0.0.1:${adminPort}`,
    };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

export type DeployedService = {
  stack: Stack;
  /** A key for each partner in the test data. */
  keys: Record<PartnerId, string>;
  provider: Provider;
  /** Sends a request to the first gateway, with alpha's key if it has no credential. */
  send: Client;
  close(): Promise<void>;
};

/** Starts it. `env` adds to the settings of every process. */
export async function startDeployed(
  deployment: Deployment,
  env: Record<string, string> = {},
  checkouts: Checkouts = {},
): Promise<DeployedService> {
  const opened: (() => unknown)[] = [];
  const close = async () => {
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) await last();
  };
  try {
    const provider = await startProvider();
    opened.push(provider.close);
    const defaults: Record<string, string> = { ...provider.env };
    if (DEPLOYMENTS[deployment].servers && env.REDIS_URL === undefined) {
      // The test data has the same member ids everywhere, so they would share counters.
      const redis = await startRedis();
      opened.push(redis.stop);
      defaults.REDIS_URL = redis.url;
    }
    const stack = await startStack(deployment, { ...defaults, ...env }, checkouts);
    opened.push(stack.close);
    const own = await fillStores(stack.stores);
    const keys = checkouts.gateway?.keys ?? own;
    return { stack, keys, provider, send: createClient(stack.gateway.url, keys.alpha), close };
  } catch (error) {
    await close();
    throw error;
  }
}
