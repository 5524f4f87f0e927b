// The lines that a new version adds to the changelogs of the surfaces.
import type { VersionChange } from '../graph/graph.ts';
import { elementsOf } from '../schema/deprecations.ts';
import type { SurfaceChange, SurfaceSchemas } from './changes.ts';

/** Of a version, on a surface; the breaking ones come first. */
const MAX_CHANGES = 200;
const MAX_TEXT = 300;

/** What is deprecated has its reason as the text, with the dates. */
export function versionChanges(
  changes: readonly Omit<SurfaceChange, 'affected'>[],
  after: SurfaceSchemas,
): VersionChange[] {
  const reasons = new Map<string, string>();
  for (const [surface, schema] of Object.entries(after))
    for (const { coordinate, reason } of elementsOf(schema))
      if (reason) reasons.set(`${surface} ${coordinate}`, reason);
  const counts = new Map<string, number>();
  return changes.flatMap(({ surface, kind, coordinate, message }) => {
    const count = counts.get(surface) ?? 0;
    if (kind === undefined || count === MAX_CHANGES) return [];
    counts.set(surface, count + 1);
    const reason = kind === 'deprecated' ? reasons.get(`${surface} ${coordinate}`) : undefined;
    return [{ surface, kind, coordinate, text: cut(reason ?? message) }];
  });
}

/** The end has the dates. */
function cut(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT / 2)}…${text.slice(-MAX_TEXT / 2)}`;
}
