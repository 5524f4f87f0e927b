// `loyalty supergraph list`, `show` and `changelog`: what is published, and what was.
import {
  CHANGELOG_VERSIONS,
  changelogOf,
  SURFACE_NAMES,
  type SurfaceName,
} from '@partner-loyalty/gateway';
import { CommandError, type Shell } from '../shell/shell.ts';
import { withStore } from '../shell/stores.ts';
import { printable } from './report.ts';

export async function list(shell: Shell): Promise<void> {
  const versions = await withStore('graph', shell.settings(), (graphs) => graphs.versions());
  if (versions.length === 0)
    shell.note('nothing is published: gateways serve the committed gateway/supergraph.graphql');
  else
    shell.printAll(
      versions.map(({ version, publishedAt, change }) => ({ version, publishedAt, change })),
    );
}

/** Prints SDL that SUPERGRAPH_FILE can name, below a comment on the version and its subgraphs. */
export async function show(shell: Shell, given: number | undefined): Promise<void> {
  const { committedContent } = await import('@partner-loyalty/gateway/publish');
  const shown = await withStore('graph', shell.settings(), async (graphs) => {
    const version = given ?? (await graphs.latest());
    if (version === 0) return { version, change: 'the committed graph', ...committedContent() };
    const found = await graphs.version(version);
    if (found === undefined) throw new CommandError(`there is no version ${version}`);
    return found;
  });
  if (shell.json) return shell.write(`${JSON.stringify(shown)}\n`);
  const { version, change, subgraphs, supergraph } = shown;
  const at = 'publishedAt' in shown ? `, ${shown.publishedAt.toISOString()}` : '';
  const lines = subgraphs.map(({ name, url = 'no URL', batching, codes }) =>
    [name, url, ...(batching ? ['batching'] : []), ...codes].join(' '),
  );
  const head = [`version ${version}: ${change}${at}`, ...lines].map((line) => `# ${line}\n`);
  shell.write(`${head.join('')}\n${supergraph}`);
}

export async function changelog(shell: Shell, only: SurfaceName | undefined): Promise<void> {
  const { currentContent, surfaceSchemas } = await import('@partner-loyalty/gateway/publish');
  const { content, versions } = await withStore('graph', shell.settings(), async (graphs) => ({
    content: await currentContent(graphs),
    versions: await graphs.versions(CHANGELOG_VERSIONS),
  }));
  const schemas = surfaceSchemas(content.supergraph);
  const surfaces = only === undefined ? SURFACE_NAMES : [only];
  shell.printAll(
    surfaces.flatMap((surface) =>
      changelogOf(surface, schemas[surface], versions).map(({ date, kind, coordinate, text }) => {
        return { surface, date, kind, coordinate, text: printable(text) };
      }),
    ),
  );
}
