// Opens a store in MongoDB with this project's deadlines, owned by one environment.
import { setMaxListeners } from 'node:events';
import { MongoClient, MongoServerError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import type { Environment } from '../environment.ts';
import { withTimeout } from '../timeout.ts';
import { type Ownership, ownershipOf, refuseOwner } from './ownership.ts';
import type { StoreName } from './private.ts';

const DEADLINE_MS = 2_000;
// Callers have deadlines of their own; this one keeps a dead socket from staying in the pool.
const SOCKET_TIMEOUT_MS = 10_000;
const SIGNAL_MS = 1_000;

let signal: AbortSignal | undefined;
let renewAt = 0;

// The driver (7.9) waits until a command is written even if its socket is closed: an operation for
// SOCKET_TIMEOUT_MS, and what watches the server, without which there is no operation, for ever.
const { writeCommand } = Connection.prototype;
Connection.prototype.writeCommand = function write(...args) {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(this.error);
    this.once('close', onClose);
    const written = writeCommand.apply(this, args).then(resolve, reject);
    void written.finally(() => this.off('close', onClose));
  });
};

/**
 * The option by which an operation ends after SOCKET_TIMEOUT_MS, with what the driver repeats of
 * it; operations of a second share a timer.
 */
export function bounded(): { signal: AbortSignal } {
  const now = performance.now();
  if (signal === undefined || now >= renewAt) {
    signal = AbortSignal.timeout(SOCKET_TIMEOUT_MS);
    setMaxListeners(0, signal);
    renewAt = now + SIGNAL_MS;
  }
  return { signal };
}

/** The same for what takes no signal. */
export function timed(operation: Promise<unknown>): Promise<unknown> {
  return withTimeout(operation, SOCKET_TIMEOUT_MS, 'no answer of the database');
}

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
  build: (mongo: Awaited<ReturnType<typeof connectMongo>>) => Promise<T>,
): Promise<T> {
  const mongo = await connectMongo(url);
  try {
    // Each store names its environment and its format there.
    const owners = mongo.db.collection<Ownership & { _id: StoreName }>('owners');
    const fresh = ownershipOf(store, environment);
    await timed(owners.insertOne({ _id: store, ...fresh })).catch((error) => {
      if (!isDuplicate(error)) throw error;
    });
    const owner = (await owners.findOne({ _id: store }, bounded())) ?? fresh;
    refuseOwner(store, owner, environment);
    return await build(mongo);
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

/** The stores of a database. Rejects if the server is unreachable or one belongs to others. */
export async function checkMongo(url: string, environment: Environment): Promise<StoreName[]> {
  const { db, close } = await connectMongo(url);
  try {
    const owners = await db
      .collection<Ownership & { _id: StoreName }>('owners')
      .find({}, bounded())
      .toArray();
    for (const owner of owners) refuseOwner(owner._id, owner, environment);
    return owners.map(({ _id }) => _id);
  } finally {
    await close();
  }
}

/** Throws if the server is unreachable, or has no transactions. */
async function connectMongo(url: string) {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: DEADLINE_MS,
    connectTimeoutMS: DEADLINE_MS,
    waitQueueTimeoutMS: DEADLINE_MS,
    socketTimeoutMS: SOCKET_TIMEOUT_MS,
    ignoreUndefined: true,
  });
  try {
    await client.connect();
    const { setName, msg } = await client.db('admin').command({ hello: 1 }, bounded());
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
    ready: async (): Promise<undefined> => void (await db.command({ ping: 1 }, bounded())),
    close: () => client.close(),
  };
}

/** Whether an error means that a unique index already contains the key. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** MongoDB's error codes that stores handle. */
const DUPLICATE_KEY = 11000;
export const WRITE_CONFLICT = 112;
export const NAMESPACE_EXISTS = 48;
