// This project as shipped: started as `npm start` does it, with every feature on.
import { freePort } from '../../test/support/servers/port.ts';
import { asEnv, createKeys, fill, storesOf } from '../dataset/stores.ts';
import { untilListening } from '../run/answers.ts';
import { launch, type Server, untilReady } from '../run/server.ts';
import { ROOT, startArgs } from '../run/shipped.ts';
import { SUBGRAPH_SECRET } from '../run/subgraphs.ts';
import type { Testbed } from '../run/testbed.ts';
import type { Variant } from './variant.ts';

type Env = Record<string, string>;

/** What a part may change; everything else is as shipped. */
export type Changes = {
  /** The checkout to start; the working tree by default. */
  root?: string;
  redis?: boolean;
  keys?: number;
  /** How many partners the keys belong to, each of which every member is enrolled with. */
  partners?: number;
  /** Settings in addition to those that the variant needs. */
  env?: Env;
  /** Flags of node in addition to the shipped ones. */
  flags?: string[];
};

/** The gateway with budgets in Redis; the subgraphs answer from memory. */
export const ours: Variant = {
  title: 'This gateway, everything on',
  kind: 'ours',
  start: startRemote,
};

/** Gateway and both subgraphs in one process on the embedded store. */
export const oursInOne: Variant = {
  title: 'This service in one process, embedded store',
  kind: 'ours',
  start: (testbed) => startInOne(testbed, 100_000),
};

/** Gateway and both subgraphs as three processes, on MongoDB and Redis. */
export const oursOnMongo: Variant = {
  title: 'This service apart, on MongoDB and Redis',
  kind: 'ours',
  start: (testbed) => startApart(testbed, 10_000),
};

export async function startRemote(testbed: Testbed, changes: Changes = {}): Promise<Server> {
  const { signed, secret } = await testbed.subgraphs();
  const stores = storesOf(0);
  const keys = await createKeys(stores, changes.keys ?? 1, {}, changes.partners);
  const env = {
    ...asEnv(stores),
    MEMBERS_URL: signed.members,
    STANDINGS_URL: signed.standings,
    SUBGRAPH_SECRET: secret,
  };
  return start(testbed, 'gateway', env, changes, { keys });
}

export async function startInOne(
  testbed: Testbed,
  members: number,
  changes: Changes = {},
): Promise<Server> {
  const stores = storesOf(members, undefined, changes.partners);
  await fill(stores, members, changes.partners);
  const keys = await createKeys(stores, changes.keys ?? 1, {}, changes.partners);
  return start(testbed, '.', asEnv(stores), changes, { keys, members });
}

export async function startApart(
  testbed: Testbed,
  members: number,
  changes: Changes = {},
): Promise<Server> {
  const stores = storesOf(members, await testbed.mongodbUrl());
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
      const subgraph = await startSubgraph(testbed, name, env, changes.root);
      started.push(subgraph);
      urls[`${name.toUpperCase()}_URL`] = subgraph.url;
    }
    const gateway = await start(testbed, 'gateway', { ...env, ...urls }, changes, {
      keys,
      members,
    });
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
  { root = ROOT, redis = true, flags = [], env: more = {} }: Changes,
  target: Pick<Server, 'keys'> & { members?: number },
): Promise<Server> {
  const redisUrl = redis ? await testbed.redisUrl() : '';
  return testbed.start({
    root,
    args: () => [...flags, ...startArgs(root, folder)],
    env: (port) => ({
      ...env,
      REDIS_URL: redisUrl,
      PORT: `${port}`,
      ADMIN_PORT: '0',
      ...more,
    }),
    // Node writes a profile only if the process exits in the regular way.
    signal: flags.length === 0 ? 'KILL' : 'TERM',
    ...target,
  });
}

async function startSubgraph(
  testbed: Testbed,
  name: string,
  env: Env,
  root = ROOT,
): Promise<{ url: string; stop(): Promise<unknown> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = await launch(testbed.node, {
    root,
    cores: 'load',
    args: startArgs(root, `subgraphs/${name}`),
    env: { ...env, PORT: `${port}`, ADMIN_PORT: '0' },
  });
  await untilReady(started, (signal) => untilListening(url, signal));
  return { url, stop: started.stop };
}
