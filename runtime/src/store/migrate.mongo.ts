// Migrates a store on MongoDB to the format of this version, beside processes of the one before.
import type { Db } from 'mongodb';
import { type Environment, refuseForeignStore } from '../environment.ts';
import { environmentOf, FORMATS, markedEnvironment, readableFormat } from './format.ts';
import type { Migrated, MigrationOptions } from './migrate.ts';
import { connectMongo, ownersOf } from './mongo.ts';
import type { StoreName } from './private.ts';

/** Both functions may be repeated, and killed. */
export type MongoMigration = {
  /** How many records are to be changed. Changes nothing. */
  count(db: Db): Promise<number>;
  /** Sets the validators first; `onProgress` gets the number of records changed so far. */
  run(db: Db, onProgress: (records: number) => void): Promise<void>;
};

/**
 * Migrates the store in the URL's database, or only counts. Undefined if there is no such store.
 * Rejects if it belongs to the other environment, or its format is newer than this version knows.
 */
export async function migrateMongo(
  url: string,
  store: StoreName,
  environment: Environment,
  migration: MongoMigration,
  { isDryRun, onProgress }: MigrationOptions,
): Promise<Migrated | undefined> {
  const { db, close } = await connectMongo(url);
  try {
    const owners = ownersOf(db);
    const owner = await owners.findOne({ _id: store });
    if (owner === null) return undefined;
    refuseForeignStore(store, environmentOf(owner), environment);
    const [from, to] = [readableFormat(store, owner), FORMATS[store]];
    if (from === to) return { from, to, records: 0 };
    const records = await migration.count(db);
    if (isDryRun) return { from, to, records };
    // From here on, no process of a version without formats can start, and after the end none of
    // any older version. Those that run can still read.
    const marked = { environment: markedEnvironment(environment, to) };
    await owners.updateOne({ _id: store }, { $set: marked });
    await migration.run(db, onProgress);
    await owners.updateOne({ _id: store }, { $set: { formatVersion: to } });
    return { from, to, records };
  } finally {
    await close();
  }
}
