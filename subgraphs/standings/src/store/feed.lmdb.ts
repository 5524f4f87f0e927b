// The feed in LMDB, whose transactions move events from the outbox to their positions.
import { setImmediate as nextTick } from 'node:timers/promises';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import { type Event, type PendingEvent, withoutErased } from '../rules/event.ts';
import { mergeSources } from '../rules/eventorder.ts';
import { tierChangeOf } from '../rules/tierchange.ts';
import {
  BATCH_SIZE,
  type Batch,
  blocksOf,
  createPage,
  dayOf,
  type Feed,
  LEASE,
  LEASES,
  LeaseLost,
  lastIn,
  type PageQuery,
} from './feed.ts';
import {
  type BlockKey,
  decodeBlock,
  decodePending,
  type EventDayKey,
  encodeBlock,
  encodePending,
  programReader,
  putPending,
  type Tables,
} from './tables.lmdb.ts';

/** Of blocks, in a transaction or before other work has its turn. */
const CHUNK = 1_000;

export async function openLmdbFeed(tables: Tables): Promise<Feed> {
  const { root, programs, outbox, eventHeads, eventDays, eventState } = tables;
  // In a transaction, as the other databases: otherwise it may wait for one of this process.
  const leases = await root.transaction(() => lmdbTables(root)(LEASES));

  const write = async <T>(work: () => T): Promise<T> => {
    const result = await root.transaction(work);
    await root.flushed;
    return result;
  };

  return {
    leases,
    async append(batch) {
      const isIdle = outbox.getKeysCount({ limit: 1 }) === 0 && batch.members.events.length === 0;
      if (isIdle) return { taken: 0, hasMore: false };
      return write(() => {
        // Whoever took the lease may have given positions to these events of members already. The
        // row is read in this transaction, and at once.
        const lease = leases.get(LEASE);
        if (lease === undefined || lease instanceof Promise || lease.token !== batch.token)
          throw new LeaseLost();
        return append(tables, batch);
      });
    },
    page: (partnerId, query) => pageOf(tables, partnerId, query),
    async *ofMember(memberId) {
      for await (const keys of blocksWith(tables, memberId))
        for (const key of keys) {
          const value = tables.events.get(key);
          const found = value === undefined ? [] : decodeBlock(key, value);
          yield* found.filter((event) => event.memberId === memberId);
        }
    },
    async dropBefore(day) {
      for (;;) {
        const [key] = eventDays.getKeys({ end: [day] as unknown as EventDayKey, limit: 1 });
        if (key === undefined) return;
        await write(() => dropSome(tables, key));
      }
    },
    yearsUntil: () => yearsUntil(tables),
    endYears: (events, since, until) =>
      write(() => {
        if (yearsUntil(tables) !== since) return;
        putPending(tables, events);
        eventState.put('years', until);
      }),
    async partners() {
      const found = new Map([...eventHeads.getKeys()].map((id) => [id, programs.get(id)]));
      for (const { key, value } of programs.getRange()) found.set(key, value);
      return found;
    },
  };
}

/** Call it in a transaction. The writes come last, so that an error leaves nothing behind. */
function append(tables: Tables, { members, ownUntil, at }: Batch) {
  const { outbox, events, eventHeads, eventDays, eventState, marks } = tables;
  const programOf = programReader(tables);
  const entries = outbox.getRange({ limit: BATCH_SIZE });
  const own: { key: number; events: PendingEvent[] }[] = [];
  let count = 0;
  for (const { key, value } of entries) {
    own.push({ key, events: value.map(decodePending) });
    count += value.length;
    if (count >= BATCH_SIZE) break;
  }
  const ownEvents = own.flatMap((entry) => entry.events);
  const isAll = outbox.getKeysCount({ limit: own.length + 1 }) === own.length;
  const until = isAll ? Number.POSITIVE_INFINITY : (ownEvents.at(-1)?.occurredAt ?? 0);
  const merged = mergeSources(members, { events: ownEvents, until }, ownUntil);
  const known = new Set([eventState.get('members') ?? []].flat());
  const hasMarks = !marks.isEmpty();
  const added = merged.events.flatMap((pending): Event[] => {
    if (known.has(pending.id)) return [];
    const { partnerId, memberId } = pending;
    const isErased = hasMarks && memberId !== undefined && marks.has(memberId);
    const event = isErased ? withoutErased(pending) : pending;
    return [event, ...[tierChangeOf(pending, programOf(partnerId)) ?? []].flat()];
  });
  const today = dayOf(at);
  const blocks = blocksOf(added, (partnerId) => eventHeads.get(partnerId)?.[0] ?? 0);
  for (const block of blocks) {
    const { partnerId, first } = block;
    events.put([partnerId, first], encodeBlock(block.events));
    // The clock may have been set back.
    const day = Math.max(today, eventHeads.get(partnerId)?.[1] ?? today);
    eventHeads.put(partnerId, [lastIn(block), day]);
    eventDays.put([day, partnerId], lastIn(block));
  }
  if (merged.members > 0)
    eventState.put(
      'members',
      members.events.slice(0, merged.members).map(({ id }) => id),
    );
  takeOut(tables, own, merged.own);
  return { taken: merged.members, hasMore: !isAll };
}

