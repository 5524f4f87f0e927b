// What a subgraph was before: versions of the graph as a history of each subgraph.
import type { GraphVersionEntry } from '@partner-loyalty/gateway/graph/graph.ts';

/** A state of the subgraph, which a version has; `below` is what it replaced. */
type State = { version: number; below: State | undefined };

/**
 * The version that has what a rollback of the subgraph brings back; undefined if there is nothing
 * earlier. What was rolled back from is never brought back. The subgraph may be absent from it.
 * `versions` has the newest first.
 */
export function versionBefore(
  name: string,
  versions: readonly Pick<GraphVersionEntry, 'version' | 'change'>[],
): number | undefined {
  const states = new Map<number, State>();
  let state: State = { version: 0, below: undefined };
  for (const { version, change } of versions.toReversed()) {
    const [verb = '', subject = '', target] = change.split(' ');
    if (target !== undefined) {
      // The whole graph goes back, and its history with it.
      state = states.get(Number(target)) ?? { version, below: undefined };
    } else if (subject === name) {
      // Until its first change, it was as the first version has it.
      const former = state.version === 0 ? { version: version - 1, below: undefined } : state;
      state = verb === 'rollback' ? (former.below ?? former) : { version, below: former };
    }
    states.set(version, state);
  }
  return state.below?.version;
}

/** The subgraph that a change was made to; undefined if it was made to the whole graph. */
export function subgraphOf(change: string): string | undefined {
  const [, subject, target] = change.split(' ');
  return target === undefined ? subject : undefined;
}
