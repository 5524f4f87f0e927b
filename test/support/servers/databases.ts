// The MongoDB and the Redis server of this test run, and databases for single tests.
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import type { Engine } from '../engines.ts';
import { temporaryFolder } from '../folder.ts';

/** The MongoDB-compatible server of this run, without a database name. Throws if there is none. */
export function mongodbUrl(): string {
  const url = process.env.MONGODB_URL;
  if (!url)
    throw new Error(
      'this test needs MongoDB: start one and set MONGODB_URL, or have mongod on PATH',
    );
  return url;
}

/**
 * The Redis server of this run. All tests share it, so keys must be unique. Throws if there is
 * none.
 */
export function redisUrl(): string {
  const url = process.env.REDIS_URL;
  if (!url)
    throw new Error(
      'this test needs Redis: start one and set REDIS_URL, or have redis-server on PATH',
    );
  return url;
}

/** An empty database that no other test uses; `drop` removes it. */
export function freshMongodbUrl(): { url: string; drop(): Promise<void> } {
  const url = new URL(mongodbUrl());
  url.pathname = `/t_${randomBytes(8).toString('hex')}`;
  return {
    url: url.href,
    async drop() {
      const client = new MongoClient(url.href);
      await client.db().dropDatabase();
      await client.close();
    },
  };
}

/** A database of this test file that is empty again, but keeps its collections and indexes. */
let emptied: ReturnType<typeof freshMongodbUrl> | undefined;

/**
 * An empty place for a store: a folder, or with `mongodb` a database. `release` removes what is in
 * it. Making indexes takes a second, so tests that follow each other get the same database; one
 * that is open beside another is new.
 */
export function emptyPlace(engine: Engine | 'memory' = 'lmdb'): {
  settings: { mongodbUrl?: string; dataDir: string };
  release(): Promise<void>;
} {
  const folder = temporaryFolder();
  const database = engine === 'mongodb' ? (emptied ?? freshMongodbUrl()) : undefined;
  if (database === emptied) emptied = undefined;
  return {
    settings: { ...(database && { mongodbUrl: database.url }), dataDir: folder.path },
    async release() {
      folder.remove();
      if (database === undefined) return;
      if (emptied !== undefined) return database.drop();
      await removeDocuments(database.url);
      emptied = database;
    },
  };
}

async function removeDocuments(url: string): Promise<void> {
  const client = new MongoClient(url);
  for (const { name } of await client.db().listCollections().toArray())
    await client.db().collection(name).deleteMany({});
  await client.close();
}
