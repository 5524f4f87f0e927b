// Chunks of request records in an embedded LMDB.
import type { Database, RootDatabase } from 'lmdb';
import type { ChunkTable } from './chunks.ts';
import type { RequestChunk } from './requests.ts';

/** Rows in one transaction, in which the event loop does nothing else. */
const STEP = 1_000;

export function createChunkTable(root: RootDatabase, name: string): ChunkTable {
  const rows = root.openDB<RequestChunk, string>({ name, encoding: 'json' });
  return {
    put: (chunks) =>
      root.transaction(() => {
        for (const chunk of chunks) rows.put(chunk.id, { id: chunk.id, records: chunk.records });
      }),
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
