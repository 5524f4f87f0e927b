// `loyalty supergraph list`, `show` and `changelog`: what is published, and what was.
import type { ServiceShell } from '@partner-loyalty/cli/shell/extension.ts';
import { noSuch, type Row } from '@partner-loyalty/cli/shell/shell.ts';
import { readStore } from '@partner-loyalty/cli/shell/stores.ts';
import { SURFACE_NAMES, type SurfaceName } from '@partner-loyalty/gateway';
import { CHANGELOG_VERSIONS, changelogOf } from '@partner-loyalty/gateway/graph/changelog.ts';
import type { GraphVersion } from '@partner-loyalty/gateway/graph/graph.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import { currentContent } from '../publish/content.ts';
import { operate, printable, type Where } from './operation.ts';

/** With `--pending`, what waits for approval. */
export async function list(
  shell: ServiceShell,
  { pending, ...where }: Where & { pending?: boolean },
) {
  const request = pending ? ({ operation: 'pending' } as const) : ({ operation: 'list' } as const);
  // Casts here and below: what the registry answers with.
  const rows = (await operate(shell, request, where)) as Row[];
  if (rows.length === 0) return;
  // People read text, programs read values.
  const inWords = (row: Row) =>
    pending && !shell.json ? { ...row, needs: needsInWords(row.needs) } : row;
  shell.printAll(rows.map(inWords));
}

function needsInWords(needs: Row[string]): string {
  const all = needs as { what: string; approvers: string }[];
  return all.map(({ what, approvers }) => `${what} (${approvers})`).join('; ');
}

/** Prints SDL that SUPERGRAPH_FILE can name, below a comment on the version and its subgraphs. */
export async function show(shell: ServiceShell, given: number | undefined, where: Where) {
  const request = omitUndefined({ operation: 'show' as const, version: given });
  const shown = (await operate(shell, request, where)) as ShownVersion;
  if (shell.json) return shell.write(`${JSON.stringify(shown)}\n`);
  const { version, change, subgraphs, supergraph, publishedAt } = shown;
  const at = publishedAt === undefined ? '' : `, ${timeText(new Date(publishedAt))}`;
  const lines = subgraphs.map(({ name, url = 'no URL', batching, codes }) =>
    [name, url, ...(batching ? ['batching'] : []), ...codes].join(' '),
  );
  const head = [`version ${version}: ${change}${at}`, ...lines].map((line) => `# ${line}\n`);
  shell.write(`${head.join('')}\n${supergraph}`);
}

type ShownVersion = Pick<
  GraphVersion,
  'version' | 'change' | 'subgraphs' | 'schemas' | 'supergraph'
> & {
  /** A string if it came as JSON. */
  publishedAt?: Date | string;
};

/** Prints the published schema of a subgraph, as it was published. */
export async function fetchSchema(shell: ServiceShell, subgraph: string, where: Where) {
  const shown = (await operate(shell, { operation: 'show' }, where)) as ShownVersion;
  const schema = Object.entries(shown.schemas).find(([name]) => name === subgraph)?.[1];
  if (schema === undefined) throw noSuch('subgraph', subgraph);
  if (shell.json) shell.print({ subgraph, version: shown.version, schema });
  else shell.write(schema);
}

export async function changelog(shell: ServiceShell, only: SurfaceName | undefined): Promise<void> {
  const { surfaceSchemas } = await import('../publish/changes.ts');
  const { content, versions } = await readStore('graph', shell.settings(), async (graphs) => ({
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
