// Opens a store in MongoDB with this project's deadlines, owned by one environment.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Collection,
  type CreateIndexesOptions,
  type Db,
  type Document,
  type IndexSpecification,
  MongoClient,
  MongoNetworkTimeoutError,
  MongoServerError,
} from 'mongodb';
import type { Environment } from '../environment.ts';
import { type Ownership, ownershipOf, refuseOwner } from './ownership.ts';
import type { StoreName } from './private.ts';

const DEADLINE_MS = 2_000;
// Callers have deadlines of their own; this one keeps a dead socket from staying in the pool.
const SOCKET_TIMEOUT_MS = 10_000;
const MAX_CONFLICTS = 100;

export type Mongo = {
  client: MongoClient;
  db: Db;
  ready(): Promise<undefined>;
  close(): Promise<void>;
};

/**
 * Connects to the URL's database, or to `loyalty` if the URL names none. `store` is the name of the
 * store in it, which `build` gets, and closes later. Throws if that fails, the server is
 * unreachable or has no transactions, the store belongs to the other environment, or it has another
 * format than this version knows.
 */
export async function openMongo<T>(
  url: string,
  store: StoreName,
  environment: Environment,
  build: (mongo: Mongo) => Promise<T>,
): Promise<T> {
  const mongo = await connectMongo(url);
  try {
    // Each store names its environment and its format there.
    const owners = mongo.db.collection<Ownership & { _id: StoreName }>('owners');
    const fresh = ownershipOf(store, environment);
    await owners.insertOne({ _id: store, ...fresh }).catch((error) => {
      if (!isDuplicate(error)) throw error;
    });
    const owner = (await owners.findOne({ _id: store })) ?? fresh;
    refuseOwner(store, owner, environment);
    return await build(mongo);
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

/** Opens a store for `work`, and closes it afterwards. */
export function withMongo<T>(
  url: string,
  store: StoreName,
  environment: Environment,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  return openMongo(url, store, environment, async ({ db, close }) => {
    const result = await work(db);
    await close();
    return result;
  });
}

/** The stores of a database. Rejects if the server is unreachable or one belongs to others. */
export async function checkMongo(url: string, environment: Environment): Promise<StoreName[]> {
  const { db, close } = await connectMongo(url);
  try {
    const owners = await db.collection<Ownership & { _id: StoreName }>('owners').find().toArray();
    for (const owner of owners) refuseOwner(owner._id, owner, environment);
    return owners.map(({ _id }) => _id);
  } finally {
    await close();
  }
}

/** Throws if the server is unreachable, or has no transactions. */
async function connectMongo(url: string): Promise<Mongo> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: DEADLINE_MS,
    connectTimeoutMS: DEADLINE_MS,
    waitQueueTimeoutMS: DEADLINE_MS,
    socketTimeoutMS: SOCKET_TIMEOUT_MS,
    ignoreUndefined: true,
  });
  try {
    await client.connect();
    const { setName, msg } = await client.db('admin').command({ hello: 1 });
    if (setName === undefined && msg !== 'isdbgrid')
      throw new Error(
        'the server of MONGODB_URL is standalone: MongoDB has to be a replica set, of which one node is enough, or a sharded cluster',
      );
  } catch (error) {
    await client.close();
    throw error;
  }
  // `new URL` refuses a URL with several hosts.
  const db = client.db(/^[^/]+:\/\/[^/]+\/[^?]/.test(url) ? undefined : 'loyalty');
  return {
    client,
    db,
    ready: async () => void (await db.command({ ping: 1 })),
    close: () => client.close(),
  };
}

/** Whether an error means that a unique index already contains the key. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** MongoDB's error codes that stores handle. */
export const DUPLICATE_KEY = 11000;
export const WRITE_CONFLICT = 112;
export const NAMESPACE_EXISTS = 48;
const INDEX_ATTEMPTS = 5;
/** An index of millions of documents takes minutes. The driver reads this; its types lack it. */
const NO_DEADLINE = { socketTimeoutMS: 0 };

/**
 * Opens a collection. If necessary, creates it with its validator ($jsonSchema), if it has one, and
 * its indexes. An existing validator stays, since a start of an older version must not weaken what
 * a newer one has set. Several processes may do this at once.
 */
export async function openCollection<T extends Document>(
  db: Db,
  name: string,
  schema?: Document,
  indexes: readonly [IndexSpecification, CreateIndexesOptions][] = [],
): Promise<Collection<T>> {
  try {
    await db.createCollection(name, schema && { validator: { $jsonSchema: schema } });
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
  }
  const collection = db.collection<T>(name);
  for (const [fields, options] of indexes)
    await createIndex(
      () => collection.createIndex(fields, { ...options, ...NO_DEADLINE }),
      INDEX_ATTEMPTS,
    );
  return collection;
}

/**
 * Retries if the server aborts it because another process creates the same index. The server goes
 * on with an index that takes longer than a socket's deadline, and the next request waits for it.
 */
async function createIndex(create: () => Promise<unknown>, attempts: number): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (error instanceof MongoNetworkTimeoutError) return createIndex(create, attempts);
    if (attempts === 1 || !(error instanceof MongoServerError && error.code === WRITE_CONFLICT))
      throw error;
    // Without a random delay, two processes that collided would collide again.
    await pause(Math.random() * 50);
    await createIndex(create, attempts - 1);
  }
}

/** Repeats what other writers defeat, until it resolves with a result. Rejects after 100 times. */
export async function retryOnConflict<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 1; count <= MAX_CONFLICTS; count += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    await pause(Math.random() * count);
  }
  throw new Error(`other writers changed the same ${MAX_CONFLICTS} times in a row`);
}
