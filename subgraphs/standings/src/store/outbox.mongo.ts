// The outboxes on MongoDB: events in the document that has changed, until the feed has them.
import { isDuplicate } from '@partner-loyalty/runtime/store/mongo.ts';
import { onePage } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Collection } from 'mongodb';
import type { PendingEvent } from '../rules/event.ts';
import { inTime, type Source } from '../rules/eventorder.ts';
import type { Collections, StandingDocument, WithOutbox } from './collections.mongo.ts';

type Written = Pick<Collections, 'standings' | 'changedPrograms' | 'outbox'>;
/** Events of a document as they were read. */
type Entry = { of: keyof Written; _id: string; outbox: PendingEvent[]; pendingAt: number };

/** What the first has of a document is older than what that document still has. */
const SOURCES = ['outbox', 'changedPrograms', 'standings'] as const;
/** A longer outbox would make each change of its document slow, and end at 16 MB. */
const MAX_OUTBOX = 200;

/** The part of an update that puts events into the document's outbox. */
export function pushed(events: readonly PendingEvent[]) {
  const [first] = events;
  if (first === undefined) return {};
  return { $push: { outbox: { $each: [...events] } }, $min: { pendingAt: first.occurredAt } };
}

/** The oldest events, about `limit`, and where they are. */
export async function readPending(
  collections: Written,
  limit: number,
): Promise<Source & { entries: Entry[] }> {
  const found = await Promise.all(
    SOURCES.map(async (of) => {
      const options = { sort: { pendingAt: 1 }, ...onePage(limit) } as const;
      const projection = { outbox: 1, pendingAt: 1 } as const;
      const pending = documentsOf(collections, of).find(
        { pendingAt: { $gt: 0 } },
        { projection, ...options },
      );
      return (await pending.toArray()).map(({ _id, outbox = [], pendingAt = 0 }): Entry => {
        return { of, _id, outbox, pendingAt };
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
  return { events: inTime(entries.map(({ outbox }) => outbox)), until, entries };
}

/** Takes the events with these IDs out of where they were read from. */
export async function removePending(
  collections: Written,
  entries: readonly Entry[],
  ids: ReadonlySet<string>,
): Promise<void> {
  for (const of of SOURCES) {
    const documents = documentsOf(collections, of);
    const read = entries.filter((entry) => entry.of === of);
    const whole = read.filter(({ outbox }) => outbox.every(({ id }) => ids.has(id)));
    let done = 0;
    if (whole.length > 0 && of === 'outbox')
      done = (await documents.deleteMany({ _id: { $in: whole.map(({ _id }) => _id) } }))
        .deletedCount;
    else if (whole.length > 0)
      done = (await documents.bulkWrite(whole.map(emptyingOf), { ordered: false })).matchedCount;
    if (done < read.length) await removeSome(documents, read, ids);
  }
}

/** Copies the events of standings into documents of their own. */
export async function copyOut(
  { outbox }: Pick<Written, 'outbox'>,
  from: readonly Pick<StandingDocument, '_id' | 'version' | 'outbox' | 'pendingAt'>[],
): Promise<void> {
  const documents = from.flatMap(({ _id, version, outbox: events = [], pendingAt = 0 }) =>
    events.length === 0 ? [] : { _id: `${_id}\0${version}`, outbox: events, pendingAt },
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
      updateOne: { filter: { _id, version }, update: { $unset: { outbox: '', pendingAt: '' } } },
    })),
    { ordered: false },
  );
}

/** An outbox grows until it is emptied: one that begins alike and is as long has the same. */
function emptyingOf({ _id, outbox }: Entry) {
  const [first] = outbox;
  const same = { outbox: { $size: outbox.length }, ...(first && { 'outbox.0.id': first.id }) };
  return {
    updateOne: { filter: { _id, ...same }, update: { $unset: { outbox: '', pendingAt: '' } } },
  } as const;
}

async function removeSome(
  documents: Collection<WithOutbox>,
  read: readonly Entry[],
  ids: ReadonlySet<string>,
): Promise<void> {
  const _id = { $in: read.map((entry) => entry._id) };
  await documents.updateMany({ _id }, { $pull: { outbox: { id: { $in: [...ids] } } } });
  const empty = { _id, outbox: { $size: 0 } };
  await documents.updateMany(empty, { $unset: { outbox: '', pendingAt: '' } });
}

function documentsOf(collections: Written, of: keyof Written): Collection<WithOutbox> {
  return collections[of] as unknown as Collection<WithOutbox>; // Cast: each has an outbox.
}
