// Chunks of request records on MongoDB: a document for each.
import { openCollection } from '@partner-loyalty/runtime/store/mongo.ts';
import { onePage, oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Db } from 'mongodb';
import { type ChunkTable, WRITTEN_CHUNKS } from './chunks.ts';

/** The driver writes text ten times as fast as the objects that it says. */
type ChunkDocument = { _id: string; records: string };

/** Documents that are removed in one round trip. */
const STEP = 1_000;

export async function openChunkTable(db: Db, name: string): Promise<ChunkTable> {
  const collection = await openCollection<ChunkDocument>(db, name);
  return {
    async put(chunks) {
      for (let from = 0; from < chunks.length; from += WRITTEN_CHUNKS) {
        const writes = chunks.slice(from, from + WRITTEN_CHUNKS).map(({ id, records }) => {
          const replacement = { records: JSON.stringify(records) };
          return { replaceOne: { filter: { _id: id }, replacement, upsert: true } };
        });
        await collection.bulkWrite(writes, { ordered: false });
      }
    },
    async last(from, to, limit) {
      const options = { sort: { _id: -1 }, limit, ...oneResponse(limit) } as const;
      const found = await collection.find({ _id: { $gte: from, $lt: to } }, options).toArray();
      return found.map(({ _id: id, records }) => ({ id, records: JSON.parse(records) }));
    },
    async firstId(from) {
      const options = { sort: { _id: 1 }, projection: { _id: 1 }, ...onePage(1) } as const;
      const [first] = await collection.find({ _id: { $gte: from } }, options).toArray();
      return first?._id;
    },
    async removeBetween(from, to) {
      const range = { _id: { $gte: from, $lt: to } };
      const options = { sort: { _id: 1 }, projection: { _id: 1 }, ...onePage(STEP) } as const;
      for (let count = STEP; count === STEP; ) {
        const found = await collection.find(range, options).toArray();
        count = found.length;
        const last = found.at(-1);
        if (last !== undefined)
          await collection.deleteMany({ _id: { $gte: from, $lte: last._id } });
      }
    },
  };
}
