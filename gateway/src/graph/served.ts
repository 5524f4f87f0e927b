// The graph that is served, and how another one replaces it without a failed request.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
} from '@partner-loyalty/runtime/transport/types.ts';
import type { Documents } from '../document/documents.ts';
import { openSurface, type Surface } from '../execute/surface.ts';
import type { ServiceParts } from '../schema/supergraph.ts';
import { SURFACE_NAMES, type SurfaceName } from '../schema/surfaces.ts';
import type { Connection, Connections } from './connections.ts';
import type { Graph } from './graph.ts';

type Part = keyof ServiceParts;

/** A graph with everything that answers requests on it. */
export type ServedGraph = {
  readonly version: number;
  readonly surfaces: Readonly<Record<SurfaceName, Surface>>;
  readonly connections: ReadonlyMap<string, Connection>;
  /** The names of the subgraphs that are the built-in identity provider, and have the feed. */
  readonly parts: ServiceParts;
  requests: number;
};

/** What documentation needs of a graph. */
export type DocumentedGraph = Pick<ServedGraph, 'version'> & {
  surfaces: Readonly<Record<SurfaceName, Pick<Surface, 'schema' | 'sdl' | 'rootScopes'>>>;
};

export type ServedGraphs = Awaited<ReturnType<typeof serveGraphs>>;

type GraphParts = {
  connections: Connections;
  caches: Caches;
  /** Whether callers of the surfaces can ask for accesses. */
  audits?: boolean;
};

const DOCUMENTS_IN_USE = 200;
/** And no more after this: a graph has to serve within 5 seconds, however long plans take. */
const PREPARE_MS = 2_500;

export async function serveGraphs(first: Graph, parts: GraphParts & { documents: Documents }) {
  const { connections, documents } = parts;
  let current = await build(first, parts);

  const release = (graph: ServedGraph) => {
    for (const surface of Object.values(graph.surfaces)) surface.close();
    connections.release(graph.connections.values());
  };
  const use = (): ServedGraph => {
    current.requests += 1;
    return current;
  };
  const done = (graph: ServedGraph): void => {
    graph.requests -= 1;
    if (graph.requests === 0 && graph !== current) release(graph);
  };
  async function ask(part: Part, request: SubgraphRequest): Promise<SubgraphResponse> {
    const graph = use();
    try {
      const connection = graph.connections.get(graph.parts[part] ?? '');
      return connection === undefined
        ? fail('SERVICE_UNAVAILABLE')
        : await connection.transport.execute(request);
    } finally {
      done(graph);
    }
  }

  return {
    /** The graph for a new request, which calls `done` with it at its end. */
    use,
    done,
    current: (): ServedGraph => current,
    /** Asks the subgraph that is the built-in identity provider. */
    askProvider: (request: SubgraphRequest) => ask('provider', request),
    /** Asks the subgraph that has the feed of events, and sends webhooks. */
    askFeed: (request: SubgraphRequest) => ask('feed', request),
    /**
     * Builds a graph, prepares the documents in use on it, and replaces the current graph with it.
     * The former graph is released when its last request has ended. Rejects, and changes nothing,
     * if the graph cannot be built. Make one call at a time.
     */
    async replace(graph: Graph): Promise<void> {
      const next = await build(graph, parts);
      await prepareAhead(current, next, documents, performance.now() + PREPARE_MS);
      const former = current;
      current = next;
      if (former.requests === 0) release(former);
    },
  };
}

async function build(
  { version, supergraph, subgraphs }: Graph,
  { connections, caches, audits }: GraphParts,
): Promise<ServedGraph> {
  const opened = await connections.open(subgraphs);
  const transports = Object.fromEntries(
    Array.from(opened, ([name, { transport }]) => [name, transport]),
  );
  const surfaces: Partial<Record<SurfaceName, Surface>> = {};
  try {
    for (const name of SURFACE_NAMES) {
      await nextTurn(); // Requests are answered before each step.
      surfaces[name] = await openSurface(name, supergraph, transports, caches, audits);
    }
  } catch (error) {
    for (const surface of Object.values(surfaces)) surface.close();
    connections.release(opened.values());
    throw error;
  }
  // Cast: the loop has set each.
  const all = surfaces as Record<SurfaceName, Surface>;
  return { version, surfaces: all, connections: opened, parts: all.partner.parts, requests: 0 };
}

type Preparable = { surfaces: Readonly<Record<SurfaceName, Pick<Surface, 'knows' | 'warm'>>> };

/**
 * Prepares the documents that `current` has in use on `next`, until `endAt`, by performance.now().
 * A document at a time, so that requests are answered in between.
 */
export async function prepareAhead(
  current: Preparable,
  next: Preparable,
  documents: Pick<Documents, 'mostUsed'>,
  endAt: number,
): Promise<void> {
  for (const document of documents.mostUsed(DOCUMENTS_IN_USE)) {
    for (const name of SURFACE_NAMES) {
      const leftMs = endAt - performance.now();
      if (leftMs <= 0) return;
      if (!current.surfaces[name].knows(document)) continue;
      await nextTurn();
      // A document that is invalid on the new graph is refused when a caller sends it.
      const warmed = next.surfaces[name].warm(document).catch(() => {});
      const isLate = await withTimeout(warmed, leftMs, 'the graph does not wait').then(
        () => false,
        () => true,
      );
      if (isLate) return;
    }
  }
}
