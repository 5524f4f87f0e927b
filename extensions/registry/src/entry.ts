// A subgraph's entry in the graph: its name, which settings are named after, and its options.
import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { variableOf } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { SETTINGS } from '@partner-loyalty/runtime/settings/table.ts';
import type { GraphContent } from './publish/content.ts';
import { type RequestOf, refuse } from './request.ts';

/**
 * An option that is left out keeps its value, also that of a subgraph that was removed. Throws a
 * Refusal if the name is not free to use.
 */
export function entryOf(
  subgraphs: readonly SubgraphEntry[],
  { name, url, batching, codes }: RequestOf<'check'> | RequestOf<'publish'>,
  removed: SubgraphEntry | undefined,
): SubgraphEntry {
  refuseReservedName(name);
  refuseSharedVariables(
    name,
    subgraphs.map((entry) => entry.name),
  );
  const known = subgraphs.find((entry) => entry.name === name) ?? removed;
  const given = omitUndefined({ url, batching, codes });
  return { name, batching: false, codes: [], ...known, ...given };
}

/** Whether this is what is published already. */
export function isPublished(
  { subgraphs, schemas }: GraphContent,
  entry: SubgraphEntry,
  sdl: string,
): boolean {
  const known = subgraphs.find(({ name }) => name === entry.name);
  return (
    known !== undefined && schemas[entry.name] === sdl && optionsOf(known) === optionsOf(entry)
  );
}

/** The order of codes means nothing. */
function optionsOf({ url, batching, codes }: SubgraphEntry): string {
  return JSON.stringify([url, batching, codes.toSorted()]);
}

/** Throws a Refusal if a variable of the subgraph is another setting. */
export function refuseReservedName(name: string): void {
  const settings = new Set(Object.values(SETTINGS).map((row) => row.name));
  const taken = variablesOf(name).find((variable) => settings.has(variable));
  if (taken !== undefined) refuse(`the name must not be ${name}: ${taken} is another setting`);
}

/** Throws a Refusal if another subgraph has the same variables: `offers-eu` and `offers_eu`. */
export function refuseSharedVariables(name: string, others: readonly string[]): void {
  const [variable] = variablesOf(name);
  const other = others.find((each) => each !== name && variablesOf(each)[0] === variable);
  if (other !== undefined) refuse(`the name must not be ${name}: ${variable} belongs to ${other}`);
}

function variablesOf(name: string): string[] {
  return (['url', 'secret', 'secretOld'] as const).map((key) => variableOf(name, key));
}
