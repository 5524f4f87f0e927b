// The marks of erased members on MongoDB: a document for each, and one that has their key.
import type { Db } from 'mongodb';
import { isDuplicate, openCollection } from '../mongo.ts';
import { oneResponse } from '../reads/reads.mongo.ts';
import { markOf, newMarkKey } from './mark.ts';

type MarkDocument = { _id: string; erasedAt?: Date; key?: string };

export type MongoMarks = Awaited<ReturnType<typeof openMongoMarks>>;

const KEY_ID = 'key';
const MAX_RECENT = 1_000;

/** Opens the marks of a store in the collection `name`. */
export async function openMongoMarks(db: Db, name: string) {
  await openCollection<MarkDocument>(db, name);
  // A writer must see the mark that was set before it looked, whatever the URL prefers.
  const marks = db.collection<MarkDocument>(name, {
    readPreference: 'primary',
    writeConcern: { w: 'majority' },
  });
  // The first process that opens the marks creates their key.
  await marks.insertOne({ _id: KEY_ID, key: newMarkKey() }).catch((error) => {
    if (!isDuplicate(error)) throw error;
  });
  const key = (await marks.findOne({ _id: KEY_ID }))?.key;
  if (key === undefined) throw new Error(`the collection ${name} has no key`);
  // Recording asks for each member several times, and a hash takes some microseconds.
  let recent = new Map<string, string>();
  const recentMark = (memberId: string): string => {
    const mark = recent.get(memberId) ?? markOf(key, memberId);
    if (recent.size >= MAX_RECENT) recent = new Map();
    recent.set(memberId, mark);
    return mark;
  };
  return {
    /** The members with a mark among these, by one read. */
    async among(memberIds: Iterable<string>): Promise<ReadonlySet<string>> {
      const byMark = new Map(Array.from(memberIds, (id) => [recentMark(id), id]));
      if (byMark.size === 0) return new Set();
      const found = marks.find(
        { _id: { $in: [...byMark.keys()] } },
        { projection: { _id: 1 }, ...oneResponse(byMark.size) },
      );
      return new Set((await found.toArray()).flatMap(({ _id }) => byMark.get(_id) ?? []));
    },
    /** Resolves once a majority of the servers has the mark. */
    async add(memberId: string, at: Date): Promise<void> {
      await marks.updateOne(
        { _id: markOf(key, memberId) },
        { $setOnInsert: { erasedAt: at } },
        { upsert: true },
      );
    },
    /** Whether there was a mark. */
    async remove(memberId: string): Promise<boolean> {
      return (await marks.deleteOne({ _id: markOf(key, memberId) })).deletedCount > 0;
    },
  };
}
