// The graph of a local gateway: what is published, with one subgraph in its place.

import { CommandError } from '@partner-loyalty/cli/shell/shell.ts';
import { openGraphStore } from '@partner-loyalty/gateway';
import type { Lifecycle } from '@partner-loyalty/runtime/process/lifecycle.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { assess, CompositionError, committedContent, type GraphContent } from '../publish/index.ts';
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
export async function openPublishing(
  settings: Settings,
  lifecycle: Lifecycle,
): Promise<(graph: GraphContent) => Promise<void>> {
  const store = await openGraphStore(settings);
  lifecycle.opened('versions', store.close);
  let version = 0;
  return async (graph) => {
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
