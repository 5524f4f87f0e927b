// What the next version would be: what is published now, with the schema of one subgraph.
import { readFileSync } from 'node:fs';
import type { GraphStore, SubgraphEntry } from '@partner-loyalty/gateway';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { variableOf } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { SETTINGS } from '@partner-loyalty/runtime/settings/table.ts';
import { CommandError, type Shell } from '../shell/shell.ts';

/** An option that is left out keeps its value. */
export type EntryOptions = { url?: string; batching?: boolean; codes?: string[] };

/**
 * Assesses the version that follows `version`, which is 0 if none is published. Throws a
 * CommandError if the schemas do not compose, after a line for each fault; or if the name is not
 * free to use.
 */
export async function nextContent(
  shell: Shell,
  graphs: GraphStore,
  { name, file, options = {} }: { name: string; file: string; options?: EntryOptions },
) {
  const { assess, currentContent } = await import('@partner-loyalty/gateway/publish');
  refuseReservedName(name);
  const sdl = readFileSync(file, 'utf8');
  const { version, ...before } = await currentContent(graphs);
  refuseSharedVariables(name, before.subgraphs);
  const known = before.subgraphs.find((entry) => entry.name === name);
  const entry = { name, batching: false, codes: [], ...known, ...omitUndefined(options) };
  const assessed = await composing(shell, () =>
    assess({ kind: 'subgraph', before, entry, sdl, file }, name, undefined, shell.note),
  );
  return { version, before, assessed, entry, sdl };
}

/** Runs `compose`. If the schemas do not compose, notes each fault and throws a CommandError. */
export async function composing<T>(shell: Shell, compose: () => T | Promise<T>): Promise<T> {
  const { CompositionError, TooLargeError } = await import('@partner-loyalty/gateway/publish');
  try {
    return await compose();
  } catch (error) {
    if (error instanceof TooLargeError) throw new CommandError(error.message);
    if (!(error instanceof CompositionError)) throw error;
    const { faults } = error;
    if (faults.length === 1) throw new CommandError(faults[0]);
    for (const fault of faults) shell.note(fault);
    throw new CommandError(`the schemas do not compose: ${faults.length} errors`);
  }
}

function refuseReservedName(name: string): void {
  const settings = new Set(Object.values(SETTINGS).map((row) => row.name));
  const taken = variablesOf(name).find((variable) => settings.has(variable));
  if (taken !== undefined)
    throw new CommandError(`the name must not be ${name}: ${taken} is another setting`);
}

function refuseSharedVariables(name: string, subgraphs: readonly SubgraphEntry[]): void {
  const [variable] = variablesOf(name);
  const other = subgraphs.find(
    (each) => each.name !== name && variablesOf(each.name)[0] === variable,
  );
  if (other !== undefined)
    throw new CommandError(`the name must not be ${name}: ${variable} belongs to ${other.name}`);
}

function variablesOf(name: string): string[] {
  return (['url', 'secret', 'secretOld'] as const).map((key) => variableOf(name, key));
}
