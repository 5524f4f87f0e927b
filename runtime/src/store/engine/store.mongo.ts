// A store on MongoDB: a rule runs over what was read, and one transaction checks and writes it.
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AnyBulkWriteOperation,
  type ClientSession,
  type Collection,
  type FindOptions,
  type MongoClient,
  MongoError,
  ObjectId,
  type TransactionOptions,
  type UpdateFilter,
} from 'mongodb';
import type { Environment } from '../../environment.ts';
import { batchLoad } from '../../eventloop/batchload.ts';
import {
  bounded,
  isDuplicate,
  NAMESPACE_EXISTS,
  openMongo,
  timed,
  WRITE_CONFLICT,
} from '../mongo.ts';
import type { StoreName } from '../private.ts';
import { type Key, keyOf, textOf } from './keys.ts';
import {
  type Addition,
  type Bounds,
  boundsOf,
  entriesOf,
  mapFor,
  type Range,
  type Reads,
  type Replaced,
  type Rule,
  runRule,
  type Source,
  type Store,
  type Table,
  type Writes,
  withIndexes,
} from './store.ts';

/** `_v` is new with each write. */
type Stored = { _id: string; _v: ObjectId; [field: string]: unknown };

const MAX_ATTEMPTS = 100;
/** Some transactions of another process, so that many writers of one row are soon apart. */
const MAX_PAUSE_MS = 200;
const FEW = 100;
const MOST_IN_A_READ = 1_000;
/** How often a transaction is begun again, or its commit repeated, while the server is away. */
const MAX_FAILURES = 3;
const DURABLE = { w: 'majority', journal: true } as const;
const SNAPSHOT: TransactionOptions = {
  readConcern: { level: 'snapshot' },
  writeConcern: DURABLE,
  readPreference: 'primary',
};
/** The collection of what conflicts by group: a bounded number of rows, which name nobody. */
const GUARDS = 'guards';
const GUARD_BYTES = 3;

/**
 * Opens the store in a database, as openMongo does, and creates the collections of its tables.
 * `retried` is called whenever a transaction runs again.
 */
export function openMongoStore(
  url: string,
  environment: Environment,
  name: StoreName,
  tables: readonly Table[],
  retried: () => void = () => {},
): Promise<Store> {
  return openMongo(url, name, environment, async ({ db, client, ready, close }) => {
    const collection = (of: string): Collection<Stored> =>
      db.collection(`${name}.${of}`, {
        // What a new primary may not have must not be passed on.
        readConcern: 'majority',
        readPreference: 'primary',
        writeConcern: DURABLE,
      });
    const guards = collection(GUARDS);
    const rows = new Map<string, Rows>();
    /** For reads in no transaction. */
    const reads = new Map<string, Rows>();
    for (const { name: each, nearby } of withIndexes(tables)) {
      const own = rowsIn(collection(each));
      rows.set(each, own);
      reads.set(each, nearby ? rowsIn(db.collection(own.collection.collectionName)) : own);
    }
    // A transaction cannot create them on every server.
    const existing = new Set(
      (await db.listCollections({}, bounded()).toArray()).map((each) => each.name),
    );
    for (const each of [...[...rows.values()].map(({ collection }) => collection), guards])
      if (!existing.has(each.collectionName))
        await timed(db.createCollection(each.collectionName)).catch((error) => {
          if (!(error instanceof MongoError && error.code === NAMESPACE_EXISTS)) throw error;
        });

    function rowsOf(table: Table, from = rows): Rows {
      const found = from.get(table.name);
      if (found === undefined) throw new Error(`the store ${name} has no table ${table.name}`);
      return found;
    }

    const replacing = new Queues();

    async function transact<T>(rule: Rule<T>, reads: readonly Reads[] = []): Promise<T> {
      async function run() {
        const view = new View(rowsOf);
        await Promise.all(reads.map(({ table, keys }) => view.read(table, keys.map(textOf))));
        return { view, outcome: await view.run(rule) };
      }
      const first = await run();
      return replacing.run(first.view.changed(first.outcome), (hasWaited) =>
        commit(run, hasWaited ? undefined : first),
      );
    }

    async function commit<T>(run: () => Promise<Ran<T>>, first: Ran<T> | undefined): Promise<T> {
      let failures = 0;
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const { view, outcome } = (attempt === 1 && first) || (await run());
        const isDone = await client
          .withSession((session) => view.commit(session, guards, outcome))
          .catch((error) => {
            // Nothing of it is stored.
            failures += 1;
            if (failures === MAX_FAILURES || !isTransient(error)) throw error;
            return false;
          });
        if (isDone && 'error' in outcome) throw outcome.error;
        if (isDone && 'result' in outcome) return outcome.result;
        retried();
        await pause(Math.random() * Math.min(2 ** attempt, MAX_PAUSE_MS));
      }
      throw new Error(`other writers changed the same ${MAX_ATTEMPTS} times in a row`);
    }

    return {
      // Casts: a table has rows of one type.
      get: async <Row>(table: Table, key: Key) =>
        rowOf(await rowsOf(table, reads).get(textOf(key))) as Row | undefined,
      getAll: async <Row>(table: Table, keys: readonly Key[]) => {
        const found = await rowsOf(table, reads).getAll(keys.map(textOf));
        return found.map((each) => rowOf(each) as Row | undefined);
      },
      async range<Row>(table: Table, range: Range) {
        const bounds = boundsOf(range);
        const found = range.snapshot
          ? await inSnapshot(client, (session) => rowsOf(table).range(bounds, { session }))
          : await rowsOf(table, reads).range(bounds);
        return entriesOf<Row>(found.map(entryOf));
      },
      keys: async (table, range) => {
        const found = await rowsOf(table, reads).range(boundsOf(range), { projection: { _id: 1 } });
        return found.map(({ _id }) => keyOf(_id));
      },
      count: (table, range) => {
        const { from, until } = boundsOf({ ...range, limit: 0 });
        return rowsOf(table, reads).collection.countDocuments(
          { _id: { $gte: from, $lt: until } },
          bounded(),
        );
      },
      view: transact,
      transact,
      async add(table, additions) {
        const { collection } = rowsOf(table);
        if (additions.length === 0) return;
        await collection.bulkWrite(additions.map(additionOf), { ordered: false, ...bounded() });
      },
      ready,
      close,
    };
  });
}

