// Runs an operation of the registry, on the store or through a service, and prints the outcome.
import type { ServiceShell } from '@partner-loyalty/cli/shell/extension.ts';
import { CommandError, type Row } from '@partner-loyalty/cli/shell/shell.ts';
import { readStore, withStore } from '@partner-loyalty/cli/shell/stores.ts';
import { SURFACE_NAMES } from '@partner-loyalty/gateway';
import { countLevels, inUse, users } from '../change.ts';
import type { CheckedChange } from '../publish/inuse.ts';
import { runOperation } from '../registry.ts';
import { type Outcome, READING, type Registry, type RegistryRequest } from '../request.ts';
import { registryOf, sendToRegistry } from './client.ts';

/** Where an operation runs, beside LOYALTY_REGISTRY. */
export type Where = { registry?: string | undefined };

const isChange = ({ operation }: RegistryRequest) =>
  operation !== 'check' && !READING.has(operation);

/** Runs an operation and prints all but its result. Throws a CommandError if it is refused. */
export async function operate(
  shell: ServiceShell,
  request: RegistryRequest,
  where: Where = {},
): Promise<object> {
  const settings = shell.settings();
  const base = registryOf(where.registry, settings);
  const outcome =
    base === undefined
      ? await operateOnStore(shell, request)
      : await sendToRegistry(base, settings.subgraphToken, request);
  print(shell, request, outcome);
  if ('refused' in outcome) throw new CommandError(outcome.refused);
  if (base === undefined && isChange(request) && settings.supergraphFile !== undefined)
    shell.note('gateways that have SUPERGRAPH_FILE set keep serving that file');
  return outcome.result;
}

async function operateOnStore(shell: ServiceShell, request: RegistryRequest): Promise<Outcome> {
  const settings = shell.settings();
  const usage: Registry['usage'] = (since) =>
    shell.readUsage(settings, ({ fields }) => fields(since));
  const open = isChange(request) ? withStore : readStore;
  const run = (audit: Registry['audit']) =>
    open('graph', settings, (store) =>
      runOperation({ settings, store, usage, audit }, { kind: 'operator' }, request),
    );
  return isChange(request) ? shell.audited(shell, run) : run(() => {});
}

function print(shell: ServiceShell, { operation }: RegistryRequest, outcome: Outcome): void {
  const { changes, notices = [], lines = [] } = outcome;
  if (changes !== undefined && (!shell.json || operation === 'check')) printChanges(shell, changes);
  else if (changes !== undefined && 'refused' in outcome) printChanges(shell, inUse(changes));
  if (operation === 'check' && notices.length > 0) shell.printAll(notices);
  for (const line of lines) shell.note(line);
}

/** Prints a result with named values; times may have come as JSON. */
export async function operateAndPrint(
  shell: ServiceShell,
  request: RegistryRequest,
  where?: Where,
): Promise<void> {
  const result = await operate(shell, request, where);
  // Cast: what the registry answers is JSON, of objects with named values.
  if (Array.isArray(result)) shell.printAll(result as Row[]);
  else if ('secret' in result) shell.printOnce(result as Row);
  else if (Object.keys(result).length > 0) shell.print(result as Row);
}

const MAX_MESSAGE = 120;

/** A table for each surface; with `--json`, a line for each change. */
export function printChanges(shell: ServiceShell, changes: readonly CheckedChange[]): void {
  if (shell.json) {
    for (const change of changes) shell.write(`${JSON.stringify(change)}\n`);
    return;
  }
  for (const surface of SURFACE_NAMES) {
    const found = changes.filter((change) => change.surface === surface);
    shell.write(`${surface} surface: ${found.length === 0 ? 'no changes' : summary(found)}\n`);
    if (found.length > 0) shell.printAll(found.map(toRow));
    shell.write('\n');
  }
}

function summary(changes: readonly CheckedChange[]): string {
  return Object.entries(countLevels(changes))
    .filter(([, count]) => count > 0)
    .map(([level, count]) => `${count} ${level}`)
    .join(', ');
}

function toRow({ level, coordinate, message, usedBy }: CheckedChange) {
  return {
    level,
    coordinate,
    change: printable(message),
    'used in 30 days by': usedBy.length === 0 ? undefined : users(usedBy),
  };
}

/** Descriptions in a schema can be long and contain anything. */
export function printable(text: string): string {
  const harmless = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return harmless.length > MAX_MESSAGE ? `${harmless.slice(0, MAX_MESSAGE)}…` : harmless;
}
