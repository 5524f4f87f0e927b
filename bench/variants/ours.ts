// This project as shipped: the commands of its package.json files, with everything on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/servers/port.ts';
import { startProcess } from '../../test/support/servers/process.ts';
import { untilListening } from '../check.ts';
import { asEnv, fill, makeKeys, storesOf } from '../data.ts';
import { placed } from '../machine.ts';
import { ENV_FILE, ROOT, type Running, type Stage, untilEnded } from '../stage.ts';
import type { Variant } from './variant.ts';

/** Settings a run may change; the rest is as shipped. */
export type Changes = {
  workers?: number;
  redis?: boolean;
  keys?: number;
  place?: 'gateway' | 'both' /** For node, beside the shipped ones. */;
  flags?: string[];
};

/** The gateway by itself with budgets in Redis; the subgraphs answer from memory. */
export const ours: Variant = {
  title: 'This gateway, everything on',
  kind: 'ours',
  start: (stage) => startRemote(stage),
};

/** Gateway and both subgraphs in one process on the embedded store. */
export const oursInOne: Variant = {
  title: 'This service in one process, embedded store',
  kind: 'ours',
  start: (stage) => startInOne(stage, 100_000),
};

/** All three by themselves, on MongoDB and Redis. */
export const oursOnMongo: Variant = {
  title: 'This service apart, on MongoDB and Redis',
  kind: 'ours',
  start: (stage) => startApart(stage, 10_000),
};

export async function startRemote(stage: Stage, changes: Changes = {}): Promise<Running> {
  const { signed, secret } = await stage.subgraphs();
  const stores = storesOf(0);
  const keys = await makeKeys(stores, changes.keys ?? 1);
  const env = {
    ...asEnv(stores),
    MEMBERS_URL: signed.members,
    STANDINGS_URL: signed.standings,
    SUBGRAPH_SECRET: secret,
  };
  return serve(stage, 'gateway', { ...env, ...(await common(stage, changes)) }, keys, changes);
}

export async function startInOne(
  stage: Stage,
  members: number,
  changes: Changes = {},
): Promise<Running> {
  const stores = storesOf(members);
  await fill(stores, members);
  const keys = await makeKeys(stores, changes.keys ?? 1);
  return serve(
    stage,
    '.',
    { ...asEnv(stores), ...(await common(stage, changes)) },
    keys,
    changes,
    members,
  );
}

export async function startApart(stage: Stage, members: number): Promise<Running> {
  const stores = storesOf(members, await stage.mongodbUrl());
  await fill(stores, members);
  const keys = await makeKeys(stores, 1);
  const env = { ...asEnv(stores), SUBGRAPH_SECRET: 'a secret of the benchmark alone' };
  const started: { stop(): Promise<unknown> }[] = [];
  const stop = async () => {
    for (const each of started.toReversed()) await each.stop();
  };
  try {
    const urls: Record<string, string> = {};
    for (const name of ['members', 'standings']) {
      const subgraph = await startSubgraph(stage, name, env);
      started.push(subgraph);
      urls[`${name.toUpperCase()}_URL`] = subgraph.url;
    }
    const running = await serve(
      stage,
      'gateway',
      { ...env, ...urls, ...(await common(stage, {})) },
      keys,
      {},
      members,
    );
    started.push({ stop: running.stop });
    return { ...running, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function common(
  stage: Stage,
  { workers = 1, redis = true }: Changes,
): Promise<Record<string, string>> {
  return { REDIS_URL: redis ? await stage.redisUrl() : '', WORKERS: `${workers}` };
}

function serve(
  stage: Stage,
  folder: string,
  env: Record<string, string>,
  keys: Running['keys'],
  changes: Changes,
  members?: number,
) {
  return stage.serve({
    args: () => [...(changes.flags ?? []), ...shippedArgs(folder)],
    env: (port) => ({ ...env, PORT: `${port}`, ADMIN_PORT: '0' }),
    place: changes.place,
    // A profile is written at a regular end.
    signal: changes.flags === undefined ? 'KILL' : 'TERM',
    keys,
    members,
  });
}

async function startSubgraph(
  stage: Stage,
  name: string,
  env: Record<string, string>,
): Promise<{ url: string; stop(): Promise<unknown> }> {
  const port = await freePort();
  const started = await startProcess({
    ...placed('load', stage.node.path, shippedArgs(join('subgraphs', name))),
    env: { ...env, NODE_ENV: 'production', PORT: `${port}`, ADMIN_PORT: '0' },
  });
  const url = `http://127.0.0.1:${port}`;
  const given = new AbortController();
  await Promise.race([untilListening(url, given.signal), untilEnded(started)]).finally(() =>
    given.abort(),
  );
  return { url, stop: started.stop };
}

/** The arguments of `npm start` in a folder, with absolute paths. */
function shippedArgs(folder: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  const words: string[] = scripts.start.split(' ');
  const main = words.pop() ?? '';
  const flags = words
    .slice(words.indexOf('node') + 1)
    .map((flag) => (flag.startsWith('--env-file=') ? ENV_FILE : flag));
  return [...flags, join(ROOT, folder, main)];
}
