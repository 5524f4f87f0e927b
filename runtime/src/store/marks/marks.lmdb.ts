// The marks of erased members in an embedded store, for use in that store's own transactions.
import type { RootDatabase } from 'lmdb';
import { markOf, newMarkKey } from './mark.ts';

export type LmdbMarks = ReturnType<typeof openLmdbMarks>;

/** The name, in the root database, of the key that the marks are made with. */
const KEY = 'markKey';

/** Opens the marks of a store. Call it in a transaction, as other databases are opened. */
export function openLmdbMarks(root: RootDatabase) {
  const marks = root.openDB<number, string>({ name: 'marks' });
  const known = (memberId: string): string | undefined => {
    const key: string | undefined = root.get(KEY);
    return key && markOf(key, memberId);
  };
  const has = (mark: string | undefined) => mark !== undefined && marks.doesExist(mark);
  return {
    isEmpty: () => marks.getKeysCount({ limit: 1 }) === 0,
    has: (memberId: string) => has(known(memberId)),
    /** Call it in a transaction. */
    add(memberId: string, at: Date): void {
      const key: string = root.get(KEY) ?? newMarkKey();
      root.put(KEY, key);
      const mark = markOf(key, memberId);
      if (!marks.doesExist(mark)) marks.put(mark, at.getTime());
    },
    /** Whether there was a mark. Call it in a transaction. */
    remove(memberId: string): boolean {
      const mark = known(memberId);
      if (mark === undefined || !marks.doesExist(mark)) return false;
      marks.remove(mark);
      return true;
    },
  };
}
