// The feed on MongoDB, where an event stays in its outbox for a moment after the feed has it.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { MongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { isDuplicate } from '@partner-loyalty/runtime/store/mongo.ts';
import { onePage, oneResponse, walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { mongoTables } from '@partner-loyalty/runtime/store/table.mongo.ts';
import type { Db } from 'mongodb';
import { ERASED_FIELDS, type Event, type PendingEvent } from '../rules/event.ts';
import { mergeSources } from '../rules/eventorder.ts';
import type { Program } from '../rules/program.ts';
import { tierChangeOf } from '../rules/tiers.ts';
import type { BlockDocument, Collections } from './collections.mongo.ts';
import {
  BATCH_SIZE,
  type Batch,
  blocksOf,
  createPage,
  dayOf,
  type Feed,
  LEASES,
  lastIn,
  maxSeenOf,
  type PageQuery,
} from './feed.ts';
import { otherYearsOf } from './otheryear.mongo.ts';
import { readPending, removePending } from './outbox.mongo.ts';

type Store = {
  collections: Collections;
  marks: MongoMarks;
  program(partnerId: string): Promise<Program | undefined> | Program | undefined;
};

const YEARS = 'years';
const ATTEMPTS = 10;
/** How many documents are read or deleted at once. */
const CHUNK = 1_000;
const PAGE_BLOCKS = 50;

export async function openMongoFeed(db: Db, store: Store): Promise<Feed> {
  const { collections } = store;
  const open = mongoTables(db);
  return {
    leases: await open(LEASES),
    append: (batch) => append(store, batch),
    page: (partnerId, query) => pageOf(collections, partnerId, query),
    last: async (partnerId) =>
      (await collections.eventHeads.findOne({ _id: partnerId }))?.last ?? 0,
    async *ofMember(memberId) {
      const options = { sort: { _id: 1 }, batchSize: PAGE_BLOCKS } as const;
      for await (const block of collections.events.find({ 'events.memberId': memberId }, options))
        for (const event of block.events)
          if (event.memberId === memberId) yield { ...event, partnerId: block.partnerId };
    },
    async dropBefore(day) {
      const { events } = collections;
      const options = { sort: { day: 1, _id: 1 }, projection: { _id: 1 } } as const;
      for (;;) {
        const old = await events
          .find({ day: { $lt: day } }, { ...options, ...onePage(CHUNK) })
          .toArray();
        if (old.length === 0) return;
        await events.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
      }
    },
    yearsUntil: async () => (await collections.eventState.findOne({ _id: YEARS }))?.until,
    async endYears(events, _, until) {
      const { outbox, eventState } = collections;
      const [first] = events;
      // If it stops in between, these events come again, with the same IDs.
      if (first !== undefined)
        await outbox.insertOne({
          _id: `${YEARS}\0${randomUUID()}`,
          outbox: [...events],
          pendingAt: first.occurredAt,
        });
      await eventState.updateOne({ _id: YEARS }, { $max: { until } }, { upsert: true });
    },
    async partners() {
      const found = new Map<string, Program | undefined>();
      for await (const { _id } of walk(collections.eventHeads)) found.set(_id, undefined);
      for await (const { _id, ...program } of walk(collections.changedPrograms))
        found.set(_id, program);
      return found;
    },
  };
}

async function append(store: Store, { members, ownUntil, at }: Batch) {
  const { collections } = store;
  const own = await readPending(collections, BATCH_SIZE);
  const merged = mergeSources<PendingEvent, PendingEvent>(members, own, ownUntil);
  if (merged.events.length > 0) {
    await addBlocks(collections, await sequenced(store, merged.events), dayOf(at));
    await eraseMarked(store, merged.events);
  }
  const taken = new Set(own.events.slice(0, merged.own).map(({ id }) => id));
  await removePending(collections, own.entries, taken);
  const isChanged = merged.events.length > 0;
  return { taken: merged.members, isChanged, hasMore: own.until < Number.POSITIVE_INFINITY };
}

/**
 * An event and what follows from it. They are in one block: whoever finds the first one in the feed
 * knows that nothing is to follow. A later attempt may come to another result.
 */
type Change = { id: string; partnerId: string; count: number; events: Event[] };

/** The changes of the feed: each once. */
async function sequenced(store: Store, pending: readonly PendingEvent[]): Promise<Change[]> {
  const partnerIds = [...new Set(pending.map(({ partnerId }) => partnerId))];
  const programs = new Map(
    await Promise.all(partnerIds.map(async (id) => [id, await store.program(id)] as const)),
  );
  const otherYears = await otherYearsOf(store.collections, pending, programs);
  const changes = new Map<string, Change>();
  for (const { yearPoints, ...event } of pending) {
    const { id, partnerId } = event;
    const tierChange =
      yearPoints &&
      tierChangeOf(event, yearPoints, programs.get(partnerId), () => otherYears.get(id));
    const events = tierChange ? [event, { id: `${id}-tier`, ...tierChange }] : [event];
    changes.set(id, { id, partnerId, count: events.length, events });
  }
  return [...changes.values()];
}

/**
 * Adds the changes that the feed lacks. A block's ID is its first position, so of two processes one
 * fails, and starts over. It read the last positions before it looked for the events: one that was
 * added since is at a position that it wants to use.
 */
async function addBlocks(
  collections: Collections,
  all: readonly Change[],
  today: number,
): Promise<void> {
  const partnerIds = [...new Set(all.map(({ partnerId }) => partnerId))];
  for (let attempt = 1; ; attempt += 1) {
    const heads = await readHeads(collections, partnerIds, attempt > 1);
    const known = await knownAmong(collections, all, heads);
    const fresh = all.filter(({ id }) => !known.has(id));
    const lastOf = (partnerId: string) => heads.get(partnerId)?.last ?? 0;
    const blocks = blocksOf(fresh, lastOf).map(({ partnerId, first, parts }): BlockDocument => {
      // The clock may have been set back.
      const day = Math.max(today, heads.get(partnerId)?.day ?? today);
      const events = parts.flatMap((part) => part.events.map(withoutPartner));
      return { _id: blockId(partnerId, first), partnerId, first, day, events };
    });
    try {
      // In their order, so that no block of a partner is missing before another.
      if (blocks.length > 0) await collections.events.insertMany(blocks);
    } catch (error) {
      if (attempt === ATTEMPTS || !isDuplicate(error)) throw error;
      await pause(Math.random() * 2 ** attempt);
      continue;
    }
    for (const block of blocks) raise(heads, block);
    // Readers see what is up to there.
    await collections.eventHeads.bulkWrite(
      Array.from(heads, ([_id, { last, day }]) => ({
        updateOne: { filter: { _id }, update: { $max: { last, day } }, upsert: true },
      })),
      { ordered: false },
    );
    return;
  }
}

/** The block says whose it is. */
function withoutPartner({ partnerId, ...event }: Event): BlockDocument['events'][number] {
  return event;
}

type Heads = Map<string, { last: number; day: number }>;

/** With `isLate`, the blocks count that a process has added without saying so in the heads. */
async function readHeads(
  { eventHeads, events }: Collections,
  partnerIds: string[],
  isLate: boolean,
): Promise<Heads> {
  const ids = { _id: { $in: partnerIds } };
  const found = await eventHeads.find(ids, oneResponse(partnerIds.length)).toArray();
  const heads: Heads = new Map(found.map(({ _id, last, day }) => [_id, { last, day }]));
  if (!isLate) return heads;
  await Promise.all(
    partnerIds.map(async (partnerId) => {
      const last = await events.findOne(
        { _id: { $gt: blockId(partnerId, 0), $lt: `${partnerId}\u0001` } },
        { sort: { _id: -1 } },
      );
      if (last !== null) raise(heads, last);
    }),
  );
  return heads;
}

/** The events among these that the feed has. Raises the heads to the blocks that have them. */
async function knownAmong(
  { events }: Collections,
  all: readonly Change[],
  heads: Heads,
): Promise<ReadonlySet<string>> {
  const ids = all.map(({ id }) => id);
  const blocks = await events
    .find({ 'events.id': { $in: ids } }, oneResponse(ids.length))
    .toArray();
  for (const block of blocks) raise(heads, block);
  return new Set(blocks.flatMap((block) => block.events.map(({ id }) => id)));
}

function raise(heads: Heads, block: BlockDocument): void {
  const { last = 0, day = 0 } = heads.get(block.partnerId) ?? {};
  heads.set(block.partnerId, {
    last: Math.max(last, lastIn(block)),
    day: Math.max(day, block.day),
  });
}

/** A member who was erased meanwhile loses what an erasure takes out of his events. */
async function eraseMarked({ collections, marks }: Store, added: readonly Event[]): Promise<void> {
  const memberIds = new Set(added.flatMap(({ memberId }) => memberId ?? []));
  for (const memberId of await marks.among(memberIds)) await eraseEvents(collections, memberId);
}

/** Takes the other IDs out of an erased member's events. */
export async function eraseEvents(
  { events, outbox }: Pick<Collections, 'events' | 'outbox'>,
  memberId: string,
): Promise<void> {
  const options = { batchSize: PAGE_BLOCKS };
  for await (const block of events.find({ 'events.memberId': memberId }, options))
    await events.updateOne({ _id: block._id }, withoutIds(block.events, memberId));
  // What the member's standings had has been taken out of them before.
  await outbox.updateMany({ memberId }, { $unset: { 'outbox.$[].activityId': '' } });
}

function withoutIds(events: BlockDocument['events'], memberId: string) {
  const fields = events.flatMap((event, index) =>
    event.memberId === memberId ? ERASED_FIELDS.map((field) => `events.${index}.${field}`) : [],
  );
  return { $unset: Object.fromEntries(fields.map((field) => [field, ''] as const)) };
}

async function pageOf({ events, eventHeads }: Collections, partnerId: string, query: PageQuery) {
  const next = (query.after ?? 0) + 1;
  const [head, containing] = await Promise.all([
    eventHeads.findOne({ _id: partnerId }),
    // The position may be within a block.
    events.findOne(
      { _id: { $gte: blockId(partnerId, 0), $lte: blockId(partnerId, next) } },
      { sort: { _id: -1 }, projection: { _id: 1 } },
    ),
  ]);
  const last = head?.last ?? 0;
  const page = createPage(query, last);
  if (last >= next) {
    const from = containing?._id ?? blockId(partnerId, next);
    // Without a position, the oldest event may be anywhere.
    const seen = query.after === undefined ? last : maxSeenOf(query);
    const until = blockId(partnerId, Math.min(last, next + seen - 1));
    const range = { _id: { $gte: from, $lte: until } };
    const blocks = events.find(range, { sort: { _id: 1 }, batchSize: PAGE_BLOCKS });
    for await (const block of blocks) {
      const { first } = block;
      if (!page.add({ first, events: block.events.map((one) => ({ ...one, partnerId })) })) break;
    }
  }
  return page.done();
}

/** Neither part contains a control character. In the order of positions. */
function blockId(partnerId: string, first: number): string {
  return `${partnerId}\0${String(first).padStart(12, '0')}`;
}
