// What an environment says about its successor: a copy is being made, or it has taken its place.
import type { RootDatabase } from 'lmdb';
import type { Generation } from './place.ts';

export type Mark = {
  /** The generation that says it. A copy has the mark of its original, which means nothing. */
  from: Generation;
  to: Generation;
  /** When writes began to wait, in milliseconds since 1970. */
  since: number;
  /** Whether `to` is the store now. */
  isMoved: boolean;
};

const KEY = 'successor';

export function markOf(root: RootDatabase, generation: Generation): Mark | undefined {
  const mark: Mark | undefined = root.get(KEY);
  return mark?.from === generation ? mark : undefined;
}

/** Call it in a transaction. */
export function putMark(root: RootDatabase, mark: Mark): void {
  root.put(KEY, mark);
}

/** Call it in a transaction. */
export function removeMark(root: RootDatabase): void {
  root.remove(KEY);
}
