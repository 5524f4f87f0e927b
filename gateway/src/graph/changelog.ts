// The changelog of a surface: what published versions changed for its callers, newest first.
import type { GraphQLSchema } from 'graphql';
import { dayOf } from '../schema/dates.ts';
import { deprecationsOf } from '../schema/deprecations.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import type { GraphVersionSummary, VersionChange } from './graph.ts';

export type ChangelogEntry = Pick<VersionChange, 'kind' | 'text'> & {
  /** `2026-11-22`. */
  date: string;
  /** Undefined for the API as a whole. */
  coordinate?: string | undefined;
};

/** Older versions are left out. */
export const CHANGELOG_VERSIONS = 100;
const MAX_ENTRIES = 500;

const FIRST_ENTRY: ChangelogEntry = {
  date: '2026-11-20',
  kind: 'added',
  text: 'The API opens, in beta.',
};

/**
 * The changelog of a surface with this schema. Each part names only what was on the surface. What
 * is deprecated without a version that says so is listed too.
 */
export function changelogOf(
  surface: SurfaceName,
  schema: GraphQLSchema,
  versions: readonly GraphVersionSummary[],
): ChangelogEntry[] {
  const published = versions.slice(0, CHANGELOG_VERSIONS).flatMap(({ publishedAt, changes }) =>
    changes
      .filter((change) => change.surface === surface)
      .map(({ kind, coordinate, text }) => {
        return { date: dayOf(publishedAt.getTime()), kind, coordinate, text };
      }),
  );
  const listed = new Set(
    published.flatMap(({ kind, coordinate }) => (kind === 'deprecated' ? coordinate : [])),
  );
  const deprecated = Array.from(deprecationsOf(schema), ([coordinate, { since, reason }]) => {
    return { date: dayOf(since), kind: 'deprecated' as const, coordinate, text: reason };
  }).filter(({ coordinate }) => !listed.has(coordinate));
  const first = versions.length < CHANGELOG_VERSIONS ? [FIRST_ENTRY] : [];
  return [...published, ...deprecated, ...first]
    .sort((one, other) => (one.date < other.date ? 1 : one.date > other.date ? -1 : 0))
    .slice(0, MAX_ENTRIES);
}
