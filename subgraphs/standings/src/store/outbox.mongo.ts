// The outboxes on MongoDB: events in the document that has changed, until the feed has them.
import { isDuplicate } from '@partner-loyalty/runtime/store/mongo.ts';
import { onePage, oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Collection, ObjectId } from 'mongodb';
import type { PendingEvent } from '../rules/event.ts';
import { inTime, type Source } from '../rules/eventorder.ts';
import type {
  Collections,
  OutboxDocument,
  StandingDocument,
  StoredPending,
  WithOutbox,
} from './collections.mongo.ts';
import { standingOf } from './queries.mongo.ts';

type Written = Pick<Collections, 'standings' | 'changedPrograms' | 'outbox' | 'db'>;
type Outbox = (typeof SOURCES)[number];
type Document = WithOutbox & { version?: ObjectId | undefined };
/** Events of a document as they were read. */
type Entry = Pick<Document, '_id' | 'version'> & { source: Outbox; outbox: StoredPending[] };

/** What the first has of a document is older than what that document still has. */
const SOURCES = ['outbox', 'changedPrograms', 'standings'] as const;
const EMPTY = { $unset: { outbox: '', pendingAt: '' } } as const;

/** The part of an update that puts events into the document's outbox. */
export function pushed(events: readonly StoredPending[]) {
  const [first] = events;
  if (first === undefined) return {};
  return { $push: { outbox: { $each: [...events] } }, $min: { pendingAt: first.occurredAt } };
}

/** The oldest events, about `limit`, and where they are. */
export async function readPending(
  collections: Written,
  limit: number,
): Promise<Source<PendingEvent> & { entries: Entry[] }> {
  const found = await Promise.all(
    SOURCES.map(async (source) => {
      const documents = await pendingQuery(collections, source, limit).toArray();
      return documents.map(({ _id, version, outbox = [], pendingAt = 0 }) => {
        return { _id, version, source, outbox, pendingAt };
      });
    }),
  );
  const all = found.flat().sort((one, other) => one.pendingAt - other.pendingAt);
  let count = 0;
  const last = all.findIndex(({ outbox }) => {
    count += outbox.length;
    return count >= limit;
  });
  const entries = last === -1 ? all : all.slice(0, last + 1);
  const isAll = entries.length === all.length && found.every((page) => page.length < limit);
  const until = isAll ? Number.POSITIVE_INFINITY : (entries.at(-1)?.pendingAt ?? 0);
  return { events: inTime(entries.map(eventsIn)), until, entries };
}

/** Finds the documents of a source whose first events are the oldest. */
export function pendingQuery(collections: Written, source: Outbox, limit: number) {
  return documentsOf(collections, source).find(
    { pendingAt: { $gt: 0 } },
    {
      projection: { version: 1, outbox: 1, pendingAt: 1 },
      sort: { pendingAt: 1 },
      ...onePage(limit),
    },
  );
}

function eventsIn({ _id, outbox }: Pick<Entry, '_id' | 'outbox'>): PendingEvent[] {
  const { partnerId, memberId, year } = standingOf(_id);
  return outbox.map((one) => {
    if ('type' in one) return one;
    // Spreading what a rest pattern has left takes 12 µs.
    const { id, occurredAt, activityId, points, before } = one;
    const yearPoints = { year, before, after: before + points };
    const type = 'POINTS_CHANGED';
    const event = { id, type, occurredAt, partnerId, memberId, points, yearPoints } as const;
    return activityId === undefined ? event : { ...event, activityId };
  });
}

/** Takes the events with these IDs out of where they were read from. */
export async function removePending(
  collections: Written,
  entries: readonly Entry[],
  ids: ReadonlySet<string>,
): Promise<void> {
  for (const source of SOURCES) {
    const documents = documentsOf(collections, source);
    const read = entries.filter((entry) => entry.source === source);
    // The version of a standing, and the ID of a copy, say that there are no other events.
    const isWhole = ({ outbox }: Entry) =>
      source !== 'changedPrograms' && outbox.every(({ id }) => ids.has(id));
    const whole = read.filter(isWhole);
    let rest = read.filter((entry) => !isWhole(entry));
    if (whole.length > 0 && source === 'outbox')
      await documents.deleteMany({ _id: { $in: whole.map(({ _id }) => _id) } });
    else if ((await empty(collections, whole)) < whole.length) rest = read;
    await removeSome(documents, rest, ids);
  }
}

/** Copies the events of standings into documents of their own. */
export async function copyOut(
  { outbox }: Pick<Written, 'outbox'>,
  from: readonly Pick<StandingDocument, '_id' | 'memberId' | 'version' | 'outbox' | 'pendingAt'>[],
): Promise<void> {
  const documents = from.flatMap(
    ({ _id, memberId, version, outbox: events = [], pendingAt = 0 }): OutboxDocument[] =>
      events.length === 0
        ? []
        : [{ _id: `${_id}\0${version}`, memberId, outbox: events, pendingAt }],
  );
  if (documents.length === 0) return;
  // An earlier run that was killed may have inserted some of them.
  await outbox.insertMany(documents, { ordered: false }).catch((error) => {
    if (!isDuplicate(error)) throw error;
  });
}

/** Moves the events out of those of the standings that have too many. */
export async function shorten(
  collections: Pick<Written, 'standings' | 'outbox' | 'db'>,
  changed: readonly StandingDocument[],
): Promise<void> {
  const long = changed.filter(({ outbox = [] }) => outbox.length > 0);
  if (long.length === 0) return;
  const ids = long.map(({ _id }) => _id);
  const found = await collections.standings
    .find({ _id: { $in: ids } }, oneResponse(ids.length))
    .toArray();
  await copyOut(collections, found);
  await empty(collections, found);
}

/** Empties standings, each only if it is as it was read. Resolves with how many were. */
async function empty(
  { db }: Pick<Written, 'db'>,
  read: readonly Pick<Entry, '_id' | 'version'>[],
): Promise<number> {
  if (read.length === 0) return 0;
  // Every event that is added changes the version. With bulkWrite, each would take the client 8 µs
  // instead of 4.
  const updates = read.map(({ _id, version }) => ({ q: { _id, version }, u: EMPTY }));
  return (await db.command({ update: 'standings', updates, ordered: false })).n;
}

// One by one: DocumentDB's updateMany undoes what another writer does to a document meanwhile.
async function removeSome(
  documents: Collection<Document>,
  read: readonly Entry[],
  ids: ReadonlySet<string>,
): Promise<void> {
  const writes = read.flatMap(({ source, _id, outbox }) => {
    const taken = outbox.flatMap(({ id }) => (ids.has(id) ? id : []));
    const empty = { _id, outbox: { $size: 0 } };
    return taken.length === 0 && outbox.length > 0
      ? []
      : [
          { updateOne: { filter: { _id }, update: { $pull: { outbox: { id: { $in: taken } } } } } },
          source === 'outbox'
            ? { deleteOne: { filter: empty } }
            : { updateOne: { filter: empty, update: EMPTY } },
        ];
  });
  if (writes.length > 0) await documents.bulkWrite(writes);
}

function documentsOf(collections: Written, source: Outbox): Collection<Document> {
  return collections[source] as unknown as Collection<Document>; // Cast: each has an outbox.
}
