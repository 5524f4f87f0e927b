// Reads of many documents, on the real engine, with writers beside them.
import { type Collection, type CommandStartedEvent, MongoClient } from 'mongodb';
import { freshMongodbUrl } from '../../../../test/support/servers/databases.ts';
import { countAll, oneResponse, pages, ranges, walk } from './reads.mongo.ts';

type Thing = { _id: string; group: number; size: number; seen?: number };

const COUNT = 3_000;
const ids = Array.from({ length: COUNT }, (_, index) => `k${String(index).padStart(6, '0')}`);
const fresh = freshMongodbUrl();
// The readers' commands are listed; the writers have a client of their own.
const client = new MongoClient(fresh.url, { monitorCommands: true });
const others = new MongoClient(fresh.url);
const commands: string[] = [];
client.on('commandStarted', ({ commandName }: CommandStartedEvent) => commands.push(commandName));
let things: Collection<Thing>;

beforeAll(async () => {
  things = client.db().collection<Thing>('things');
  await things.createIndex({ group: 1, _id: 1 });
  await things.insertMany(ids.map((_id, index) => ({ _id, group: index % 7, size: index })));
});
beforeEach(() => {
  commands.length = 0;
});
afterAll(async () => {
  await client.close();
  await others.close();
  await fresh.drop();
});

/** Reads while four writers change, add and remove, and read with cursors of their own. */
async function besideWriters<T>(read: () => Promise<T>): Promise<T> {
  const same = others.db().collection<Thing>('things');
  let isRead = false;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let turn = 0; !isRead; turn += 1) {
      const added = `x${writer}-${turn}`;
      await same.insertOne({ _id: added, group: 9, size: 0 });
      await same.updateMany({ group: writer }, { $inc: { seen: 1 } });
      await same.find({ group: writer }, { sort: { size: -1 }, batchSize: 200 }).toArray();
      await same.deleteOne({ _id: added });
    }
  });
  try {
    return await read();
  } finally {
    isRead = true;
    await Promise.all(writers);
  }
}

async function idsOf(found: AsyncIterable<{ _id: string }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { _id } of found) if (_id.startsWith('k')) all.push(_id);
  return all;
}

test('a walk beside writers yields each document once, in the order of the IDs', async () => {
  expect(await besideWriters(() => idsOf(walk(things, { projection: { _id: 1 } })))).toEqual(ids);
});

test('a walk in the order of other fields yields what its filter selects', async () => {
  const found = await besideWriters(() =>
    idsOf(walk(things, { filter: { group: { $gte: 3 } }, order: ['group', '_id'], pageSize: 300 })),
  );
  const expected = [3, 4, 5, 6].flatMap((group) => ids.filter((_, index) => index % 7 === group));
  expect(found).toEqual(expected);
});

test('no page has more documents than its size', async () => {
  const sizes: number[] = [];
  for await (const page of pages(things, { filter: { group: { $lt: 7 } }, pageSize: 700 }))
    sizes.push(page.length);
  expect(sizes).toEqual([700, 700, 700, 700, 200]);
});

test('documents found by their IDs come in one reply', async () => {
  const some = ids.slice(0, 1_000);
  const found = await besideWriters(() =>
    things.find({ _id: { $in: some } }, oneResponse(some.length)).toArray(),
  );
  expect(found.map(({ _id }) => _id).sort()).toEqual(some);
  expect(commands).toEqual(['find']);
});

test('ranges divide a collection into parts of one size', async () => {
  const parts: string[][] = [];
  for await (const range of ranges(things, 800))
    parts.push(
      (await things.find(range, oneResponse(COUNT)).toArray()).map(({ _id }) => _id).sort(),
    );
  expect(parts.map(({ length }) => length)).toEqual([800, 800, 800, 600]);
  expect(parts.flat()).toEqual(ids);
});

test('documents are counted however many there are', async () => {
  expect(await countAll(things)).toBe(COUNT);
  expect(await countAll(things, { size: { $lt: 10 } })).toBe(10);
  expect(await countAll(client.db().collection<Thing>('nothing'))).toBe(0);
});
