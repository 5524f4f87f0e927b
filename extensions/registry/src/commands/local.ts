// The schema and the graph of a local gateway: what a team develops, among what is published.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CommandError } from '@partner-loyalty/cli/shell/shell.ts';
import { openGraphStore } from '@partner-loyalty/gateway';
import { noticing } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Lifecycle } from '@partner-loyalty/runtime/process/lifecycle.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createHttpTransport } from '@partner-loyalty/runtime/transport/client.ts';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { runningSdl } from '../publish/asked.ts';
import { assess } from '../publish/assess.ts';
import { committedContent, type GraphContent } from '../publish/content.ts';
import { CompositionError } from '../publish/faults.ts';
import { MAX_SCHEMA_BYTES } from '../request.ts';
import { sendToRegistry } from './client.ts';

/** What is published, or without a registry the committed graph. */
export async function publishedGraph(
  registry: string | undefined,
  token: string | undefined,
): Promise<GraphContent> {
  if (registry === undefined) return committedContent();
  const outcome = await sendToRegistry(registry, token, { operation: 'show' });
  if ('refused' in outcome) throw new CommandError(outcome.refused);
  // Cast: the registry shows versions with their content.
  const { supergraph, subgraphs, schemas } = outcome.result as GraphContent;
  return { supergraph, subgraphs, schemas };
}

/** Returns a function that adds a version, which the gateway serves within a second. */
export async function openPublishing(settings: Settings, lifecycle: Lifecycle) {
  const store = await openGraphStore(settings);
  lifecycle.opened('versions', store.close);
  let version = 0;
  return async (graph: GraphContent) => {
    version += 1;
    const about = { publishedAt: new Date(), changes: [], change: 'dev' };
    await store.append({ version, ...graph, ...about });
  };
}

type Schema = { name: string; url: string; sdl: string; file: string };

/** The graph with the schema in place of the published one; undefined if they do not compose. */
export async function compose(
  before: GraphContent,
  { name, url, sdl, file }: Schema,
): Promise<{ graph?: GraphContent; lines: string[] }> {
  const known = before.subgraphs.find((each) => each.name === name);
  // The URL is in the settings, which take precedence.
  const entry = { url, batching: false, codes: [], ...known, name };
  try {
    const { after, notices } = await assess({ kind: 'subgraph', before, entry, sdl, file });
    return { graph: after, lines: notices.map(({ message }) => message) };
  } catch (error) {
    if (error instanceof CompositionError) return { lines: [...error.faults] };
    return { lines: [`${file}: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

/** Stands for a subgraph of another team: nothing of it is known here. */
export function absentSubgraph(): Transport {
  return {
    execute({ variables }) {
      const asked = variables?.representations;
      return { data: Array.isArray(asked) ? { _entities: asked.map(() => null) } : {} };
    },
    ready: async () => undefined,
    close: async () => {},
  };
}

/** Where the schema is. `read` rejects with a line that says why there is none. */
type SchemaSource = {
  /** Names the schema in faults. */
  place: string;
  read(): Promise<string>;
  close(): Promise<void>;
};

export function schemaFile(file: string): SchemaSource {
  return {
    place: file,
    async read() {
      const bytes = await readFile(file);
      if (bytes.length > MAX_SCHEMA_BYTES) throw new Error(`${file}: larger than 4 MiB`);
      return bytes.toString();
    },
    async close() {},
  };
}

/** Asks the subgraph, with requests that its secret signs. */
export function runningSchema(at: { name: string; url: string; secret: string }): SchemaSource {
  let reason = '';
  const log = noticing((text) => {
    reason = text;
  });
  const secrets = oneSecret(at.secret);
  const options = { secrets, batching: false, codes: [], log, metrics: createMetrics() };
  const transport = createHttpTransport({ ...at, ...options });
  return {
    place: `the schema of ${at.name}`,
    async read() {
      const sdl = await runningSdl(transport, `dev-${randomUUID()}`);
      if (sdl !== undefined) return sdl;
      throw new Error(`${at.name} at ${at.url} does not answer {_service{sdl}} (${reason})`);
    },
    close: transport.close,
  };
}

/**
 * Returns a function that passes the schema on if it differs from the last one, and reports why
 * there is none, once for each reason.
 */
export function createFollower(
  { read }: Pick<SchemaSource, 'read'>,
  serve: (sdl: string) => Promise<void>,
  report: (fault: string) => void,
): () => Promise<void> {
  let last: string | undefined;
  let fault: string | undefined;

  return async () => {
    try {
      const sdl = await read();
      fault = undefined;
      if (sdl === last) return;
      last = sdl;
      await serve(sdl);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== fault) report(why);
      fault = why;
    }
  };
}
