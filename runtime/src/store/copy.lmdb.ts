// Copies an embedded store by inserting every live record anew.
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database, RootDatabase, Transaction } from 'lmdb';
import type { Environment } from '../environment.ts';
import { fileIn, LMDB_OPTIONS, openFile } from './file.lmdb.ts';
import { isDiskFull } from './health.lmdb.ts';
import { ownerOf } from './lmdb.ts';
import { refuseOwner } from './ownership.ts';
import { makePrivateFolder, restrictFiles, type StoreName } from './private.ts';

/** Records of tables copied so far, and of how many. */
export type CopyProgress = (records: number, total: number) => void;

/** The size of a transaction, which the process has in memory. */
const BATCH_BYTES = 4_194_304;
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

type Table = Database<Buffer, Buffer>;

/**
 * Copies the store `name` of one data folder, as it is at one moment, to another one that has no
 * such store. When it resolves, the copy is on disk, and its size in bytes is returned. Others may
 * write to the store meanwhile. Throws if the store belongs to the other environment. LMDB's own
 * copy would take along deleted keys that go on separating the pages of a tree.
 */
export async function copyStore(
  [fromDir, toDir]: readonly [from: string, to: string],
  name: StoreName,
  environment: Environment,
  onProgress: CopyProgress = () => {},
): Promise<number> {
  const source = openFile(makePrivateFolder(fromDir, name), { ...LMDB_OPTIONS, readOnly: true });
  const folder = makePrivateFolder(toDir, name);
  try {
    const owner = ownerOf(source);
    if (owner !== undefined) refuseOwner(name, owner, environment);
    // What is on disk at the end is all that counts.
    const target = openFile(folder, { ...LMDB_OPTIONS, ...BINARY, noSync: true });
    try {
      await copyRecords(source, target, onProgress);
    } finally {
      await target.close();
    }
  } catch (cause) {
    if (!isDiskFull(folder)) throw cause;
    throw new Error(`the disk has no room for a copy of the store ${name}`, { cause });
  } finally {
    await source.close();
  }
  restrictFiles(folder);
  const file = fileIn(folder);
  syncToDisk(file);
  syncToDisk(folder);
  return statSync(file).size;
}

/** Makes a file, or the names of what is in a folder, survive a crash of the machine. */
export function syncToDisk(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

async function copyRecords(
  source: RootDatabase,
  target: RootDatabase,
  onProgress: CopyProgress,
): Promise<void> {
  // Cast: a handle of what has no name is that of the root, which LMDB keeps the names in.
  const names = source.openDB<Buffer, Buffer>({ name: null as unknown as string, ...BINARY });
  // Before the snapshot, which has only tables that are open.
  const tables = new Map<string, Table>();
  for (const key of [...names.getKeys()]) {
    const table: Table | undefined = source.openDB({ name: String(key), ...BINARY });
    if (table !== undefined) tables.set(String(key), table);
  }
  const snapshot = source.useReadTransaction();
  try {
    const progress = countTo([...tables.values()], onProgress);
    await copyTable(
      names,
      target as RootDatabase<Buffer, Buffer>,
      snapshot,
      () => {},
      (key) => !tables.has(String(key)),
    );
    for (const [name, table] of tables)
      await copyTable(table, target.openDB({ name, ...BINARY }), snapshot, progress);
  } finally {
    snapshot.done();
  }
}

/** In the order of the keys, which fills the pages, and in transactions of bounded size. */
async function copyTable(
  from: Table,
  to: Table,
  snapshot: Transaction,
  progress: (records: number) => void,
  isCopied: (key: Buffer) => boolean = () => true,
): Promise<void> {
  const entries = from.getRange({ transaction: snapshot })[Symbol.iterator]();
  for (let isDone = false; !isDone; ) {
    let records = 0;
    isDone = to.transactionSync(() => {
      for (let bytes = 0; bytes < BATCH_BYTES; ) {
        const next = entries.next();
        if (next.done === true) return true;
        const { key, value } = next.value;
        if (!isCopied(key)) continue;
        to.putSync(key, value, { append: true });
        bytes += key.length + value.length;
        records += 1;
      }
      return false;
    });
    progress(records);
    await nextTick();
  }
}

function countTo(tables: Table[], onProgress: CopyProgress): (records: number) => void {
  // Cast: lmdb's types do not say what it returns.
  const counts = tables.map((table) => (table.getStats() as { entryCount: number }).entryCount);
  const total = counts.reduce((sum, count) => sum + count, 0);
  let copied = 0;
  return (records) => {
    copied += records;
    onProgress(copied, total);
  };
}