/** A read by itself may have what is written while it goes on. */
function inSnapshot<T>(client: MongoClient, read: (session: ClientSession) => Promise<T>) {
  return client.withSession(async (session) => {
    session.startTransaction(SNAPSHOT);
    const found = await read(session);
    await timed(session.commitTransaction());
    return found;
  });
}

type Rows = ReturnType<typeof rowsIn>;

function rowsIn(collection: Collection<Stored>) {
  const range = ({ from, until, limit, reverse }: Bounds, more?: FindOptions) => {
    const order = { sort: { _id: reverse ? -1 : 1 }, limit, batchSize: limit + 1 } as const;
    const options = { ...order, ...more, ...bounded() };
    return collection.find({ _id: { $gte: from, $lt: until } }, options).toArray();
  };
  const find = async (texts: readonly string[], session?: ClientSession) => {
    const options = { batchSize: texts.length + 1, ...(session && { session }), ...bounded() };
    const found = await collection.find({ _id: { $in: [...texts] } }, options).toArray();
    return new Map(found.map((row) => [row._id, row]));
  };
  const get = batchLoad<Stored>(find);
  /** Few of them share a round trip with other reads; many take one after the other. */
  const getAll = async (texts: readonly string[]) => {
    if (texts.length <= FEW) return Promise.all(texts.map(get));
    const found = new Map<string, Stored>();
    for (let from = 0; from < texts.length; from += MOST_IN_A_READ)
      for (const [text, row] of await find(texts.slice(from, from + MOST_IN_A_READ)))
        found.set(text, row);
    return texts.map((text) => found.get(text));
  };
  return { collection, get, getAll, find, range };
}

/**
 * Transactions of a process that replace the same row go one after the other: each would make all
 * others run again.
 */
class Queues {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Takes a place in the queue of each row, all at once. */
  async run<T>(rows: readonly string[], work: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const before = rows.flatMap((row) => this.last.get(row) ?? []);
    const done = Promise.all(before).then(() => work(before.length > 0));
    const settled = done.catch(() => undefined);
    for (const row of rows) this.last.set(row, settled);
    try {
      return await done;
    } finally {
      for (const row of rows) if (this.last.get(row) === settled) this.last.delete(row);
    }
  }
}

type Outcome = { writes: Writes; replaced: Replaced };
type Ran<T> = { view: View; outcome: ({ result: T } | { error: unknown }) & Outcome };

/** What is written to a collection: rows go as they were read, or as they are, and others come. */
type Batch = {
  collection: Collection<Stored>;
  read: Stored[];
  unread: string[];
  inserted: Stored[];
};
/** Rows that have to be as they were read. */
type Check = { rows: Rows; texts: string[]; known: ReadonlyMap<string, Stored | undefined> };

/** What one attempt of a rule has read, and whether it is still so when it is written. */
class View {
  private readonly rowsOf: (table: Table) => Rows;
  private readonly known = new Map<Table, Map<string, Stored | undefined>>();
  private readonly ranges = new Map<string, { rows: Rows; bounds: Bounds; found: Stored[] }>();
  /** What the last run has used. */
  private used = new Map<Table, Set<string>>();
  private groups = new Set<string>();

