// Events that have no positions yet: rows of the transaction that makes them.
import { randomUUID } from 'node:crypto';
import { textOf } from '@partner-loyalty/runtime/store/engine/keys.ts';
import type { Store, Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { NewEvent } from '../rules/event.ts';
import { encodeChange } from './changes.ts';
import { BATCH_SIZE, blocksOf } from './feed.ts';
import { PENDING } from './tables.ts';

/**
 * Adds events of one time. `order` rises with each transaction of a process, so that those of one
 * millisecond keep their order; those of a member never have the same time.
 */
export function putPending(
  tx: Transaction,
  at: number,
  events: readonly NewEvent[],
  order: number,
): void {
  for (const [part, { partnerId, parts }] of blocksOf(events, () => 0).entries()) {
    const id = randomUUID();
    const row = { partnerId, count: parts.length, events: encodeChange(id, parts) };
    tx.put(PENDING, [at, order, part, id], row);
  }
}

/**
 * The keys of the oldest events, about BATCH_SIZE. What is not among them was made at `until` or
 * later. A read that takes a while may have the later of two rows without the earlier one, but then
 * the next read has both: so it takes what two have found, up to where they differ.
 */
export async function firstPending(store: Store) {
  const range = { prefix: [], limit: BATCH_SIZE };
  const seen = new Set((await store.range(PENDING, range)).map(({ key }) => textOf(key)));
  if (seen.size === 0) return { keys: [], until: Number.POSITIVE_INFINITY };
  const found = await store.range(PENDING, range);
  let left = BATCH_SIZE;
  const end = found.findIndex(({ key, row }) => {
    const isTaken = left > 0 && seen.has(textOf(key));
    left -= row.count;
    return !isTaken;
  });
  const keys = found.slice(0, end === -1 ? undefined : end).map(({ key }) => key);
  const isAll = end === -1 && found.length < BATCH_SIZE;
  const next = found[end] ?? found.at(-1);
  return { keys, until: isAll || !next ? Number.POSITIVE_INFINITY : Number(next.key[0]) };
}
