// Where the graph comes from: SUPERGRAPH_FILE, the published graph, or the committed graph.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { makePrivateFolder } from '@partner-loyalty/runtime/store/private.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import * as z from 'zod';
import { graphOf, readGraphFile, readSdlFile, SUPERGRAPH_FILE } from './committed.ts';
import type { Graph, GraphStore } from './graph.ts';

export type GraphSource = {
  /** The graph to start with. Rejects if there is none. */
  first(): Promise<Graph>;
  /**
   * The graph before another one, to serve instead. Undefined if there is none. Rejects if it
   * cannot be read.
   */
  before(graph: Graph): Promise<Graph | undefined>;
  /** The last graph that this gateway has served, in this process or before; undefined if none. */
  lastServed(): Promise<Graph | undefined>;
  /**
   * The graph if it has changed since it was last read. Rejects if it cannot be read, which it
   * does again until it can.
   */
  next(): Promise<Graph | undefined>;
  serves(graph: Graph): Promise<void>;
};

const DEADLINE_MS = 2_000;

/** SUPERGRAPH_FILE cannot be read, or is no supergraph. The message quotes nothing but its text. */
export class UnreadableFile extends Error {}

export function createGraphSource(
  settings: Pick<Settings, 'supergraphFile' | 'dataDir'>,
  store: Pick<GraphStore, 'latest' | 'version'>,
  log: Pick<Log, 'outage'>,
): GraphSource {
  const { supergraphFile, dataDir } = settings;
  return supergraphFile === undefined
    ? createStoreSource(store, dataDir, log)
    : createFileSource(supergraphFile);
}

/** Compares the text, so that it does not matter how the file was replaced. */
function createFileSource(file: string): GraphSource {
  let text: string | undefined;
  /** The last text that was no supergraph, which is not parsed again and again. */
  let broken: { text: string; fault: unknown } | undefined;

  async function read(): Promise<Graph | undefined> {
    const { text: found, changedAt } = await readSdlFile(file);
    if (found === text) return undefined;
    if (found === broken?.text) throw broken.fault;
    try {
      const graph = graphOf(found, changedAt);
      text = found;
      return graph;
    } catch (fault) {
      broken = { text: found, fault };
      throw fault;
    }
  }

  const next = () =>
    read().catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new UnreadableFile(message, { cause });
    });
  return {
    // Cast: the first text is always another one.
    first: async () => (await next()) as Graph,
    before: async () => undefined,
    lastServed: async () => undefined,
    next,
    async serves() {},
  };
}

function createStoreSource(
  store: Pick<GraphStore, 'latest' | 'version'>,
  dataDir: string,
  log: Pick<Log, 'outage'>,
): GraphSource {
  let version = 0;

  async function read(): Promise<Graph | undefined> {
    const latest = await inTime(store.latest());
    if (latest === version) return undefined;
    const graph = await published(latest);
    version = latest;
    return graph;
  }

  async function published(wanted: number): Promise<Graph> {
    const found = await inTime(store.version(wanted));
    if (found === undefined) throw new Error(`the store lacks version ${wanted} of the graph`);
    return { ...found, version: wanted };
  }

  return {
    async first() {
      try {
        return (await read()) ?? (await readGraphFile(SUPERGRAPH_FILE));
      } catch (error) {
        const last = await readLastGraph(dataDir);
        log.outage(
          { err: error, version: last?.version ?? 0 },
          'the store of graphs is unavailable: serving the last graph',
        );
        version = last?.version ?? 0;
        return last ?? readGraphFile(SUPERGRAPH_FILE);
      }
    },
    async before({ version: refused }) {
      if (refused <= 1) return refused === 1 ? readGraphFile(SUPERGRAPH_FILE) : undefined;
      const last = await readLastGraph(dataDir);
      return last?.version === refused - 1 ? last : published(refused - 1);
    },
    lastServed: () => readLastGraph(dataDir),
    next: read,
    async serves(graph) {
      // The committed graph is there anyway.
      if (graph.version > 0) await writeLastGraph(dataDir, graph);
    },
  };
}

function inTime<T>(read: Promise<T>): Promise<T> {
  return withTimeout(read, DEADLINE_MS, 'the store of graphs does not answer');
}

const FOLDER = 'lastgraph';
const FILE = 'graph.json';
const OWNER_ONLY = 0o600;
const GRAPH = z.object({
  version: z.number(),
  supergraph: z.string(),
  subgraphs: z.array(
    z.object({
      name: z.string(),
      url: z.string().optional(),
      batching: z.boolean(),
      codes: z.array(z.string()),
    }),
  ),
});

/** Replaces the file atomically, so that a reader finds one graph or the other. */
export async function writeLastGraph(dataDir: string, graph: Graph): Promise<void> {
  const { version, supergraph, subgraphs } = graph;
  const folder = makePrivateFolder(dataDir, FOLDER);
  const aside = join(folder, `${FILE}.${process.pid}`);
  await writeFile(aside, JSON.stringify({ version, supergraph, subgraphs }), { mode: OWNER_ONLY });
  await rename(aside, join(folder, FILE));
}

/** Undefined if there is none, or if the file is damaged. */
async function readLastGraph(dataDir: string): Promise<Graph | undefined> {
  try {
    return GRAPH.parse(JSON.parse(await readFile(join(dataDir, FOLDER, FILE), 'utf8')));
  } catch {
    return undefined;
  }
}
