// The changelogs of the graph that serves.
import {
  CHANGELOG_VERSIONS,
  type ChangelogEntry,
  changelogOf,
} from '@partner-loyalty/gateway/graph/changelog.ts';
import type { GraphStore, GraphVersionSummary } from '@partner-loyalty/gateway/graph/graph.ts';
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';

export type Changelogs = Readonly<Record<SurfaceName, readonly ChangelogEntry[]>>;
type Store = Pick<GraphStore, 'versions'>;

const DEADLINE_MS = 2_000;

/** Never rejects: without the store, they have what schemas say. */
export async function readChangelogs(
  store: Store,
  { version, surfaces }: DocumentedGraph,
): Promise<Changelogs> {
  const versions = await versionsTo(version, store).catch(() => []);
  const entriesOf = (surface: SurfaceName) =>
    changelogOf(surface, surfaces[surface].schema, versions);
  return { partner: entriesOf('partner'), member: entriesOf('member') };
}

async function versionsTo(version: number, store: Store): Promise<GraphVersionSummary[]> {
  // The committed graph, or that of SUPERGRAPH_FILE, has nothing to do with what is published.
  if (version === 0) return [];
  const found = await withTimeout(
    store.versions(CHANGELOG_VERSIONS),
    DEADLINE_MS,
    'the store of graphs does not answer',
  );
  return found.filter((each) => each.version <= version);
}
