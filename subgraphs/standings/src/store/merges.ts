// The merging of members: one transaction counts everything for the one who stays.
import type { Store, Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { joinStandings } from '../rules/standing.ts';
import type { MergeRefusal, Merges } from './store.ts';
import { MEMBERS, standingsIn, storedStandings } from './tables.ts';

export function createMerges(store: Store, marks: Marks): Merges {
  return {
    begin: (from, into) => store.transact((tx) => begin(tx, marks, from, into)),
    finish: (from) =>
      store.transact((tx) => {
        const row = tx.get(MEMBERS, [from]);
        if (row?.into !== undefined) tx.put(MEMBERS, [from], { ...row, standings: [] });
      }),
    currentIds: (memberIds) =>
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
    idsOf: async (memberId) =>
      store.view((tx) => {
        const row = tx.peek(MEMBERS, [memberId]);
        const current = row?.into ?? memberId;
        const merged = row?.into === undefined ? row?.merged : tx.peek(MEMBERS, [current])?.merged;
        return [current, ...(merged ?? [])];
      }),
    forget: (memberIds) =>
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
