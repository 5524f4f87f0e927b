// What a change of the graph means: for callers, for the policy, and for the other subgraphs.

import type { Costs, SubgraphEntry, VersionChange } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { datedSdl } from '@partner-loyalty/gateway/schema/dated.ts';
import { dayOf, MONTHS_KEPT, monthsAfter } from '@partner-loyalty/gateway/schema/dates.ts';
import { deprecationsOf, elementsOf } from '@partner-loyalty/gateway/schema/deprecations.ts';
import { readSupergraph } from '@partner-loyalty/gateway/schema/supergraph.ts';
import { SURFACE_NAMES, type SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { defaultFaults, introspectionFaults, proseFaults, shareNeeds } from './bounds.ts';
import {
  type SurfaceChange,
  type SurfaceSchemas,
  schemasOf,
  servedSurfaces,
  surfaceChanges,
  surfaceSchemas,
  versionChanges,
} from './changes.ts';
import { composeSupergraph } from './compose.ts';
import type { GraphContent } from './content.ts';
import { CompositionError, UnservedError } from './faults.ts';
import { joinedGraph } from './joined.ts';
import { missingFrom } from './missing.ts';
import { needsOf } from './needs.ts';
import { type Notice, noticesOf } from './notices.ts';

/** `content` is what a rollback brings back. */
export type Step = { before: GraphContent } & (
  | {
      kind: 'subgraph';
      entry: SubgraphEntry;
      sdl: string;
      file: string;
      /** What it was when it was taken out of the graph, if it is to come back. */
      removed?: SubgraphEntry | undefined;
      /** The version that the subgraph goes back to, in which what it had was approved. */
      approved?: GraphContent;
    }
  | { kind: 'removal'; name: string }
  | { kind: 'content'; after: GraphContent }
);

export type Assessment = {
  after: GraphContent;
  changes: SurfaceChange[];
  policyFaults: string[];
  /** For the changelogs. */
  lines: VersionChange[];
  /** The subgraph that would replace another one as the identity provider, if one would. */
  newProvider?: string;
  /** What it touches that is not the publisher's own. Empty without a publisher. */
  needs: Need[];
  notices: Notice[];
  costs: Costs;
};

/**
 * Assesses in this process, for seconds if the graph is large. Throws a CompositionError if the
 * schemas do not compose, are beyond their bounds, or could not be served by gateways, and an
 * UnservedError if gateways cannot serve what is published.
 */
export async function assessment(step: Step, publisher: string | undefined): Promise<Assessment> {
  const { before } = step;
  const past = step.kind === 'subgraph' ? step : {};
  const former = servedBefore(before);
  const composing = process.cpuUsage();
  const after = contentAfter(step);
  const reading = process.cpuUsage();
  const used = heapMb();
  const served = servedSurfaces(after.supergraph);
  const mb = Math.round(heapMb() - used);
  const next = schemasOf(served);
  const readingMs = msSince(reading);
  // An operator can take the whole graph back to what was served before there were bounds.
  if (step.kind !== 'content')
    refuseFaults([...introspectionFaults(former, next), ...defaultFaults(former, next)]);
  const sizes =
    step.kind === 'subgraph' && step.approved === undefined
      ? shareNeeds(
          { surfaces: former, supergraph: before.supergraph },
          { surfaces: next, supergraph: after.supergraph },
          step.entry.name,
        )
      : [];
  const changes = await surfaceChanges(former, next);
  const provider = newProvider(before, after);
  const found = {
    after,
    changes,
    policyFaults: policyFaults(former, next, new Date()),
    lines: versionChanges(changes, next),
    ...(provider !== undefined && { newProvider: provider }),
    needs: publisher === undefined ? [] : [...needsOf(before, after, publisher, past), ...sizes],
    notices: step.kind === 'subgraph' ? noticesOf(before, after, step) : [],
  };
  // Later steps read this graph twice: as it was, and with what they change.
  return { ...found, costs: { ms: Math.round(msSince(composing) + readingMs), mb } };
}

/** What is used for good. The garbage collector is there in the process that assesses. */
function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_000_000;
}

function msSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

function servedBefore({ supergraph }: GraphContent): SurfaceSchemas {
  try {
    return surfaceSchemas(supergraph);
  } catch (error) {
    if (error instanceof CompositionError) throw new UnservedError(error.message);
    throw error;
  }
}

function contentAfter(step: Step): GraphContent {
  if (step.kind === 'subgraph') {
    const after = withSubgraph(step.before, step.entry, step);
    // A subgraph can go back to what was published before there were bounds.
    if (step.approved === undefined) refuseFaults(proseFaults(step.sdl, step.file));
    refuseFaults(overriddenFaults(step, after));
    return after;
  }
  return step.kind === 'removal' ? withoutSubgraph(step.before, step.name) : step.after;
}