  constructor(rowsOf: (table: Table) => Rows) {
    this.rowsOf = rowsOf;
  }

  /** Runs the rule, reads what it asks for, and runs it again until it asks for nothing new. */
  async run<T>(rule: Rule<T>): Promise<({ result: T } | { error: unknown }) & Outcome> {
    for (;;) {
      this.used = new Map();
      this.groups = new Set();
      let wanted: (() => Promise<void>) | undefined;
      const stop = (read: () => Promise<void>): never => {
        wanted = read;
        throw new Error('it is not read yet');
      };
      try {
        return runRule(rule, this.source(stop));
      } catch (error) {
        if (wanted === undefined) return { error, writes: new Map(), replaced: new Map() };
        await wanted();
      }
    }
  }

  /** Reads rows, which the next run knows then. */
  async read(table: Table, texts: readonly string[]): Promise<void> {
    const known = this.knownOf(table);
    const rows = this.rowsOf(table);
    const found = await rows.getAll(texts);
    for (const [place, text] of texts.entries()) known.set(text, found[place]);
  }

  /** The rows that are there, and that it replaces or removes. */
  changed({ writes }: Outcome): string[] {
    return [...writes].flatMap(([table, rows]) => {
      const known = this.knownOf(table);
      const there = [...rows.keys()].filter((text) => known.get(text) !== undefined);
      return there.map((text) => `${table.name} ${text}`);
    });
  }

  private knownOf(table: Table): Map<string, Stored | undefined> {
    return mapFor(this.known, table);
  }

  private source(stop: (read: () => Promise<void>) => never): Source {
    const read = (table: Table, texts: readonly string[]) => {
      const known = this.knownOf(table);
      const missing = texts.filter((text) => !known.has(text));
      if (missing.length > 0) stop(() => this.read(table, missing));
      return texts.map((text) => rowOf(known.get(text)));
    };
    const use = (table: Table, texts: readonly string[]) => {
      const used = this.used.get(table) ?? new Set();
      this.used.set(table, used);
      for (const text of texts) used.add(text);
      return read(table, texts);
    };
    return {
      get: (table, text) => use(table, [text])[0],
      getAll: use,
      peekAll: read,
      range: (table, bounds) => {
        if (table.group === undefined) throw new Error(`the table ${table.name} has no groups`);
        const key = `${table.name} ${JSON.stringify(bounds)}`;
        const known = this.ranges.get(key);
        if (known === undefined) {
          const rows = this.rowsOf(table);
          return stop(async () => {
            this.ranges.set(key, { rows, bounds, found: await rows.range(bounds) });
          });
        }
        this.groups.add(groupOf(table.group, bounds.from));
        return known.found.map(entryOf);
      },
    };
  }

  /**
   * Writes in one transaction, if all that the rule has used is unchanged. Rows of a group are
   * looked at in the transaction's snapshot, and who writes one writes the group's guard too: so
   * does this, and of the two, the later one fails. Rows without a group are written as they are.
   */
  async commit(
    session: ClientSession,
    guards: Collection<Stored>,
    { writes, replaced }: Outcome,
  ): Promise<boolean> {
    const isWriting = [...writes.values()].some((rows) => rows.size > 0);
    const batches: Batch[] = [];
    const checks: Check[] = [];
    const groups = new Set(isWriting ? this.groups : []);
    for (const table of this.tables(writes)) {
      const rows = this.rowsOf(table);
      const known = this.knownOf(table);
      const used = this.used.get(table) ?? new Set<string>();
      const written = writes.get(table) ?? new Map<string, object | undefined>();
      const batch: Batch = { collection: rows.collection, read: [], unread: [], inserted: [] };
      const absent: string[] = [];
      for (const [text, row] of written) {
        if (table.group !== undefined) groups.add(groupOf(table.group, text));
        const stored = known.get(text);
        if (used.has(text) && stored !== undefined) batch.read.push(stored);
        else if (used.has(text) && row === undefined) absent.push(text);
        else if (!used.has(text) && (!table.isUnique || replaced.get(table)?.has(text)))
          batch.unread.push(text);
        if (row !== undefined) batch.inserted.push(storedOf(text, row));
      }
      // Who has found nothing to remove writes nothing by which others conflict.
      if (absent.length > 0) checks.push({ rows, texts: absent, known });
      const kept = [...used].filter((text) => !written.has(text));
      if (table.group !== undefined || !isWriting) {
        if (kept.length > 0) checks.push({ rows, texts: kept, known });
        if (isWriting) for (const text of kept) groups.add(groupOf(table.group ?? '', text));
      } else
        for (const text of kept) {
          const stored = known.get(text);
          if (stored === undefined)
            throw new Error(`the table ${table.name} has no groups, and no row ${text}`);
          batch.read.push(stored);
          batch.inserted.push({ ...stored, _v: new ObjectId() });
        }
      batches.push(batch);
    }
    // In an order, so that no two wait for each other.
    const guarded = [...groups].sort();
    const inserted = guarded.map((group) => storedOf(group, {}));
    batches.push({ collection: guards, read: [], unread: guarded, inserted });
    // A single read is consistent without a transaction.
    const reads = checks.reduce((sum, { texts }) => sum + texts.length, 0) + this.ranges.size;
    if (!isWriting && reads <= 1) return true;

    session.startTransaction(SNAPSHOT);
    try {
      let isUnchanged = await this.check(session, checks);
      for (const batch of batches) isUnchanged &&= await write(session, batch);
      if (isUnchanged) await commitOf(session);
      return isUnchanged;
    } catch (error) {
      if (!isConflict(error)) throw error;
    } finally {
      if (session.inTransaction()) await timed(session.abortTransaction()).catch(() => undefined);
    }
    return false;
  }

