// Chunks of request records in an embedded LMDB.
import type { Database, RootDatabase } from 'lmdb';
import { type ChunkTable, WRITTEN_CHUNKS } from './chunks.ts';
import type { RequestChunk } from './requests.ts';

/** Rows in one transaction, in which the event loop does nothing else. */
const STEP = 1_000;

export function createChunkTable(root: RootDatabase, name: string): ChunkTable {
  const rows = root.openDB<RequestChunk, string>({ name, encoding: 'json' });
  return {
    async put(chunks) {
      for (let from = 0; from < chunks.length; from += WRITTEN_CHUNKS)
        await root.transaction(() => {
          for (const { id, records } of chunks.slice(from, from + WRITTEN_CHUNKS))
            rows.put(id, { id, records });
        });
    },
    // No chunk has the ID `from`, which is left out too.
    last: (from, to, limit) => {
      const range = { start: to, exclusiveStart: true, end: from, reverse: true, limit };
      return Array.from(rows.getRange(range), ({ value }) => value);
    },
    firstId: (start) => [...rows.getKeys({ start, limit: 1 })][0],
    removeBetween: (from, to) => removeInSteps(root, rows, from, to),
  };
}

/** Removes the rows from `start` on and before `end`, a bounded number in a transaction. */
export async function removeInSteps(
  root: RootDatabase,
  rows: Database<unknown, string>,
  start: string,
  end: string,
): Promise<void> {
  for (let count = STEP; count === STEP; )
    count = await root.transaction(() => {
      const ids = [...rows.getKeys({ ...(start && { start }), end, limit: STEP })];
      for (const id of ids) rows.remove(id);
      return ids.length;
    });
}
