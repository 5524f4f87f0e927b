// What a change of the graph does to callers, and to what is not the publisher's own.
import type { GraphContent } from '../graph/content.ts';
import type { SubgraphEntry, VersionChange } from '../graph/graph.ts';
import type { Need } from '../graph/tables.ts';
import type { SurfaceChange } from './changes.ts';

export type Step =
  /** To publish or to check a schema; `file` names it in faults. */
  | { kind: 'subgraph'; before: GraphContent; entry: SubgraphEntry; sdl: string; file: string }
  | { kind: 'removal'; before: GraphContent; name: string }
  /** To go back to another version. */
  | { kind: 'content'; before: GraphContent; after: GraphContent };

/** Something to know about a schema, which refuses nothing. */
export type Notice = { level: 'notice'; coordinate?: string; message: string };

export type Assessment = {
  after: GraphContent;
  changes: SurfaceChange[];
  /** What the deprecation policy forbids. */
  policyFaults: string[];
  /** The lines in the changelogs. */
  lines: VersionChange[];
  /** The subgraph that would be the identity provider in place of another one. */
  newProvider?: string | undefined;
  needs: Need[];
  notices: Notice[];
};

/** `publisher` is the subgraph of the token. Rejects with a CompositionError or TooLargeError. */
export async function assess(step: Step, _publisher?: string): Promise<Assessment> {
  const { newProvider, withoutSubgraph, withSubgraph } = await import('./content.ts');
  const { surfaceChanges, surfaceSchemas, versionChanges } = await import('./changes.ts');
  const { policyFaults } = await import('./policy.ts');
  const { before } = step;
  const after =
    step.kind === 'content'
      ? step.after
      : step.kind === 'removal'
        ? withoutSubgraph(before, step.name)
        : withSubgraph(before, step.entry, step);
  const [former, next] = [surfaceSchemas(before.supergraph), surfaceSchemas(after.supergraph)];
  const changes = await surfaceChanges(former, next);
  return {
    after,
    changes,
    policyFaults: policyFaults(former, next, new Date()),
    lines: versionChanges(changes, next),
    newProvider: newProvider(before, after),
    needs: step.kind === 'subgraph' ? [...takenFields(step), ...newUrl(step)] : [],
    notices: [],
  };
}

type Publication = Extract<Step, { kind: 'subgraph' }>;

function newUrl({ before, entry: { name, url } }: Publication): Need[] {
  const former = before.subgraphs.find((each) => each.name === name)?.url;
  if (former === undefined || url === undefined) return [];
  const [from, to] = [new URL(former).origin, new URL(url).origin];
  if (from === to) return [];
  return [{ rule: 'url', what: `${name} would be at ${to} instead of ${from}`, losing: [] }];
}

function takenFields({ before, entry: { name }, sdl }: Publication): Need[] {
  const known = before.schemas[name] ?? '';
  return sdl.split('\n').flatMap((line): Need[] => {
    const [field = '', from] = line.split('@override(from: "');
    if (from === undefined || known.includes(line)) return [];
    const losing = from.slice(0, from.indexOf('"'));
    const what = `${field.trim()} would be resolved by ${name} instead of ${losing}`;
    return [{ rule: 'resolves', what, losing: [losing] }];
  });
}
