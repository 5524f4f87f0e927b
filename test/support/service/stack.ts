// Starts the real thing for tests, in processes of its own on free ports and stores of its own, in the shapes that it is deployed in.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type KeyStore, openKeyStore } from '@partner-loyalty/gateway';
import { type MembersStore, openMembersStore } from '@partner-loyalty/members';
import { readSettings } from '@partner-loyalty/runtime';
import { openStandingsStore, type StandingsStore } from '@partner-loyalty/standings';
import { temporaryFolder } from '../folder.ts';
import { freshMongodbUrl, redisUrl } from '../servers/databases.ts';
import { type ServerProcess, startProcess } from '../servers/process.ts';
import { bareEnv, type Env } from './loyalty.ts';

/** The shapes, and whether the subgraphs run by themselves and the stores are servers in each. */
export const SHAPES = {
  'in one process': { apart: false, servers: false },
  apart: { apart: true, servers: false },
  'apart, on MongoDB and Redis': { apart: true, servers: true },
} as const;

export type Shape = keyof typeof SHAPES;

/** A process of the service: `process.kill(running.pid, …)` and `running.stop()`, a SIGTERM whose exit code it gives, are the test's to use. */
export type Running = ServerProcess & {
  /** Its origin, without a path. */
  url: string;
  adminUrl: string;
};

export type Stack = {
  /** The gateway, with everything else in it where the shape is one process. */
  gateway: Running;
  /** Where they run by themselves. */
  members?: Running;
  standings?: Running;
  /** Its stores, opened here, beside it. */
  stores: { keys: KeyStore; members: MembersStore; standings: StandingsStore };
  /** The settings that reach the same stores: loyalty(stack.env, 'keys', 'create', …). */
  env: Env;
  /** Starts one more gateway on the same stores and subgraphs. It ends with the stack. */
  addGateway(env?: Env): Promise<Running>;
  /** Ends what runs and removes what it stored. */
  close(): Promise<void>;
};

const ROOT = join(import.meta.dirname, '../../..');
const MAINS = {
  all: 'bin/start.ts',
  gateway: 'gateway/src/main.ts',
  members: 'subgraphs/members/src/main.ts',
  standings: 'subgraphs/standings/src/main.ts',
};

/** Starts it with empty stores and without demo data. `env` are settings of every process beside its own. Rejects with what a process wrote where it does not start. */
export async function startStack(shape: Shape, env: Env = {}): Promise<Stack> {
  const { apart, servers } = SHAPES[shape];
  const opened: (() => unknown)[] = [];
  const close = async () => {
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) await last();
  };
  const start = async (name: keyof typeof MAINS, settings: Env) => {
    const running = await startMain(MAINS[name], settings);
    opened.push(running.stop);
    return running;
  };
  try {
    const folder = temporaryFolder();
    opened.push(folder.remove);
    const database = servers ? freshMongodbUrl() : undefined;
    if (database) opened.push(database.drop);
    const shared: Env = {
      DATA_DIR: folder.path,
      ...(database && { MONGODB_URL: database.url, REDIS_URL: redisUrl() }),
      ...(apart && { SUBGRAPH_SECRET: randomBytes(24).toString('hex') }),
      ...env,
    };
    const stores = await openStores(shared, opened);
    // Stores that an operator has written to get no demo.
    await stores.keys.setOrigin('operator');
    const [members, standings] = apart
      ? await Promise.all([start('members', shared), start('standings', shared)])
      : [];
    const addresses: Env =
      members && standings ? { MEMBERS_URL: members.url, STANDINGS_URL: standings.url } : {};
    const addGateway = (more: Env = {}) =>
      start(apart ? 'gateway' : 'all', { ...shared, ...addresses, ...more });
    return {
      gateway: await addGateway(),
      members,
      standings,
      stores,
      env: shared,
      addGateway,
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

async function startMain(path: string, settings: Env): Promise<Running> {
  // Node 24 runs TypeScript by itself, as in the images.
  const loader = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import', 'tsx'];
  const variables = Object.entries({
    ...bareEnv(),
    PORT: '0',
    ADMIN_PORT: '0',
    ...settings,
    LOG_LEVEL: 'info',
  });
  const env = variables.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const args = ['-C', ROOT, '-i', ...env, process.execPath, ...loader, path];
  const running = await startProcess({ command: 'env', args, signal: 'TERM' });
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