  private tables(writes: Writes): Set<Table> {
    return new Set([...this.used.keys(), ...writes.keys()]);
  }

  private async check(session: ClientSession, checks: readonly Check[]): Promise<boolean> {
    for (const { rows, texts, known } of checks) {
      const found = await rows.find(texts, session);
      if (texts.some((text) => !isSame(found.get(text), known.get(text)))) return false;
    }
    for (const { rows, bounds, found } of this.ranges.values()) {
      const now = await rows.range(bounds, { session });
      if (now.length !== found.length || now.some((row, place) => !isSame(row, found[place])))
        return false;
    }
    return true;
  }
}

/** False if a row is not as it was read. */
async function write(
  session: ClientSession,
  { collection, read, unread, inserted }: Batch,
): Promise<boolean> {
  const ids = read.map(({ _id }) => _id);
  const [gone, ...others] = [...ids, ...unread];
  const [row, ...more] = inserted;
  const options = { session, ...bounded() };
  if (row !== undefined && row._id === gone && others.length + more.length === 0) {
    const { _id, _v, ...replacement } = row;
    const [before] = read;
    const filter = before === undefined ? { _id } : { _id, _v: before._v };
    const replacing = { ...options, upsert: before === undefined };
    const done = await collection.replaceOne(filter, { _v, ...replacement }, replacing);
    return done.matchedCount + done.upsertedCount === 1;
  }
  if (ids.length > 0) {
    // Each write has a version of its own: no row can have that of another one.
    const filter = { _id: { $in: ids }, _v: { $in: read.map(({ _v }) => _v) } };
    const { deletedCount } = await collection.deleteMany(filter, options);
    if (deletedCount < ids.length) return false;
  }
  if (unread.length > 0) await collection.deleteMany({ _id: { $in: unread } }, options);
  if (inserted.length > 0) await collection.insertMany(inserted, { ordered: false, ...options });
  return true;
}

/** Once more if the reply was lost: a server commits a transaction once. */
async function commitOf(session: ClientSession): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      await timed(session.commitTransaction());
      return;
    } catch (error) {
      const isUnknown =
        error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
      if (!isUnknown || attempt === MAX_FAILURES) throw error;
    }
}

function storedOf(_id: string, row: object): Stored {
  return { _id, _v: new ObjectId(), ...row };
}

function additionOf({ key, amounts, highest, initially }: Addition): AnyBulkWriteOperation<Stored> {
  const update = {
    $set: { _v: new ObjectId() },
    ...(Object.keys(amounts).length > 0 && { $inc: amounts }),
    ...(highest && { $max: highest }),
    ...(initially && { $setOnInsert: initially }),
  };
  // Cast: the driver's type knows no fields of any name.
  const operation = update as UpdateFilter<Stored>;
  return { updateOne: { filter: { _id: textOf(key) }, update: operation, upsert: true } };
}

/** Two groups may share a guard: then they conflict without need. */
function groupOf(group: string, text: string): string {
  const hashed = hash('sha256', `${group} ${text.split(' ', 1)[0]}`, 'buffer');
  return hashed.toString('hex', 0, GUARD_BYTES);
}

function isSame(one: Stored | undefined, other: Stored | undefined): boolean {
  return one === undefined ? other === undefined : one._v.equals(other?._v ?? '');
}

function isTransient(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');
}

function isConflict(error: unknown): boolean {
  return error instanceof MongoError && (isDuplicate(error) || error.code === WRITE_CONFLICT);
}

function rowOf(stored: Stored | undefined): object | undefined {
  if (stored === undefined) return undefined;
  const { _id, _v, ...row } = stored;
  return row;
}

function entryOf(stored: Stored): [text: string, row: object] {
  return [stored._id, rowOf(stored) ?? {}];
}
