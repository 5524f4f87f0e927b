// `loyalty supergraph list` and `show`: what is published, and what was.
import { CommandError, type Shell } from '../shell/shell.ts';
import { withStore } from '../shell/stores.ts';

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
