// Keeps the last served graph in DATA_DIR, so that the gateway can start without its store.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '@partner-loyalty/runtime/json.ts';
import { makePrivateFolder } from '@partner-loyalty/runtime/store/private.ts';
import type { Graph, SubgraphEntry } from './graph.ts';

const FOLDER = 'lastgraph';
const FILE = 'graph.json';
const OWNER_ONLY = 0o600;

/** Replaces the file atomically, so that a reader finds one graph or the other. */
export async function writeLastGraph(dataDir: string, graph: Graph): Promise<void> {
  const { version, supergraph, subgraphs } = graph;
  const folder = makePrivateFolder(dataDir, FOLDER);
  const aside = join(folder, `${FILE}.${process.pid}`);
  await writeFile(aside, JSON.stringify({ version, supergraph, subgraphs }), { mode: OWNER_ONLY });
  await rename(aside, join(folder, FILE));
}

/** Undefined if there is none, or if the file is damaged. */
export async function readLastGraph(dataDir: string): Promise<Graph | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(dataDir, FOLDER, FILE), 'utf8'));
    return isGraph(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isGraph(value: unknown): value is Graph {
  return (
    isJsonObject(value) &&
    typeof value.version === 'number' &&
    typeof value.supergraph === 'string' &&
    Array.isArray(value.subgraphs) &&
    value.subgraphs.every(isEntry)
  );
}

function isEntry(value: unknown): value is SubgraphEntry {
  return (
    isJsonObject(value) &&
    typeof value.name === 'string' &&
    (value.url === undefined || typeof value.url === 'string') &&
    typeof value.batching === 'boolean' &&
    Array.isArray(value.codes)
  );
}
