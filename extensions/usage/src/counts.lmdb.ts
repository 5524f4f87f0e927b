// Tables of counts in an embedded LMDB, which the processes of one machine may share.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { lmdbVerifier } from '@partner-loyalty/runtime/store/snapshot.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { Counts, CountTable, UsageStore } from './store.ts';
import { createUsageStore, TABLES } from './tables.ts';

/** Opens `dataDir/usage`. Rejects if it cannot be written or belongs to the other environment. */
export async function openLmdbUsageStore(
  dataDir: string,
  environment: Environment,
): Promise<UsageStore> {
  const { root } = await openLmdb(dataDir, 'usage', environment);
  return createUsageStore(
    (name) => createTable(root, name),
    () => root.close(),
  );
}

function openCountTables(root: RootDatabase) {
  return Object.values(TABLES).map((name) => openRows(root, name));
}

function openRows<About extends object>(root: RootDatabase, name: string) {
  return root.openDB<Counts<About>, string>({ name, encoding: 'json' });
}

/** Rows that are removed in one transaction, in which the event loop does nothing else. */
const STEP = 1_000;

function createTable<About extends object>(root: RootDatabase, name: string): CountTable<About> {
  const rows = openRows<About>(root, name);
  const removeAll = (ids: () => readonly string[]) =>
    root.transaction(() => {
      const removed = ids();
      for (const id of removed) rows.remove(id);
      return removed.length;
    });
  return {
    add: (additions) =>
      root.transaction(() => {
        for (const added of additions) rows.put(added.id, sum(rows.get(added.id), added));
      }),
    put: (added) =>
      root.transaction(() => {
        for (const row of added) rows.put(row.id, row);
      }),
    get: (ids) =>
      new Map(
        ids.flatMap((id) => {
          const row = rows.get(id);
          return row === undefined ? [] : [[id, row]];
        }),
      ),
    // lmdb modifies its options, so each call gets an object of its own.
    range: (start, end) =>
      Array.from(rows.getRange({ start, ...(end && { end }) }), ({ value }) => value),
    last(from, to, limit) {
      const range = { start: to, exclusiveStart: true, end: from, reverse: true, limit };
      return Array.from(rows.getRange(range), ({ value }) => value);
    },
    firstId: (start) => [...rows.getKeys({ start, limit: 1 })][0],
    size: (start, end) => rows.getKeysCount({ start, end }),
    remove: async (ids) => void (await removeAll(() => ids)),
    async removeBetween(start, end) {
      const step = () => [...rows.getKeys({ start, end, limit: STEP })];
      for (let count = STEP; count === STEP; ) count = await removeAll(step);
    },
  };
}

function sum<About extends object>(
  before: Counts<About> | undefined,
  added: Counts<About>,
): Counts<About> {
  if (before === undefined) return added;
  const counts = new Map(Object.entries(before.counts));
  for (const [name, count] of Object.entries(added.counts))
    counts.set(name, (counts.get(name) ?? 0) + count);
  const latestMs = Math.max(before.latestMs ?? 0, added.latestMs ?? 0);
  const highest = Math.max(before.highest ?? 0, added.highest ?? 0);
  const maxima = { ...(latestMs > 0 && { latestMs }), ...(highest > 0 && { highest }) };
  return { ...before, counts: Object.fromEntries(counts), ...maxima };
}

export const verifyLmdbUsage = lmdbVerifier(
  'usage',
  openCountTables,
  (tables, snapshot, { report }) => {
    let count = 0;
    const unreadable = (id: string) => report(`usage of ${dayOf(id)}`, 'a record cannot be read');
    for (const table of tables)
      for (const { key, value } of snapshot.records(table, unreadable)) {
        count += 1;
        if (value.id !== key) report(`usage of ${dayOf(key)}`, 'a record has another ID');
      }
    return count;
  },
);

/** IDs begin with the day, `2031-05-17`, or are that of a key. */
function dayOf(id: string): string {
  return /^[0-9-]{10}/.exec(id)?.[0] ?? id;
}
