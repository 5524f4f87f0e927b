// Connects to MongoDB with this project's deadlines, and makes sure the store belongs to this environment.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Collection,
  type CreateIndexesOptions,
  type Db,
  type Document,
  type IndexSpecification,
  MongoClient,
  MongoServerError,
} from 'mongodb';
import { type Environment, refuseForeignStore } from '../environment.ts';

// Whoever asks has a deadline of 2 seconds of its own (transport, keyring); a socket silent for longer is given up, so that none is lost for good.
const DEADLINE_MS = 2_000;
const SILENCE_MS = 10_000;

export type Mongo = { db: Db; ready(): Promise<void>; close(): Promise<void> };

/**
 * Connects to the URL's database, `loyalty` if it names none. `store` is the name of the store kept in it.
 * Throws where the server cannot be reached or the store belongs to the other environment.
 */
export async function openMongo(
  url: string,
  store: string,
  environment: Environment,
): Promise<Mongo> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: DEADLINE_MS,
    connectTimeoutMS: DEADLINE_MS,
    waitQueueTimeoutMS: DEADLINE_MS,
    socketTimeoutMS: SILENCE_MS,
    ignoreUndefined: true,
  });
  try {
    await client.connect();
    // Not by `new URL`, which refuses an address of several hosts.
    const db = client.db(/^[^/]+:\/\/[^/]+\/[^?]/.test(url) ? undefined : 'loyalty');
    const owners = db.collection<{ _id: string; environment: string }>('owners');
    await owners.insertOne({ _id: store, environment }).catch((error) => {
      if (!isDuplicate(error)) throw error;
    });
    refuseForeignStore(
      store,
      (await owners.findOne({ _id: store }))?.environment ?? environment,
      environment,
    );
    return {
      db,
      ready: async () => void (await db.command({ ping: 1 })),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Whether an error says that a unique index already holds the key. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Codes of MongoDB's errors that a store lives with. */
export const DUPLICATE_KEY = 11000;
export const WRITE_CONFLICT = 112;
const NAMESPACE_EXISTS = 48;
const INDEX_ATTEMPTS = 5;

/** A collection with its validator ($jsonSchema) and indexes, made or brought up to date where needed; several processes may do it at once. */
export async function openCollection<T extends Document>(
  db: Db,
  name: string,
  schema: Document,
  indexes: readonly [IndexSpecification, CreateIndexesOptions][] = [],
): Promise<Collection<T>> {
  const validator = { $jsonSchema: schema };
  try {
    await db.createCollection(name, { validator });
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
    await db.command({ collMod: name, validator });
  }
  const collection = db.collection<T>(name);
  for (const [fields, options] of indexes)
    await createIndex(() => collection.createIndex(fields, options), INDEX_ATTEMPTS);
  return collection;
}

/** Again where the server cancelled it in favour of another process that makes the same one. */
async function createIndex(create: () => Promise<unknown>, attempts: number): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (attempts === 1 || !(error instanceof MongoServerError && error.code === WRITE_CONFLICT))
      throw error;
    // Those who met would meet again without a moment of chance between.
    await pause(Math.random() * 50);
    await createIndex(create, attempts - 1);
  }
}
