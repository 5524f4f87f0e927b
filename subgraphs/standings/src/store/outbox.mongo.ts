// The outboxes on MongoDB: events in the document that has changed, until the feed has them.
import { isDuplicate } from '@partner-loyalty/runtime/store/mongo.ts';
import { onePage } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
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

type Written = Pick<Collections, 'standings' | 'changedPrograms' | 'outbox'>;
/** Events of a document as they were read. */
type Entry = { of: keyof Written; _id: string; version?: ObjectId; outbox: StoredPending[] };

/** What the first has of a document is older than what that document still has. */
const SOURCES = ['outbox', 'changedPrograms', 'standings'] as const;
/** A longer outbox would make each change of its document slow, and end at 16 MB. */
const MAX_OUTBOX = 200;
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
    SOURCES.map(async (of) => {
      const documents = await pendingQuery(collections, of, limit).toArray();
      return documents.map(({ outbox = [], pendingAt = 0, ...one }) => {
        return { ...one, of, outbox, pendingAt };
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
export function pendingQuery(collections: Written, of: keyof Written, limit: number) {
  return documentsOf(collections, of).find(
    { pendingAt: { $gt: 0 } },
    {
      projection: { version: 1, outbox: 1, pendingAt: 1 },
      sort: { pendingAt: 1 },
      ...onePage(limit),
    },
  );
}

function eventsIn({ _id, outbox }: Pick<Entry, '_id' | 'outbox'>): PendingEvent[] {
  const { year, ...of } = standingOf(_id);
  return outbox.map((one) => {
    if ('type' in one) return one;
    const { before, ...event } = one;
    const yearPoints = { year, before, after: before + event.points };
    return { ...event, type: 'POINTS_CHANGED', ...of, yearPoints };
  });
}

/** Takes the events with these IDs out of where they were read from. */
export async function removePending(
  collections: Written,
  entries: readonly Entry[],
  ids: ReadonlySet<string>,
): Promise<void> {
  const { standings, outbox } = collections;
  for (const of of SOURCES) {
    const read = entries.filter((entry) => entry.of === of);
    const whole = read.filter((entry) => entry.outbox.every(({ id }) => ids.has(id)));
    const _id = { $in: whole.map((entry) => entry._id) };
    let done = 0;
    if (whole.length > 0 && of === 'outbox') done = (await outbox.deleteMany({ _id })).deletedCount;
    else if (whole.length > 0 && of === 'standings')
      done = (await standings.bulkWrite(whole.map(emptyingOf), { ordered: false })).matchedCount;
    if (done < read.length) await removeSome(documentsOf(collections, of), read, ids);
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

/** Moves the events out of those of the standings, as they are now, that have too many. */
export async function shorten(
  collections: Pick<Written, 'standings' | 'outbox'>,
  standings: readonly StandingDocument[],
): Promise<void> {
  const long = standings.filter(({ outbox = [] }) => outbox.length > MAX_OUTBOX);
  if (long.length === 0) return;
  await copyOut(collections, long);
  await collections.standings.bulkWrite(
    long.map(({ _id, version }) => ({
      updateOne: { filter: { _id, version }, update: EMPTY },
    })),
    { ordered: false },
  );
}

/** Every event that is added changes the version. */
function emptyingOf({ _id, version }: Entry) {
  return { updateOne: { filter: { _id, ...(version && { version }) }, update: EMPTY } };
}

// One by one: DocumentDB's updateMany undoes what another writer does to a document meanwhile.
async function removeSome(
  documents: Collection<WithOutbox>,
  read: readonly Entry[],
  ids: ReadonlySet<string>,
): Promise<void> {
  const $pull = { outbox: { id: { $in: [...ids] } } };
  await documents.bulkWrite(
    read.flatMap(({ of, _id }) => {
      const empty = { _id, outbox: { $size: 0 } };
      return [
        { updateOne: { filter: { _id }, update: { $pull } } },
        of === 'outbox'
          ? { deleteOne: { filter: empty } }
          : { updateOne: { filter: empty, update: EMPTY } },
      ];
    }),
  );
}

function documentsOf(collections: Written, of: keyof Written): Collection<WithOutbox> {
  return collections[of] as unknown as Collection<WithOutbox>; // Cast: each has an outbox.
}
