// The marks that erased members leave in a store: keyed hashes of IDs, which do not reveal them.
import { createHmac, randomBytes } from 'node:crypto';
import { type MaybePromise, mapMaybe } from '../../maybe.ts';
import { type Store, type Transaction, table, type View } from '../engine/store.ts';

const KEY_BYTES = 32;

/** By mark; times are in milliseconds since 1970. */
export const MARKS = table<{ erasedAt: number }>('marks', { group: 'mark' });
/** Has the random key that the marks are made with: they are useless without it. */
export const MARK_KEYS = table<{ key: string }>('markkeys');

export type Marks = Awaited<ReturnType<typeof openMarks>>;

/** Opens the marks of a store that was opened with their tables. */
export async function openMarks(store: Store) {
  const { key } =
    (await store.get(MARK_KEYS, ['key'])) ??
    (await store.transact((tx) => {
      const row = tx.get(MARK_KEYS, ['key']) ?? {
        key: randomBytes(KEY_BYTES).toString('base64url'),
      };
      tx.put(MARK_KEYS, ['key'], row);
      return row;
    }));
  const markFor = (id: string) => [markOf(key, id)];
  return {
    has: (id: string): MaybePromise<boolean> =>
      mapMaybe(store.get(MARKS, markFor(id)), (mark) => mark !== undefined),
    /** Those of the IDs that have a mark. */
    among(tx: View, ids: readonly string[]): Set<string> {
      const found = tx.getAll(MARKS, ids.map(markFor));
      return new Set(ids.filter((_, place) => found[place] !== undefined));
    },
    add(tx: Transaction, id: string): void {
      const mark = markFor(id);
      if (tx.get(MARKS, mark) === undefined) tx.put(MARKS, mark, { erasedAt: Date.now() });
    },
    /** Whether there was a mark. */
    remove(tx: Transaction, id: string): boolean {
      const mark = markFor(id);
      const isMarked = tx.get(MARKS, mark) !== undefined;
      if (isMarked) tx.remove(MARKS, mark);
      return isMarked;
    },
  };
}

/** HMAC-SHA256 of the ID. */
function markOf(key: string, memberId: string): string {
  return createHmac('sha256', key).update(memberId).digest('base64url');
}
