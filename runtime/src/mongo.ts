// Connects to MongoDB with this project's deadlines, and makes sure the store belongs to this environment.
import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { type Environment, refuseForeignStore } from './environment.ts';

// Whoever asks has a deadline of 2 seconds of its own (transport, keyring); a socket silent for longer is given up, so that none is lost for good.
const DEADLINE_MS = 2_000;
const SILENCE_MS = 10_000;

export type Mongo = { db: Db; ready(): Promise<void>; close(): Promise<void> };

/**
 * Connects to the URL's database, `loyalty` if it names none. `store` is the name of the store kept in it.
 * Throws where the server cannot be reached or the store belongs to the other environment.
 */
export async function openMongo(url: string, store: string, environment: Environment): Promise<Mongo> {
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
    refuseForeignStore(store, (await owners.findOne({ _id: store }))?.environment ?? environment, environment);
    return { db, ready: async () => void (await db.command({ ping: 1 })), close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Whether an error says that a unique index already holds the key. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}
