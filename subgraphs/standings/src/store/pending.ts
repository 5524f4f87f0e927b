// Events that have no positions yet: rows of the transaction that makes them.
import { randomUUID } from 'node:crypto';
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
 * later.
 */
export async function firstPending(store: Store) {
  const found = await store.range(PENDING, { prefix: [], limit: BATCH_SIZE, snapshot: true });
  let left = BATCH_SIZE;
  const end = found.findIndex(({ row }) => {
    const isTaken = left > 0;
    left -= row.count;
    return !isTaken;
  });
  const keys = found.slice(0, end === -1 ? undefined : end).map(({ key }) => key);
  const isAll = end === -1 && found.length < BATCH_SIZE;
  const next = found[end] ?? found.at(-1);
  return { keys, until: isAll || !next ? Number.POSITIVE_INFINITY : Number(next.key[0]) };
}
