// The feed in its store: one transaction moves events to their positions.
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import type { Entry, Store, Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import { withoutErased } from '../rules/event.ts';
import { mergeSources } from '../rules/eventorder.ts';
import type { Program } from '../rules/program.ts';
import { decodeChanges, encodeChange, mayName, withoutIdsOf } from './changes.ts';
import {
  type Batch,
  blocksOf,
  createPage,
  dayOf,
  type Feed,
  LEASE,
  LEASES,
  LeaseLost,
  type PageQuery,
} from './feed.ts';
import { firstPending, putPending } from './pending.ts';
import {
  DAYS,
  EVENTS,
  HEADS,
  LEASE_ROWS,
  ONLY,
  PENDING,
  PROGRAMS,
  SEQUENCER,
  SLICE,
  YEARS,
} from './tables.ts';

/** How many blocks of a page are read at first, and then at once: a block can fill a page. */
const FIRST_BLOCKS = 4;
const MORE_BLOCKS = 50;

export async function openFeed(store: Store, marks: Marks): Promise<Feed> {
  return {
    leases: await tablesIn(store)(LEASES),
    append: (batch) => append(store, marks, batch),
    page: (partnerId, query) => pageOf(store, partnerId, query),
    last: (partnerId) => mapMaybe(store.get(HEADS, [partnerId]), (head) => head?.last ?? 0),
    async *ofMember(memberId) {
      for await (const page of blocksWith(store, EVENTS, memberId))
        for (const { key, row } of page)
          yield* decodeChanges(String(key[0]), row.events).filter(
            (event) => event.memberId === memberId,
          );
    },
    async dropBefore(day) {
      for (;;) {
        const [oldest] = await store.range(DAYS, { prefix: [], until: [day], limit: 1 });
        if (oldest === undefined) return;
        await dropSome(store, oldest);
      }
    },
    yearsUntil: () => mapMaybe(store.get(YEARS, ONLY), (row) => row?.until),
    endYears: (events, since, until) =>
      store.transact((tx) => {
        if (tx.get(YEARS, ONLY)?.until !== since) return;
        for (const [order, event] of events.entries())
          putPending(tx, event.occurredAt, [event], order);
        tx.put(YEARS, ONLY, { until });
      }),
    async partners() {
      const found = new Map<string, Program | undefined>();
      for await (const page of pagesOf(store, HEADS))
        for (const { key } of page) found.set(String(key[0]), undefined);
      for await (const page of pagesOf(store, PROGRAMS))
        for (const { key, row } of page) found.set(String(key[0]), row);
      return found;
    },
  };
}

/** Events with one position after the other, as they are stored. */
type Change = { partnerId: string; occurredAt: number; count: number; events: string };

async function append(store: Store, marks: Marks, batch: Batch) {
  const { events } = batch.members;
  const memberIds = [...new Set(events.flatMap(({ memberId }) => memberId ?? []))];
  for (;;) {
    const own = await firstPending(store);
    if (own.keys.length + events.length === 0 && own.until === Number.POSITIVE_INFINITY)
      return { taken: 0, isChanged: false, hasMore: false };
    const known = await store.view((tx) => ({
      erasures: tx.peek(SEQUENCER, ONLY)?.erasures ?? 0,
      erased: marks.among(tx, memberIds),
    }));
    const reads = [
      { table: LEASE_ROWS, keys: [[LEASE]] },
      { table: SEQUENCER, keys: [ONLY] },
      { table: PENDING, keys: own.keys },
    ];
    const appended = await store.transact((tx) => giveAll(tx, batch, own, known), reads);
    if (appended !== undefined) return appended;
  }
}

/** Does nothing if a member was erased since `erased` was read. */
function giveAll(
  tx: Transaction,
  { members, ownUntil, token, at }: Batch,
  { keys, until }: { keys: readonly Key[]; until: number },
  { erasures, erased }: { erasures: number; erased: ReadonlySet<string> },
) {
  // Whoever took the lease may have given positions to these events already.
  if (tx.get(LEASE_ROWS, [LEASE])?.token !== token) throw new LeaseLost();
  const state = tx.get(SEQUENCER, ONLY) ?? { taken: [], erasures: 0 };
  if (state.erasures !== erasures) return undefined;
  const rows = tx.peekAll(PENDING, keys);
  const pending = keys.flatMap((key, place) => {
    const row = rows[place];
    return row === undefined ? [] : { ...row, key, occurredAt: Number(key[0]) };
  });
  const merged = mergeSources(members, { events: pending, until }, ownUntil);
  const known = new Set(state.taken);
  const added = merged.events.flatMap((one): Change | [] => {
    if ('events' in one) return one;
    const { id, partnerId, occurredAt, memberId } = one;
    if (known.has(id)) return [];
    const isErased = memberId !== undefined && erased.has(memberId);
    const events = encodeChange(id, [isErased ? withoutErased(one) : one]);
    return { partnerId, occurredAt, count: 1, events };
  });
  for (const { key } of pending.slice(0, merged.own)) {
    // Conflicts with an erasure that rewrites it.
    tx.get(PENDING, key);
    tx.remove(PENDING, key);
  }
  putBlocks(tx, added, dayOf(at));
  // Events of an earlier pass that members still has are not acknowledged, though they wait here.
  const taken = members.events
    .filter(({ id }, index) => index < merged.members || known.has(id))
    .map(({ id }) => id);
  tx.put(SEQUENCER, ONLY, { erasures, taken: merged.members > 0 ? taken : state.taken });
  const hasMore = until < Number.POSITIVE_INFINITY;
  return { taken: merged.members, isChanged: added.length > 0, hasMore };
}

function putBlocks(tx: Transaction, added: readonly Change[], today: number): void {
  const partnerIds = [...new Set(added.map(({ partnerId }) => partnerId))];
  const found = tx.getAll(
    HEADS,
    partnerIds.map((partnerId) => [partnerId]),
  );
  const heads = new Map(partnerIds.map((partnerId, place) => [partnerId, found[place]]));
  for (const block of blocksOf(added, (partnerId) => heads.get(partnerId)?.last ?? 0)) {
    const { partnerId, first, last, parts } = block;
    tx.put(EVENTS, [partnerId, first], { events: parts.map(({ events }) => events).join() });
    // The clock may have been set back.
    const day = Math.max(today, heads.get(partnerId)?.day ?? today);
    tx.put(HEADS, [partnerId], { last, day });
    tx.put(DAYS, [day, partnerId], { last });
  }
}

function pageOf(store: Store, partnerId: string, query: PageQuery) {
  const next = (query.after ?? 0) + 1;
  return mapMaybe(store.get(HEADS, [partnerId]), (head) => {
    const last = head?.last ?? 0;
    const page = createPage(query, last);
    if (last < next) return page.done();
    const addFrom = (from: Key, limit: number): MaybePromise<ReturnType<typeof page.done>> =>
      mapMaybe(store.range(EVENTS, { prefix: [partnerId], from, limit }), (blocks) => {
        for (const { key, row } of blocks) {
          const events = decodeChanges(partnerId, row.events);
          if (!page.add({ first: Number(key[1]), events })) return page.done();
        }
        const end = blocks.at(-1);
        if (end === undefined || blocks.length < limit) return page.done();
        return addFrom([partnerId, Number(end.key[1]) + 1], MORE_BLOCKS);
      });
    // The position may be within a block.
    const upTo = { prefix: [partnerId], until: [partnerId, next + 1], limit: 1, reverse: true };
    return mapMaybe(store.range(EVENTS, upTo), ([containing]) =>
      addFrom(containing?.key ?? [partnerId, next], FIRST_BLOCKS),
    );
  });
}

/** Drops the oldest blocks of a partner that got their positions on a day, or earlier. */
async function dropSome(store: Store, { key: dayKey, row }: Entry<{ last: number }>) {
  const [, partnerId = ''] = dayKey;
  const range = { prefix: [partnerId], until: [partnerId, row.last + 1], limit: SLICE };
  const blocks = await store.range(EVENTS, range);
  await store.transact((tx) => {
    for (const { key } of blocks) tx.remove(EVENTS, key);
    if (blocks.length < SLICE) tx.remove(DAYS, dayKey);
  });
}

/**
 * Takes the other IDs out of an erased member's events, first out of those that have no positions,
 * which the sequencer moves meanwhile. The member's mark is set, so that those to come have none.
 */
export async function eraseEvents(store: Store, memberId: string): Promise<void> {
  for (const table of [PENDING, EVENTS])
    for await (const found of blocksWith(store, table, memberId))
      await store.transact((tx) => {
        const keys = found.map(({ key }) => key);
        const rows = tx.peekAll<{ events: string }>(table, keys);
        for (const [place, key] of keys.entries()) {
          if (rows[place] === undefined) continue;
          const row = tx.get<{ events: string }>(table, key) ?? rows[place];
          tx.put(table, key, { ...row, events: withoutIdsOf(memberId, row.events) });
        }
      });
}

/**
 * The blocks that name a member, some at a time. No table has the members of events, which would
 * cost each of them a row.
 */
async function* blocksWith(store: Store, table: typeof PENDING | typeof EVENTS, memberId: string) {
  for await (const page of pagesOf<{ events: string }>(store, table, { prefix: [] }, SLICE)) {
    const found = page.filter(({ row }) => mayName(row.events, memberId));
    if (found.length > 0) yield found;
  }
}
