// The feed in LMDB, whose transactions move events from the outbox to their positions.
import { setImmediate as nextTick } from 'node:timers/promises';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import { withoutErased } from '../rules/event.ts';
import { mergeSources, type Source } from '../rules/eventorder.ts';
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
  type PageQuery,
} from './feed.ts';
import {
  type BlockKey,
  type ChangeKey,
  decodeBlock,
  type EventDayKey,
  encodeChange,
  joinChanges,
  NO_VALUE,
  putPending,
  type Tables,
  withoutIdsOf,
} from './tables.lmdb.ts';

/** How many blocks a transaction has, or are read before the next event loop tick. */
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
      if (isIdle) return { taken: 0, isChanged: false, hasMore: false };
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
    last: (partnerId) => eventHeads.get(partnerId)?.[0] ?? 0,
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
        for (const event of events) putPending(tables, event.occurredAt, [event]);
        eventState.put('years', until);
      }),
    async partners() {
      const found = new Map([...eventHeads.getKeys()].map((id) => [id, programs.get(id)]));
      for (const { key, value } of programs.getRange()) found.set(key, value);
      return found;
    },
  };
}

/** Events with one position after the other, as they are stored. */
type Change = { partnerId: string; occurredAt: number; count: number; text: Buffer };

/** Call it in a transaction. The writes come last, so that an error leaves nothing behind. */
function append(tables: Tables, { members, ownUntil, at }: Batch) {
  const { outbox, events, eventHeads, eventDays, eventState, marks } = tables;
  const own = firstIn(tables);
  const merged = mergeSources(members, own, ownUntil);
  const known = new Set([eventState.get('members') ?? []].flat());
  const hasMarks = !marks.isEmpty();
  const added = merged.events.flatMap((one): Change | [] => {
    if ('text' in one) return one;
    const { id, partnerId, occurredAt, memberId } = one;
    if (known.has(id)) return [];
    const isErased = hasMarks && memberId !== undefined && marks.has(memberId);
    const text = encodeChange(id, [isErased ? withoutErased(one) : one]);
    return { partnerId, occurredAt, count: 1, text };
  });
  const today = dayOf(at);
  for (const block of blocksOf(added, (partnerId) => eventHeads.get(partnerId)?.[0] ?? 0)) {
    const { partnerId, first, last, parts } = block;
    events.put([partnerId, first], joinChanges(parts.map(({ text }) => text)));
    // The clock may have been set back.
    const day = Math.max(today, eventHeads.get(partnerId)?.[1] ?? today);
    eventHeads.put(partnerId, [last, day]);
    eventDays.put([day, partnerId], last);
  }
  // Events of an earlier pass that members still has are not acknowledged, though they wait here.
  if (merged.members > 0)
    eventState.put(
      'members',
      members.events
        .filter(({ id }, index) => index < merged.members || known.has(id))
        .map(({ id }) => id),
    );
  for (const { key } of own.events.slice(0, merged.own)) outbox.remove(key);
  return {
    taken: merged.members,
    isChanged: added.length > 0,
    hasMore: own.until < Number.POSITIVE_INFINITY,
  };
}

/** The oldest changes of the outbox. */
function firstIn({ outbox }: Tables): Source<Change & { key: ChangeKey }> {
  const events: (Change & { key: ChangeKey })[] = [];
  let left = BATCH_SIZE;
  for (const { key, value } of outbox.getRange()) {
    const [, partnerId, occurredAt, count] = key;
    if (left <= 0) return { events, until: events.at(-1)?.occurredAt ?? 0 };
    events.push({ key, partnerId, occurredAt, count, text: value });
    left -= count;
  }
  return { events, until: Number.POSITIVE_INFINITY };
}

function yearsUntil({ eventState }: Tables): number | undefined {
  return eventState.get('years') as number | undefined; // Cast: under this key it is a number.
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
  await root.transaction(() => {
    for (const { key, value } of [...outbox.getRange()]) {
      const erased = withoutIdsOf(memberId, value);
      if (erased !== undefined) outbox.put(key, erased);
    }
  });
  for await (const keys of blocksWith(tables, memberId))
    await root.transaction(() => {
      for (const key of keys) {
        const erased = withoutIdsOf(memberId, events.get(key) ?? NO_VALUE);
        if (erased !== undefined) events.put(key, erased);
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
