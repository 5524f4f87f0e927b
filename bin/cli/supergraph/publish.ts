// `loyalty supergraph publish`, `remove` and `rollback`: each adds a version that gateways serve.
import type { GraphStore } from '@partner-loyalty/gateway';
import type { GraphContent } from '@partner-loyalty/gateway/publish';
import { CommandError, noSuch, type Shell } from '../shell/shell.ts';
import { withStore } from '../shell/stores.ts';
import { checkedChanges, inUse, refuseBrokenPolicy, refuseInUse } from './check.ts';
import { composing, type EntryOptions, nextContent } from './next.ts';
import { countLevels, printChanges } from './report.ts';
import { askSubgraph } from './target.ts';

type Force = { force?: boolean };

type Step = { version: number; before: GraphContent; after: GraphContent; change: string };

export async function publish(
  shell: Shell,
  name: string,
  file: string,
  { force, ...options }: EntryOptions & Force,
): Promise<void> {
  await withStore('graph', shell.settings(), async (graphs) => {
    const next = await nextContent(shell, graphs, { name, file, options });
    const { version, before, after, entry, sdl } = next;
    await askSubgraph(shell, graphs, entry, sdl, {
      givenUrl: options.url,
      others: before.subgraphs.map((other) => other.name).filter((other) => other !== name),
    });
    await addVersion(shell, graphs, { version, before, after, change: `publish ${name}` }, force);
  });
}

export async function remove(shell: Shell, name: string, { force }: Force): Promise<void> {
  const { currentContent, withoutSubgraph } = await import('@partner-loyalty/gateway/publish');
  await withStore('graph', shell.settings(), async (graphs) => {
    const { version, ...before } = await currentContent(graphs);
    if (!before.subgraphs.some((entry) => entry.name === name)) throw noSuch('subgraph', name);
    const after = await composing(shell, () => withoutSubgraph(before, name));
    await addVersion(shell, graphs, { version, before, after, change: `remove ${name}` }, force);
  });
}

export async function rollback(
  shell: Shell,
  given: number | undefined,
  { force }: Force,
): Promise<void> {
  const { contentOf, currentContent } = await import('@partner-loyalty/gateway/publish');
  await withStore('graph', shell.settings(), async (graphs) => {
    const { version, ...before } = await currentContent(graphs);
    if (version === 0) throw new CommandError('nothing is published yet');
    const target = given ?? version - 1;
    if (target === version) throw new CommandError(`version ${version} is the newest already`);
    const after = await contentOf(graphs, target);
    await addVersion(
      shell,
      graphs,
      { version, before, after, change: `rollback to ${target}` },
      force,
    );
  });
}

/** Checks the step and adds the version. Unless forced, refuses to break what is in use. */
async function addVersion(
  shell: Shell,
  graphs: GraphStore,
  { version, before, after, change }: Step,
  force = false,
): Promise<void> {
  const settings = shell.settings();
  const checked = await composing(shell, () => checkedChanges(settings, before, after));
  const { changes, faults, lines } = checked;
  if (!shell.json) printChanges(shell, changes);
  if (!force) {
    await refuseNewProvider(before, after);
    if (shell.json) printChanges(shell, inUse(changes));
    refuseInUse(changes, 'breaking changes are in use, and need --force');
    refuseBrokenPolicy(faults, ', and this needs --force');
  }
  const publishedAt = new Date();
  const next = version + 1;
  if (!(await graphs.append({ ...after, version: next, publishedAt, change, changes: lines })))
    throw new CommandError('somebody else has just published a version; try again');
  shell.print({ version: next, change, publishedAt, ...countLevels(changes) });
  if (settings.supergraphFile !== undefined)
    shell.note('gateways that have SUPERGRAPH_FILE set keep serving that file');
}

async function refuseNewProvider(before: GraphContent, after: GraphContent): Promise<void> {
  const { newProvider } = await import('@partner-loyalty/gateway/publish');
  const name = newProvider(before, after);
  if (name !== undefined)
    throw new CommandError(
      `${name} would take over signingKeys and decide which member tokens are valid; this needs --force`,
    );
}
