// `loyalty supergraph check`: what a schema would change for callers, and who uses what it breaks.
import type { Assessment, CheckedChange } from '@partner-loyalty/gateway/publish';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { firstDay } from '../shell/argument.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import { withStore } from '../shell/stores.ts';
import { nextContent } from './next.ts';
import { namesWithUse, printChanges, printNotices } from './report.ts';

const USAGE_DAYS = 30;
const MAX_FAULTS = 3;

export async function check(
  shell: Shell,
  name: string,
  file: string,
  { strict = false }: { strict?: boolean },
): Promise<void> {
  const settings = shell.settings();
  const { assessed } = await withStore('graph', settings, (graphs) =>
    nextContent(shell, graphs, { name, file }),
  );
  const changes = await checkedChanges(settings, assessed);
  printChanges(shell, changes);
  printNotices(shell, assessed.notices);
  const breaking = changes.filter(({ level }) => level === 'breaking');
  if (strict && breaking.length > 0)
    throw new CommandError(`there are breaking changes: ${namesWithUse(breaking)}`);
  refuseInUse(changes, 'breaking changes are in use');
  refuseBrokenPolicy(assessed.policyFaults);
}

/** The changes, with who used what they break in the last 30 days. */
export async function checkedChanges(
  settings: Settings,
  { changes }: Pick<Assessment, 'changes'>,
): Promise<CheckedChange[]> {
  const { withUsage } = await import('@partner-loyalty/gateway/publish');
  const usage = changes.some(({ level }) => level === 'breaking')
    ? await withStore('usage', settings, ({ fields }) => fields(firstDay(USAGE_DAYS)))
    : [];
  return withUsage(changes, usage);
}

export function inUse(changes: readonly CheckedChange[]): CheckedChange[] {
  return changes.filter(({ usedBy }) => usedBy.length > 0);
}

/** Throws a CommandError that names the changes that break what callers use, if there are any. */
export function refuseInUse(changes: readonly CheckedChange[], reason: string): void {
  const used = inUse(changes);
  if (used.length > 0) throw new CommandError(`${reason}: ${namesWithUse(used)}`);
}

export function refuseBrokenPolicy(faults: readonly string[], advice = ''): void {
  if (faults.length === 0) return;
  const rest = faults.length - MAX_FAULTS;
  const named = faults.slice(0, MAX_FAULTS).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  throw new CommandError(`the deprecation policy forbids it${advice}: ${named}`);
}