/** New fields that would go to another subgraph at once, by an `@override` from before. */
function overriddenFaults(
  { before, entry: { name }, sdl, file, approved }: Extract<Step, { kind: 'subgraph' }>,
  after: GraphContent,
): string[] {
  const graphs = [after, approved].map((each) => each && joinedGraph(each.supergraph).types);
  return missingFrom(before.schemas[name] ?? 'scalar _', sdl).flatMap((coordinate) => {
    const [type = '', field = ''] = coordinate.split('.');
    const [now = [], then = []] = graphs.map((types) =>
      Array.from(types?.get(type)?.fields.get(field)?.overriding ?? [])
        .filter(([, overridden]) => overridden === name)
        .map(([by]) => by),
    );
    return now
      .filter((by) => !then.includes(by))
      .map((by) => `${file}: ${coordinate} is new, and ${by} overrides it already`);
  });
}

function refuseFaults(faults: string[]): void {
  if (faults.length > 0) throw new CompositionError(faults);
}

/** The content with a subgraph that has this schema. Throws as composeSupergraph does. */
export function withSubgraph(
  { subgraphs, schemas, supergraph }: GraphContent,
  entry: SubgraphEntry,
  { sdl, file, approved }: { sdl: string; file: string; approved?: GraphContent },
): GraphContent {
  const { name } = entry;
  const isKnown = subgraphs.some((known) => known.name === name);
  const next = isKnown
    ? subgraphs.map((known) => (known.name === name ? entry : known))
    : [...subgraphs, entry];
  const published = { file, former: (approved?.schemas ?? schemas)[name] };
  return composed(supergraph, next, { ...schemas, [name]: sdl }, new Map([[name, published]]));
}

/** The content without a subgraph. Throws as composeSupergraph does. */
export function withoutSubgraph(content: GraphContent, name: string): GraphContent {
  const { supergraph, subgraphs, schemas } = content;
  const { [name]: _, ...rest } = schemas;
  return composed(
    supergraph,
    subgraphs.filter((entry) => entry.name !== name),
    rest,
  );
}

/**
 * The subgraph that replaces another one as the identity provider, if one does. A check shows no
 * change, since callers see none, but the provider decides which tokens are valid.
 */
export function newProvider(before: GraphContent, after: GraphContent): string | undefined {
  const former = readSupergraph(before.supergraph).provider;
  const { provider } = readSupergraph(after.supergraph);
  return former === undefined || provider === former ? undefined : provider;
}

/** What is deprecated in `former` keeps its dates; what is newly deprecated is so from today. */
function composed(
  former: string,
  subgraphs: readonly SubgraphEntry[],
  schemas: Readonly<Record<string, string>>,
  published: ReadonlyMap<string, { file: string; former: string | undefined }> = new Map(),
): GraphContent {
  const sources = subgraphs.map(({ name, url }) => ({
    name,
    url,
    sdl: schemas[name] ?? '',
    file: `the published schema of ${name}`,
    former: schemas[name],
    ...published.get(name),
  }));
  const supergraph = datedSdl(composeSupergraph(sources), new Date(), former);
  return { supergraph, subgraphs, schemas };
}

/**
 * A line for each fault: something is removed before its date, or what callers have is deprecated
 * for less time than promised.
 */
export function policyFaults(before: SurfaceSchemas, after: SurfaceSchemas, now: Date): string[] {
  const today = new Date(now).setUTCHours(0, 0, 0, 0);
  return SURFACE_NAMES.flatMap((surface) =>
    faultsOf(before[surface], after[surface], surface, today),
  );
}

function faultsOf(
  before: SurfaceSchemas[SurfaceName],
  after: SurfaceSchemas[SurfaceName],
  surface: SurfaceName,
  today: number,
): string[] {
  const faults: string[] = [];
  const earliest = monthsAfter(today, MONTHS_KEPT);
  const promised = deprecationsOf(before);
  const next = deprecationsOf(after);
  const remaining = elementsOf(after);
  for (const coordinate of elementsOf(before).keys()) {
    const former = promised.get(coordinate)?.until;
    const until = next.get(coordinate)?.until;
    const name = `${coordinate} (${surface})`;
    if (!remaining.has(coordinate)) {
      if (former !== undefined && former > today)
        faults.push(`${name} is kept until ${dayOf(former)}`);
    } else if (until !== undefined && until < Math.min(former ?? earliest, earliest))
      faults.push(`${name} must be kept until ${dayOf(Math.min(former ?? earliest, earliest))}`);
  }
  return faults;
}
