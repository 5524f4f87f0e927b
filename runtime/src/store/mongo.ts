// Opens a store in MongoDB with this project's deadlines, owned by one environment.
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

const DEADLINE_MS = 2_000;
// Callers have deadlines of their own; this one keeps a dead socket from staying in the pool.
const SOCKET_TIMEOUT_MS = 10_000;

export type Mongo = { db: Db; ready(): Promise<void>; close(): Promise<void> };

/**
 * Connects to the URL's database, or to `loyalty` if the URL names none. `store` is the name of the
 * store in it. Throws if the server is unreachable or the store belongs to the other environment.
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
    socketTimeoutMS: SOCKET_TIMEOUT_MS,
    ignoreUndefined: true,
  });
  try {
    await client.connect();
    // `new URL` refuses a URL with several hosts.
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

/** Whether an error means that a unique index already contains the key. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** MongoDB's error codes that stores handle. */
export const DUPLICATE_KEY = 11000;
export const WRITE_CONFLICT = 112;
const NAMESPACE_EXISTS = 48;
const INDEX_ATTEMPTS = 5;

/**
 * Opens a collection, and creates or updates its validator ($jsonSchema) and indexes if necessary.
 * Several processes may do this at once.
 */
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

/** Retries if the server aborts it because another process creates the same index. */
async function createIndex(create: () => Promise<unknown>, attempts: number): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (attempts === 1 || !(error instanceof MongoServerError && error.code === WRITE_CONFLICT))
      throw error;
    // Without a random delay, two processes that collided would collide again.
    await pause(Math.random() * 50);
    await createIndex(create, attempts - 1);
  }
}
