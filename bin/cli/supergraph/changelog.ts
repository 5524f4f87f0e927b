// `loyalty supergraph changelog`: what callers of each surface read in the changelog.
import {
  CHANGELOG_VERSIONS,
  changelogOf,
  SURFACES,
  type SurfaceName,
} from '@partner-loyalty/gateway';
import type { Shell } from '../shell/shell.ts';
import { withStore } from '../shell/stores.ts';
import { printable } from './report.ts';

export async function changelog(shell: Shell, only: SurfaceName | undefined): Promise<void> {
  const { currentContent, surfaceSchemas } = await import('@partner-loyalty/gateway/publish');
  const { content, versions } = await withStore('graph', shell.settings(), async (graphs) => ({
    content: await currentContent(graphs),
    versions: await graphs.versions(CHANGELOG_VERSIONS),
  }));
  const schemas = surfaceSchemas(content.supergraph);
  // Cast: Object.keys knows no key types.
  const surfaces = only === undefined ? (Object.keys(SURFACES) as SurfaceName[]) : [only];
  shell.printAll(
    surfaces.flatMap((surface) =>
      changelogOf(surface, schemas[surface], versions).map(({ date, kind, coordinate, text }) => {
        return { surface, date, kind, coordinate, text: printable(text) };
      }),
    ),
  );
}
