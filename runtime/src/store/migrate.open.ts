// Migrates a store to the format of this version, on the engine that the settings select.
import { existsSync } from 'node:fs';
import type { Settings } from '../settings/table.ts';
import { FORMATS } from './format.ts';
import { fileOf, formatOf, type LmdbMigration, openLmdb } from './lmdb.ts';
import type { MongoMigration } from './migrate.mongo.ts';
import type { Migrated, MigrationOptions } from './migrate.ts';
import type { StoreName } from './private.ts';

type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>;

/** By engine. Without one, a new format needs no change of what is stored. */
export type StoreMigration = { lmdb?: LmdbMigration; mongo?: () => Promise<MongoMigration> };

const NOTHING: MongoMigration = { count: async () => 0, run: async () => undefined };

/**
 * Migrates a store, or with `isDryRun` only looks. Undefined if there is no such store. Rejects if
 * it belongs to the other environment, or its format is newer than this version knows.
 */
export async function migrateStore(
  settings: StoreSettings,
  store: StoreName,
  { lmdb, mongo }: StoreMigration,
  options: MigrationOptions,
): Promise<Migrated | undefined> {
  const { mongodbUrl, environment } = settings;
  if (mongodbUrl === undefined)
    return migrateLmdb(settings, store, lmdb ?? (async () => undefined), options);
  // The driver takes a while to load, and is needed only here.
  const { migrateMongo } = await import('./migrate.mongo.ts');
  const migration = mongo === undefined ? NOTHING : await mongo();
  return migrateMongo(mongodbUrl, store, environment, migration, options);
}

async function migrateLmdb(
  { dataDir, environment }: StoreSettings,
  store: StoreName,
  migrate: LmdbMigration,
  { isDryRun }: MigrationOptions,
): Promise<Migrated | undefined> {
  if (!existsSync(fileOf(dataDir, store))) return undefined;
  const { root } = await openLmdb(dataDir, store, environment);
  const from = formatOf(root);
  await root.close();
  const to = FORMATS[store];
  if (from < to && !isDryRun) {
    const migrated = await openLmdb(dataDir, store, environment, migrate);
    await migrated.root.close();
  }
  return { from, to };
}