function yearsUntil({ eventState }: Tables): number | undefined {
  return eventState.get('years') as number | undefined; // Cast: under this key it is a number.
}

/** Takes the first `count` events out of the outbox. */
function takeOut(
  { outbox }: Tables,
  entries: readonly { key: number; events: PendingEvent[] }[],
  count: number,
): void {
  let left = count;
  for (const { key, events } of entries) {
    if (left >= events.length) outbox.remove(key);
    else if (left > 0) outbox.put(key, events.slice(left).map(encodePending));
    left = Math.max(0, left - events.length);
  }
}

function pageOf(tables: Tables, partnerId: string, query: PageQuery) {
  const { events, eventHeads } = tables;
  const page = createPage(query, eventHeads.get(partnerId)?.[0] ?? 0);
  const end: BlockKey = [partnerId, Number.MAX_VALUE];
  const first = (query.after ?? -1) + 1;
  // The position may be within a block.
  const [start = [partnerId, first] satisfies BlockKey] = events.getKeys({
    start: [partnerId, first],
    end: [partnerId, -1],
    reverse: true,
    limit: 1,
  });
  for (const { key, value } of events.getRange({ start, end }))
    if (!page.add({ first: key[1], events: decodeBlock(key, value) })) break;
  return page.done();
}

/** Drops the oldest blocks of a partner that got their positions on a day, or earlier. */
function dropSome({ events, eventDays }: Tables, day: EventDayKey): void {
  const [, partnerId] = day;
  const range = {
    start: [partnerId, 0] as BlockKey,
    end: [partnerId, (eventDays.get(day) ?? 0) + 1] as BlockKey,
  };
  const keys = [...events.getKeys({ ...range, limit: CHUNK })];
  for (const key of keys) events.remove(key);
  if (keys.length < CHUNK) eventDays.remove(day);
}

/**
 * Takes the other IDs out of an erased member's events, positioned or not. The member's mark is
 * set, so that those to come have none either.
 */
export async function eraseEvents(tables: Tables, memberId: string): Promise<void> {
  const { root, outbox, events } = tables;
  const without = <E extends Event>(list: readonly E[]) =>
    list.map((event) => (event.memberId === memberId ? withoutErased(event) : event));
  await root.transaction(() => {
    for (const { key, value } of [...outbox.getRange()]) {
      const pending = value.map(decodePending);
      if (pending.some((event) => event.memberId === memberId))
        outbox.put(key, without(pending).map(encodePending));
    }
  });
  for await (const keys of blocksWith(tables, memberId))
    await root.transaction(() => {
      for (const key of keys) {
        const value = events.get(key);
        if (value !== undefined) events.put(key, encodeBlock(without(decodeBlock(key, value))));
      }
    });
}

/**
 * The blocks that name a member, some at a time. No index has the members of events, which would
 * cost each of them a write. The text is found much faster than each block is parsed.
 */
async function* blocksWith({ events }: Tables, memberId: string): AsyncGenerator<BlockKey[]> {
  const text = JSON.stringify(memberId);
  for (let start: BlockKey | undefined = ['', 0]; start !== undefined; ) {
    const chunk: { key: BlockKey; isFound: boolean }[] = Array.from(
      events.getRange({ start, limit: CHUNK + 1 }),
      ({ key, value }) => {
        return { key, isFound: value.includes(text) };
      },
    );
    start = chunk.length > CHUNK ? chunk.pop()?.key : undefined;
    const keys = chunk.flatMap(({ key, isFound }) => (isFound ? [key] : []));
    if (keys.length > 0) yield keys;
    await nextTick();
  }
}
