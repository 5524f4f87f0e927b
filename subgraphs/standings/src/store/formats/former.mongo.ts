// Moves the activities of format 2, whose IDs were unique over all partners, to keys by partner.
//
// The collection of that format stays unchanged until everything is copied, for the processes that
// read it, and accepts no writes. Activities that are pending remain pending: what their standing
// decides about them names their insertion, which is copied too.

import { openMongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { openCollection, setValidator } from '@partner-loyalty/runtime/store/mongo.ts';
import { countAll, onePage, pages } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Collection, Db } from 'mongodb';
import {
  type ActivityDocument,
  type Collections,
  MARKS,
  openCollections,
  STRICT,
} from '../collections.mongo.ts';
import { deleteAll } from '../member.mongo.ts';
import { activitiesQuery, activityKey } from '../queries.mongo.ts';
import { fromAnywhere, insertOnce } from './insert.mongo.ts';

const NAME = 'activities';
/** No document has this. */
const CLOSED = { bsonType: 'object', required: ['closed'] };
const PAGE = 5_000;
const CHUNK = 1_000;
const MEMBERS = { projection: { memberId: 1 }, pageSize: CHUNK } as const;

export function countFormer(db: Db): Promise<number> {
  return countAll(formerActivities(db));
}

/**
 * From here on, a process of format 2 can neither insert an activity nor change one. The validator
 * stays after the migration, since such a process may still run.
 */
export async function closeFormer(db: Db): Promise<void> {
  await openCollection(db, NAME, CLOSED);
  await setValidator(db, NAME, CLOSED);
}

/** Call closeFormer first. */
export async function moveFormer(db: Db, onProgress: (records: number) => void): Promise<void> {
  const former = formerActivities(db);
  const collections = await openCollections(db);
  const marks = await openMongoMarks(db, MARKS);
  const eraseMarked = async (activities: readonly Pick<ActivityDocument, 'memberId'>[]) => {
    const marked = await marks.among(new Set(activities.map(({ memberId }) => memberId)));
    for (const memberId of marked) await deleteAll(collections, memberId);
  };
  let records = 0;
  for await (const page of pages(former, { pageSize: PAGE })) {
    for (const chunk of fromAnywhere(chunksOf(page))) {
      await copy(collections, chunk);
      // Another migration may have ended meanwhile, and a process of this format may have erased
      // them.
      await eraseMarked(chunk);
    }
    records += page.length;
    onProgress(records);
  }
  // Processes of format 2 may have erased members after their activities were copied.
  if ((await db.collection(MARKS).findOne({ erasedAt: { $exists: true } })) !== null)
    for await (const page of pages(collections.activities, MEMBERS)) await eraseMarked(page);
  await empty(former);
}

function formerActivities(db: Db): Collection<ActivityDocument> {
  return db.collection<ActivityDocument>(NAME, STRICT);
}

function chunksOf<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / CHUNK);
  return Array.from({ length: count }, (_, index) => all.slice(index * CHUNK, (index + 1) * CHUNK));
}

async function copy(
  collections: Pick<Collections, 'activities'>,
  former: readonly ActivityDocument[],
): Promise<void> {
  const wanted = former.map(({ _id: activityId, ...content }): ActivityDocument => {
    return { _id: activityKey({ partnerId: content.partnerId, activityId }), ...content };
  });
  const keys = wanted.map(({ _id }) => _id);
  const found = await activitiesQuery(collections, keys).project<{ _id: string }>({ _id: 1 });
  const known = new Set((await found.toArray()).map(({ _id }) => _id));
  await insertOnce(
    collections,
    wanted.filter(({ _id }) => !known.has(_id)),
  );
}

async function empty(collection: Collection<ActivityDocument>): Promise<void> {
  for (;;) {
    const options = { projection: { _id: 1 }, ...onePage(PAGE) } as const;
    const found = await collection.find({}, options).toArray();
    if (found.length === 0) return;
    await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
  }
}
