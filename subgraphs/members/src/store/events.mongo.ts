// The events of changes on MongoDB: each member's document has its own, written with the change.
import { retryOnConflict } from '@partner-loyalty/runtime/store/mongo.ts';
import { oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { type AnyBulkWriteOperation, MongoBulkWriteError, type UpdateFilter } from 'mongodb';
import {
  isConflict,
  isTombstone,
  type MemberDocument,
  type MembersCollection,
  pendingFields,
} from './documents.mongo.ts';
import { ackOf, type EventStore, idsByPlace } from './eventstore.ts';

export function createMongoEvents(members: MembersCollection): EventStore {
  return {
    async pending(limit) {
      const found = await findPending(members, limit).toArray();
      // No member that was not read has an event before the first `limit` of these.
      const events = found.flatMap(inOrder).sort((one, other) => one.at - other.at);
      return events.slice(0, limit);
    },
    async acknowledge(acks) {
      const idsByMember = idsByPlace(acks);
      await retryOnConflict(async () => (await takeOut(members, idsByMember)) || undefined);
    },
  };
}

/** The members whose first pending events are the oldest. */
export function findPending(members: MembersCollection, limit: number) {
  return members.find(PENDING, {
    projection: { outbox: 1 },
    sort: { pendingAt: 1 },
    limit,
    // A change that a new primary may not have must not be published.
    readConcern: 'majority',
    readPreference: 'primary',
    ...oneResponse(limit),
  });
}

const PENDING = { pendingAt: { $exists: true } };

/** A member's events; a clock that was put back does not change their order. */
function inOrder({ _id, outbox = [] }: Pick<MemberDocument, '_id' | 'outbox'>) {
  let at = 0;
  return outbox.map((event) => {
    at = Math.max(at, event.occurredAt);
    return { at, ack: ackOf(event, _id), event };
  });
}

/**
 * Takes events out of members' documents, and removes tombstones that have no more. False if
 * another write of one of them came between.
 */
async function takeOut(
  members: MembersCollection,
  idsByMember: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<boolean> {
  const filter = { _id: { $in: [...idsByMember.keys()] }, ...PENDING };
  const projection = { version: 1, outbox: 1, erasedAt: 1, mergedInto: 1 };
  const options = { projection, ...oneResponse(idsByMember.size) };
  const writes: AnyBulkWriteOperation<MemberDocument>[] = [];
  const found = members.find(filter, { readPreference: 'primary', ...options });
  for (const document of await found.toArray()) {
    const { _id, version, outbox = [] } = document;
    const left = outbox.filter(({ id }) => !idsByMember.get(_id)?.has(id));
    if (left.length === outbox.length) continue;
    const unchanged = { filter: { _id, version } };
    const update: UpdateFilter<MemberDocument> =
      left.length > 0
        ? { $set: pendingFields(left), $inc: { version: 1 } }
        : { $unset: { outbox: true, pendingAt: true }, $inc: { version: 1 } };
    const isDone = left.length === 0 && isTombstone(document) && !document.mergedInto;
    writes.push(isDone ? { deleteOne: unchanged } : { updateOne: { ...unchanged, update } });
  }
  if (writes.length === 0) return true;
  try {
    const result = await members.bulkWrite(writes, { ordered: false });
    return result.matchedCount + result.deletedCount === writes.length;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError && isConflict(error))) throw error;
    return false;
  }
}
