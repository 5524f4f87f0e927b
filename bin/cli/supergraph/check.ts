// `loyalty supergraph check`: what a schema would change for callers, and who uses what it breaks.
import type { CheckedChange, GraphContent } from '@partner-loyalty/gateway/publishing';
import type { Settings } from '@partner-loyalty/runtime';
import { firstDay } from '../shell/instant.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import { withStore } from '../shell/stores.ts';
import { nextContent } from './next.ts';
import { namesWithUse, printChanges } from './report.ts';

const USAGE_DAYS = 30;

export async function check(
  shell: Shell,
  name: string,
  file: string,
  { strict = false }: { strict?: boolean },
): Promise<void> {
  const settings = shell.settings();
  const { before, after } = await withStore('graph', settings, (graphs) =>
    nextContent(shell, graphs, { name, file }),
  );
  const changes = await checkedChanges(settings, before, after);
  printChanges(shell, changes);
  const breaking = changes.filter(({ level }) => level === 'breaking');
  if (strict && breaking.length > 0)
    throw new CommandError(`there are breaking changes: ${namesWithUse(breaking)}`);
  refuseInUse(changes, 'breaking changes are in use');
}

/** What callers notice if `after` replaces `before`, and who used it in the last 30 days. */
export async function checkedChanges(
  settings: Settings,
  before: GraphContent,
  after: GraphContent,
): Promise<CheckedChange[]> {
  const { surfaceChanges, surfaceSchemas, withUsage } = await import(
    '@partner-loyalty/gateway/publishing'
  );
  const found = await surfaceChanges(
    surfaceSchemas(before.supergraph),
    surfaceSchemas(after.supergraph),
  );
  if (!found.some(({ level }) => level === 'breaking')) return withUsage(found, []);
  const usage = await withStore('usage', settings, ({ fields }) => fields(firstDay(USAGE_DAYS)));
  return withUsage(found, usage);
}

/** Throws a CommandError that names the changes if callers use what one of them breaks. */
export function refuseInUse(changes: readonly CheckedChange[], reason: string): void {
  const inUse = changes.filter(({ usedBy }) => usedBy.length > 0);
  if (inUse.length > 0) throw new CommandError(`${reason}: ${namesWithUse(inUse)}`);
}
