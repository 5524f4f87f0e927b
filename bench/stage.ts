// What variants stand on: one Node version, ports, subgraphs in memory, Redis, MongoDB and filled stores, each started when first asked for.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { readEnv } from '@partner-loyalty/runtime';
import { findCommand } from '../test/support/servers/debian.ts';
import { startDocumentDb } from '../test/support/servers/documentdb/start.ts';
import { startMongod } from '../test/support/servers/mongod.ts';
import { freePort } from '../test/support/servers/port.ts';
import { type ServerProcess, startProcess } from '../test/support/servers/process.ts';
import { startRedis } from '../test/support/servers/redis.ts';
import { firstAnswer } from './check.ts';
import type { Target } from './http.ts';
import { type NodeVersion, type Place, placed } from './machine.ts';
import { answerOf } from './population.ts';
import { type Usage, usageOf } from './usage.ts';

export const ROOT = resolve(import.meta.dirname, '..');

/** The flag that runs a process with the options this project ships with. */
export const ENV_FILE = `--env-file=${join(ROOT, 'node.env')}`;

/** A started process that answers look-ups. */
export type Running = Target & {
  place: Place;
  /** What it and its children have used until now. */
  usage(): Usage;
  /** From its start to its first right answer. */
  readyMs: number;
  stop(): Promise<unknown>;
};

export type Launch = {
  place?: Place;
  /** What follows `node`, as a function of the port it has to listen on. */
  args: (port: number) => string[];
  env?: (port: number) => Record<string, string>;
  /** How its end is asked for; TERM where it has more to do than to die. */
  signal?: 'KILL' | 'TERM';
  keys?: Target['keys'];
  members?: number;
};

export type Subgraphs = {
  plain: { members: string; standings: string };
  signed: { members: string; standings: string };
  secret: string;
};

export type Stage = {
  node: NodeVersion;
  /** A folder that goes with the stage. */
  folder: string;
  /** Starts a process and waits for its first right answer. Rejects with what it wrote where it ends before. */
  serve(launch: Launch): Promise<Running>;
  /** Both subgraphs, answering from memory on the core of the load. */
  subgraphs(): Promise<Subgraphs>;
  /** A file with the supergraph in which the subgraphs' addresses are those of the plain ones. */
  supergraph(): Promise<string>;
  /** A file with the answers about all members in memory. */
  answers(): string;
  redisUrl(): Promise<string>;
  /** A server without a database. */
  mongodbUrl(): Promise<string>;
  close(): Promise<void>;
};

/** Members that subgraphs in memory know. */
export const MEMORY_MEMBERS = 100_000;
const SECRET = 'a secret of the benchmark alone';
// A quarter of the machine; mongod takes half by itself.
const DOCUMENTDB_CACHE_MB = Math.floor(totalmem() / 4 / 2 ** 20);

/** Opens a stage. Whoever opens it closes it, which ends everything that was started. */
export function openStage(node: NodeVersion): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const closers: (() => Promise<unknown>)[] = [];

  const server = async (
    variable: string,
    begin: () => Promise<{ url: string; stop(): Promise<unknown> }>,
  ) => {
    const given = readEnv()[variable];
    if (given) return given;
    const { url, stop } = await begin();
    closers.push(stop);
    return url;
  };
  const redisUrl = once(() => server('REDIS_URL', startRedis));
  const mongodbUrl = once(() =>
    server(
      'MONGODB_URL',
      findCommand('mongod') ? startMongod : () => startDocumentDb(DOCUMENTDB_CACHE_MB),
    ),
  );

  const subgraph = async (name: 'members' | 'standings') => {
    const [port, plainPort] = [await freePort(), await freePort()];
    const options = JSON.stringify({
      name,
      port,
      plainPort,
      secret: SECRET,
      members: MEMORY_MEMBERS,
    });
    const args = [ENV_FILE, '--import', 'tsx', join(ROOT, 'bench/subgraph.ts'), options];
    const started = await startProcess({
      ...placed('load', node.path, args),
      env: { NODE_ENV: 'production' },
    });
    closers.push(started.stop);
    await started.wrote(/listening/);
    return { signed: `http://127.0.0.1:${port}`, plain: `http://127.0.0.1:${plainPort}/graphql` };
  };
  const subgraphs = once(async () => {
    const [members, standings] = await Promise.all([subgraph('members'), subgraph('standings')]);
    return {
      plain: { members: members.plain, standings: standings.plain },
      signed: { members: members.signed, standings: standings.signed },
      secret: SECRET,
    };
  });

  return {
    node,
    folder,
    redisUrl,
    mongodbUrl,
    subgraphs,
    supergraph: once(async () => {
      const { plain } = await subgraphs();
      const sdl = readFileSync(join(ROOT, 'gateway/supergraph.graphql'), 'utf8');
      const local = sdl
        .replace('http://members:4011/graphql', plain.members)
        .replace('http://standings:4012/graphql', plain.standings);
      const file = join(folder, 'supergraph.graphql');
      writeFileSync(file, local);
      return file;
    }),
    answers() {
      const file = join(folder, 'answers.json');
      writeFileSync(
        file,
        JSON.stringify(Array.from({ length: MEMORY_MEMBERS }, (_, index) => answerOf(index))),
      );
      return file;
    },
    async serve({
      place = 'gateway',
      args,
      env = () => ({}),
      signal = 'KILL',
      keys = [{}],
      members = MEMORY_MEMBERS,
    }) {
      const port = await freePort();
      const startedAt = performance.now();
      const started = await startProcess({
        ...placed(place, node.path, args(port)),
        env: { NODE_ENV: 'production', APOLLO_TELEMETRY_DISABLED: 'true', ...env(port) },
        signal,
      });
      const target: Target = { url: `http://127.0.0.1:${port}/graphql`, keys, members };
      const given = new AbortController();
      try {
        await Promise.race([firstAnswer(target, given.signal), untilEnded(started)]);
      } catch (error) {
        await started.stop();
        throw error;
      } finally {
        given.abort();
      }
      return {
        ...target,
        place,
        usage: () => usageOf(started.pid),
        readyMs: performance.now() - startedAt,
        stop: started.stop,
      };
    },
    async close() {
      await Promise.all(closers.map((stop) => stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Rejects with what a process wrote when it ends. */
export async function untilEnded(started: ServerProcess): Promise<never> {
  await started.ended;
  throw new Error(`a process ended: ${started.output()}`);
}

/** Makes the value when first asked for, and gives the same ever after. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
