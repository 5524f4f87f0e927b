// Merges members, on any engine.
import {
  claimMerge,
  type MergedPair,
  type MergeState,
  mergeStateOf,
  releaseMerge,
} from '../rules/merge.ts';
import type { ApplyRule } from './engine.ts';
import { stampIfLate } from './late.ts';

export type MergeStore = ReturnType<typeof createMergeStore>;

/**
 * The steps of a merge, each of which can be repeated. `complete` makes one record of two as it is
 * described at `switchOver`, in the engine.
 */
export function createMergeStore(
  apply: ApplyRule,
  switchOver: (pair: MergedPair) => Promise<void>,
) {
  const both = <T>(pair: MergedPair, rule: Parameters<typeof apply<T>>[2]) =>
    apply([pair.from, pair.into], [], rule);
  return {
    /** What would become of merging these two. */
    state: (pair: MergedPair) => both(pair, (records) => mergeStateOf(records, pair)),
    /** Makes sure that the two can only be merged with each other. `begun` if so. */
    async begin(pair: MergedPair): Promise<MergeState> {
      for (let marks = 0; marks < 2; marks += 1) {
        const state = await both(pair, (records) => claimMerge(records, pair));
        if (state === 'ready') continue;
        if (state !== 'begun' && state !== 'merged') await this.release(pair);
        return state;
      }
      return 'begun';
    },
    /** Takes `begin` back. */
    release: (pair: MergedPair) => both(pair, (records) => releaseMerge(records, pair)),
    /**
     * Gives the member who stays all that the other one has. From one moment on, the latter is only
     * found as the former; until then, as before.
     */
    async complete(pair: MergedPair): Promise<void> {
      const since = Date.now();
      await switchOver(pair);
      await stampIfLate(apply, [pair.into], since);
    },
  };
}
