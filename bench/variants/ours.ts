// This project as shipped: started as `npm start` does it, with every feature on.
import { freePort } from '../../test/support/servers/process.ts';
import {
  asEnv,
  copyStores,
  createKeys,
  fill,
  type StoreSettings,
  storesOf,
} from '../dataset/stores.ts';
import { untilListening } from '../run/answers.ts';
import { launch, type Server, type ServerLaunch, untilReady } from '../run/server.ts';
import { ROOT, startArgs } from '../run/shipped.ts';
import { SUBGRAPH_SECRET } from '../run/subgraphs.ts';
import type { Testbed } from '../run/testbed.ts';
import type { Variant } from './peers.ts';

type Env = Record<string, string>;

/** What a part may change; everything else is as shipped. */
export type Changes = {
  /** The checkout to start; the working tree by default. */
  root?: string | undefined;
  redis?: boolean;
  keys?: number;
  /** How many partners the keys belong to, each of which every member is enrolled with. */
  partners?: number;
  /** Another graph: its settings, and what answers it correctly. */
  graph?: { env: Env; check: ServerLaunch['check'] };
};

/** The gateway with budgets in Redis; the subgraphs answer from memory. */
export const ours: Variant = {
  title: 'This gateway, everything on',
  kind: 'ours',
  start: startRemote,
};

export async function startRemote(testbed: Testbed, changes: Changes = {}): Promise<Server> {
  const { signed } = await testbed.subgraphs();
  const stores = storesOf(0, changes);
  const keys = await createKeys(stores, changes.keys ?? 1, {}, changes.partners);
  const env = {
    ...asEnv(await storesFor(testbed, stores, changes)),
    MEMBERS_URL: signed.members,
    STANDINGS_URL: signed.standings,
    SUBGRAPH_SECRET,
  };
  return start(testbed, 'gateway', env, changes, { keys });
}

export async function startInOne(
  testbed: Testbed,
  members: number,
  changes: Changes = {},
): Promise<Server> {
  const stores = storesOf(members, changes);
  await fill(stores, members, changes.partners);
  const keys = await createKeys(stores, changes.keys ?? 1, {}, changes.partners);
  const env = asEnv(await storesFor(testbed, stores, changes));
  return start(testbed, '.', env, changes, { keys, members });
}

async function storesFor(testbed: Testbed, stores: StoreSettings, { root = ROOT }: Changes) {
  return root === ROOT ? stores : copyStores(stores, testbed.folder);
}

export async function startApart(testbed: Testbed, members: number): Promise<Server> {
  const stores = storesOf(members, { mongodbUrl: await testbed.mongodbUrl() });
  await fill(stores, members);
  const keys = await createKeys(stores, 1);
  const env = { ...asEnv(stores), SUBGRAPH_SECRET };
  const started: { stop(): Promise<unknown> }[] = [];
  const stop = async () => {
    for (const each of started.toReversed()) await each.stop();
  };
  try {
    const urls: Env = {};
    for (const name of ['members', 'standings']) {
      const subgraph = await startSubgraph(testbed, name, env);
      started.push(subgraph);
      urls[`${name.toUpperCase()}_URL`] = subgraph.url;
    }
    const gateway = await start(testbed, 'gateway', { ...env, ...urls }, {}, { keys, members });
    started.push(gateway);
    return { ...gateway, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  testbed: Testbed,
  folder: string,
  env: Env,
  { root = ROOT, redis = true, graph }: Changes,
  target: Pick<Server, 'keys'> & { members?: number },
): Promise<Server> {
  const redisUrl = redis ? await testbed.redisUrl() : '';
  return testbed.start({
    root,
    args: () => startArgs(root, folder),
    env: (port) => ({
      ...env,
      REDIS_URL: redisUrl,
      PORT: `${port}`,
      ADMIN_PORT: '0',
      ...graph?.env,
    }),
    check: graph?.check,
    ...target,
  });
}

async function startSubgraph(
  testbed: Testbed,
  name: string,
  env: Env,
): Promise<{ url: string; stop(): Promise<unknown> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = await launch(testbed.node, {
    cores: 'load',
    args: startArgs(ROOT, `subgraphs/${name}`),
    env: { ...env, PORT: `${port}`, ADMIN_PORT: '0' },
  });
  await untilReady(started, (signal) => untilListening(url, signal));
  return { url, stop: started.stop };
}
