// The steps by which activities are counted on MongoDB, as docs/decisions/0006 explains.
//
// Each is one bulk operation, and can be repeated, or done late, by any process.
import { DUPLICATE_KEY, WRITE_CONFLICT } from '@partner-loyalty/runtime/store/mongo.ts';
import {
  type AnyBulkWriteOperation,
  type Collection,
  MongoBulkWriteError,
  ObjectId,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import type { DatedActivity } from '../rules/activity.ts';
import type { Standing } from '../rules/standing.ts';
import type {
  ActivityDocument,
  Collections,
  Decision,
  PendingPoints,
  StandingDocument,
} from './collections.mongo.ts';
import { pushed } from './outbox.mongo.ts';
import { activityKey, partnerOf } from './queries.mongo.ts';

type Written = Pick<Collections, 'standings' | 'activities'>;
export type PendingActivity = ActivityDocument & { pending: ObjectId };
/** A change of a standing as it was read: what it adds, what it decides, and its events. */
export type Change = {
  standing: StandingDocument;
  added: Standing;
  decisions: Decision[];
  events: PendingPoints[];
};
/** A decision about the activity with this key. */
type Decided = Omit<Decision, 'id'> & { _id: string };

const CHUNK = 1_000;
const DOCUMENT_INVALID = 121;
/** What a standing keeps of a change that is carried out. Small, since each read passes over it. */
const MAX_RECENT = 16;

/** Inserts activities that do not count yet; returns those that did not exist. */
export async function insertPending(
  { activities }: Written,
  inserted: readonly DatedActivity[],
): Promise<PendingActivity[]> {
  const documents = inserted.map((activity): PendingActivity => {
    const { activityId, partnerId, memberId, year, points, stays, occurredAt } = activity;
    const content = { partnerId, memberId, year, points, stays, occurredAt };
    const _id = activityKey({ partnerId, activityId });
    return { _id, ...content, pending: new ObjectId() };
  });
  return insertNew(activities, documents);
}

/** Inserts standings without activity; returns those that did not exist. */
export async function createStandings(
  { standings }: Written,
  created: readonly { _id: string; memberId: string }[],
): Promise<StandingDocument[]> {
  const documents = created.map(({ _id, memberId }): StandingDocument => {
    return { _id, memberId, points: 0, stays: 0, version: new ObjectId(), recent: [] };
  });
  return insertNew(standings, documents);
}

/** Deletes standings that were created in vain, unless another process has used them. */
export async function removeUnused(
  { standings }: Written,
  created: readonly StandingDocument[],
  made: readonly Change[],
): Promise<void> {
  const used = new Set(made.map(({ standing }) => standing._id));
  const unused = created.filter(({ _id }) => !used.has(_id));
  if (unused.length === 0) return;
  await standings.deleteMany({
    _id: { $in: unused.map(({ _id }) => _id) },
    version: { $in: unused.map(({ version }) => version) },
  });
}

/** The decisions of a standing, with the keys of their activities. */
export function decidedBy(
  { _id }: Pick<StandingDocument, '_id'>,
  decisions: readonly Decision[],
): Decided[] {
  const partnerId = partnerOf(_id);
  return decisions.map(({ id, pending, refused }) => {
    const _id = activityKey({ partnerId, activityId: id });
    return refused ? { _id, pending, refused } : { _id, pending };
  });
}

/**
 * Writes to the activities what standings have decided about them: those in the sums are no longer
 * pending, those refused are deleted. Ignores what was inserted again since.
 */
export async function carryOut(
  { activities }: Written,
  decisions: readonly Decided[],
): Promise<void> {
  for (let from = 0; from < decisions.length; from += CHUNK) {
    const chunk = decisions.slice(from, from + CHUNK);
    const [refused, counted] = [true, false].map((isRefused) =>
      chunk.filter((decision) => (decision.refused === true) === isRefused),
    );
    if (counted?.length)
      await activities.updateMany(filterOf(counted), { $unset: { pending: '' } });
    if (refused?.length) await activities.deleteMany(filterOf(refused));
  }
}

/**
 * Changes standings, each only if it is still as it was read. Returns the changes that were made,
 * with their new versions.
 */
export async function decide(
  { standings }: Written,
  changes: readonly Change[],
): Promise<Change[]> {
  const sorted = changes.toSorted((one, other) => (one.standing._id < other.standing._id ? -1 : 1));
  const made = sorted.map((change) => ({
    ...change,
    standing: { ...change.standing, version: new ObjectId() },
  }));
  const failed = await failuresOf(
    () =>
      standings.bulkWrite(
        sorted.map((change, index) => changeOperation(change, made[index]?.standing.version)),
        UNORDERED,
      ),
    [DUPLICATE_KEY, DOCUMENT_INVALID, WRITE_CONFLICT],
  );
  return made.filter((_, index) => !failed.has(index));
}

/** Empties the lists of changes that are carried out, if they are long. */
export async function forget({ standings }: Written, changes: readonly Change[]): Promise<void> {
  const long = changes.filter(({ decisions }) => decisions.length > MAX_RECENT);
  if (long.length === 0) return;
  await standings.bulkWrite(
    long.map(({ standing: { _id, version } }) => ({
      updateOne: { filter: { _id, version }, update: { $set: { recent: [] } } },
    })),
    UNORDERED,
  );
}

/**
 * Without a match, the upsert inserts a document that is refused, since the ID exists or `memberId`
 * is missing. So a bulk write reports which of its changes came too late.
 */
export function changeOperation(
  { standing: { _id, version }, added, decisions, events }: Change,
  next = new ObjectId(),
) {
  return {
    updateOne: {
      filter: { _id, version },
      update: {
        $inc: { ...added },
        $set: { version: next, recent: decisions },
        ...pushed(events),
      },
      upsert: true,
    },
  } satisfies AnyBulkWriteOperation<StandingDocument>;
}

const UNORDERED = { ordered: false } as const;

/** An insertion has an ID of its own, so no two decisions share one. */
function filterOf(decisions: readonly Decided[]) {
  return {
    _id: { $in: decisions.map(({ _id }) => _id).sort() },
    pending: { $in: decisions.map(({ pending }) => pending) },
  };
}

/**
 * Inserts in the order of the IDs, since two processes with opposite orders can deadlock. Returns
 * those whose ID was free, except after a conflict with another write.
 */
async function insertNew<S extends { _id: string }, T extends S>(
  collection: Collection<S>,
  documents: readonly T[],
): Promise<T[]> {
  const sorted = documents.toSorted((one, other) => (one._id < other._id ? -1 : 1));
  // Cast: TypeScript cannot tell that the driver need not add an ID.
  const insert = () =>
    collection.insertMany(sorted as readonly S[] as OptionalUnlessRequiredId<S>[], UNORDERED);
  const failed = await failuresOf(insert, [DUPLICATE_KEY, WRITE_CONFLICT]);
  return sorted.filter((_, index) => !failed.has(index));
}

/** The indexes of the operations that failed, if all of them failed for an expected reason. */
async function failuresOf(
  write: () => Promise<unknown>,
  expected: readonly unknown[],
): Promise<Set<number>> {
  try {
    await write();
    return new Set();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    if (failures.length === 0 || !failures.every(({ code }) => expected.includes(code)))
      throw error;
    return new Set(failures.map(({ index }) => index));
  }
}
