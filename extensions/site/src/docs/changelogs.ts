// The changelogs of the graph that serves.
import {
  CHANGELOG_VERSIONS,
  type ChangelogEntry,
  changelogOf,
} from '@partner-loyalty/gateway/graph/changelog.ts';
import type { GraphStore, GraphVersionSummary } from '@partner-loyalty/gateway/graph/graph.ts';
import type { ServedGraph, ServedGraphs } from '@partner-loyalty/gateway/graph/served.ts';
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';

export type Changelogs = Readonly<Record<SurfaceName, readonly ChangelogEntry[]>>;

/** The changelogs of the graph that serves. Never rejects: without the store, what schemas say. */
export type ReadChangelogs = () => Promise<Changelogs>;

const DEADLINE_MS = 2_000;

export function createChangelogs({
  store,
  graphs,
}: {
  store: Pick<GraphStore, 'versions'>;
  graphs: Pick<ServedGraphs, 'current'>;
}): ReadChangelogs {
  async function read({ version }: ServedGraph): Promise<GraphVersionSummary[]> {
    // The committed graph, or that of SUPERGRAPH_FILE, has nothing to do with what is published.
    if (version === 0) return [];
    const found = await withTimeout(
      store.versions(CHANGELOG_VERSIONS),
      DEADLINE_MS,
      'the store of graphs does not answer',
    );
    return found.filter((each) => each.version <= version);
  }

  return async () => {
    const graph = graphs.current();
    const versions = await read(graph).catch(() => []);
    const entriesOf = (surface: SurfaceName) =>
      changelogOf(surface, graph.surfaces[surface].schema, versions);
    return { partner: entriesOf('partner'), member: entriesOf('member') };
  };
}
