// The merging of members: one transaction counts everything for the one who stays.
import type { Store, Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { joinStandings } from '../rules/standing.ts';
import { MEMBERS, standingsIn, storedStandings } from './tables.ts';

/**
 * Why a merge does not begin: another one with one of the two has, a sum would leave Int, or one of
 * the two was erased.
 */
type MergeRefusal = 'shared' | 'out-of-range' | 'erased';

export function createMerges(store: Store, marks: Marks) {
  return {
    /**
     * Adds to each of the sums of `into` what `from` has with the same partner in the same year,
     * and shows the activities of both for `into`. What is recorded for `from` from now on counts
     * for `into`. For `from`, standings stay as they are until `finish`, and activities for ever.
     * It can be killed and repeated. Of merges that would make a chain, at most one begins. Beside
     * an erasure of one of the two, it is refused, or `idsOf` has both once `eraseMember` resolves.
     */
    begin: (from: string, into: string) => store.transact((tx) => begin(tx, marks, from, into)),
    /** Removes the standings of `from`, which nobody reads any more. It can be repeated. */
    finish: (from: string) =>
      store.transact((tx) => {
        const row = tx.get(MEMBERS, [from]);
        if (row?.into !== undefined) tx.put(MEMBERS, [from], { ...row, standings: [] });
      }),
    /** By the ID of each of the members that was merged, the ID of the one it is part of now. */
    currentIds: (memberIds: readonly string[]) =>
      store.view((tx) => {
        const keys = memberIds.map((memberId) => [memberId]);
        const rows = tx.peekAll(MEMBERS, keys);
        return new Map(
          memberIds.flatMap((id, place): [string, string][] => {
            const into = rows[place]?.into;
            return into === undefined ? [] : [[id, into]];
          }),
        );
      }),
    /** All IDs of the member with this one: first the current one, then those of merged members. */
    idsOf: async (memberId: string) =>
      store.view((tx) => {
        const row = tx.peek(MEMBERS, [memberId]);
        const current = row?.into ?? memberId;
        const merged = row?.into === undefined ? row?.merged : tx.peek(MEMBERS, [current])?.merged;
        return [current, ...(merged ?? [])];
      }),
    /** Forgets that members were merged. Only for erased ones. */
    forget: (memberIds: readonly string[]) =>
      store.transact((tx) => {
        for (const memberId of memberIds) tx.remove(MEMBERS, [memberId]);
      }),
  };
}

function begin(
  tx: Transaction,
  marks: Marks,
  from: string,
  into: string,
): MergeRefusal | undefined {
  const [theirs, own] = tx.getAll(MEMBERS, [[from], [into]]);
  if (marks.among(tx, [from, into]).size > 0) return 'erased';
  if (theirs?.into === into) return undefined;
  if (theirs?.into ?? own?.into ?? theirs?.merged) return 'shared';
  const sums = joinStandings([...standingsIn(own), ...standingsIn(theirs)]);
  if (sums === undefined) return 'out-of-range';
  const standings = storedStandings(sums);
  const changedAt = Math.max(own?.changedAt ?? 0, theirs?.changedAt ?? 0);
  tx.put(MEMBERS, [into], { standings, changedAt, merged: [...(own?.merged ?? []), from] });
  tx.put(MEMBERS, [from], { standings: [], ...theirs, into });
  return undefined;
}
