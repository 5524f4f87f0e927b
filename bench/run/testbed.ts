// The testbed of one Node version: subgraphs, databases and files, each started on first use.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '@partner-loyalty/runtime/settings/settings.ts';
import { findCommand } from '../../test/support/servers/debian.ts';
import { startDocumentDb, startMongod } from '../../test/support/servers/documentdb/start.ts';
import { startRedis } from '../../test/support/servers/redis/server.ts';
import { databaseOf, type StoreSettings } from '../dataset/stores.ts';
import type { NodeVersion } from '../machine/machine.ts';
import { type Server, type ServerLaunch, startServer } from './server.ts';
import { ROOT } from './shipped.ts';
import { type Subgraphs, type SubgraphUrls, startSubgraphs } from './subgraphs.ts';

export type Testbed = {
  node: NodeVersion;
  /** A temporary folder, removed on close. */
  folder: string;
  /**
   * Starts a server and waits for its first correct answer. Rejects with its output if it ends
   * before that.
   */
  start(launch: ServerLaunch): Promise<Server>;
  subgraphs(): Promise<Subgraphs>;
  /** The path of a supergraph file with the addresses of the plain subgraphs. */
  supergraph(): Promise<string>;
  redisUrl(): Promise<string>;
  /** The address of a server, without a database name. */
  mongodbUrl(): Promise<string>;
  /** A store that nothing else uses; on MongoDB, it may be one of an earlier run. */
  newStore(engine: EngineName, name: string): Promise<StoreSettings>;
  close(): Promise<void>;
};

export const ENGINES = ['the embedded store', 'MongoDB'] as const;
type EngineName = (typeof ENGINES)[number];

type Stoppable = { stop(): Promise<unknown> };

// A quarter of the memory; mongod takes half by default.
const DOCUMENTDB_CACHE_MB = Math.floor(totalmem() / 4 / 2 ** 20);

/** Opens a testbed. Closing it stops everything it has started. */
export function openTestbed(node: NodeVersion): Testbed {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const started: Stoppable[] = [];
  const urlOf = async (variable: string, start: () => Promise<{ url: string } & Stoppable>) => {
    const given = readEnv()[variable];
    if (given) return given;
    const server = await start();
    started.push(server);
    return server.url;
  };
  const mongodbUrl = once(() => urlOf('MONGODB_URL', startMongodb));
  const subgraphs = once(() => startSubgraphs(node, (process) => started.push(process)));
  return {
    node,
    folder,
    subgraphs,
    start: (launch) => startServer(node, launch),
    supergraph: once(async () => writeSupergraph(folder, (await subgraphs()).plain)),
    redisUrl: once(() => urlOf('REDIS_URL', startRedis)),
    mongodbUrl,
    async newStore(engine, name) {
      const dataDir = join(folder, name);
      const database = engine === 'MongoDB' && databaseOf(await mongodbUrl(), `bench_${name}`);
      return { dataDir, environment: 'sandbox', mongodbUrl: database || undefined };
    },
    async close() {
      await Promise.all(started.map(({ stop }) => stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startMongodb() {
  return findCommand('mongod') ? startMongod() : startDocumentDb(DOCUMENTDB_CACHE_MB);
}

function writeSupergraph(folder: string, urls: SubgraphUrls): string {
  const sdl = readFileSync(join(ROOT, 'gateway/supergraph.graphql'), 'utf8');
  const file = join(folder, 'supergraph.graphql');
  const local = sdl
    .replace('http://members:4011/graphql', urls.members)
    .replace('http://standings:4012/graphql', urls.standings);
  writeFileSync(file, local);
  return file;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
