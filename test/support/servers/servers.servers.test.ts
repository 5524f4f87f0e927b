// The servers that tests start: they are theirs alone, and none outlives the tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ClientSession, type Collection, MongoClient } from 'mongodb';
import { temporaryFolder } from '../folder.ts';
import { until } from '../until.ts';
import { freshMongodbUrl, redisUrl } from './databases.ts';
import { startRedis } from './redis/server.ts';

test('a fresh database is empty, and drop removes it', async () => {
  const fresh = freshMongodbUrl();
  const client = await new MongoClient(fresh.url).connect();
  const names = async () =>
    (await client.db().listCollections().toArray()).map((collection) => collection.name);
  expect(await names()).toEqual([]);
  await client.db().collection<{ _id: string }>('things').insertOne({ _id: 'one' });
  expect(await names()).toEqual(['things']);
  await fresh.drop();
  expect(await names()).toEqual([]);
  await client.close();
});

test('cursors go on while others read and write, and those that nobody reads to their end block none', async () => {
  const fresh = freshMongodbUrl();
  const client = await new MongoClient(fresh.url).connect();
  const things = client.db().collection<{ _id: number }>('things');
  await things.insertMany(Array.from({ length: 2_500 }, (_, index) => ({ _id: index })));
  const options = (reader: number) => ({ sort: { _id: 1 }, batchSize: 900 + reader }) as const;
  for (let left = 0; left < 100; left += 1) {
    const leaver = await new MongoClient(fresh.url).connect();
    const cursor = leaver.db().collection('things').find({}, options(left));
    await cursor.next();
    if (left % 2 === 0) await cursor.close();
    await leaver.close(true);
  }
  const reads = Array.from({ length: 10 }, async (_, reader) => {
    const found = await things.find({}, options(reader)).toArray();
    await things.updateOne({ _id: reader }, { $set: { read: true } });
    return found.length;
  });
  expect(await Promise.all(reads)).toEqual(reads.map(() => 2_500));
  await client.close();
  await fresh.drop();
});

describe('a transaction of MongoDB', () => {
  type Thing = { _id: string; n: number };
  let fresh: ReturnType<typeof freshMongodbUrl>;
  let client: MongoClient;
  let things: Collection<Thing>;

  beforeEach(async () => {
    fresh = freshMongodbUrl();
    client = await new MongoClient(fresh.url).connect();
    things = client.db().collection<Thing>('things');
    await things.insertOne({ _id: 'a', n: 0 });
  });
  afterEach(async () => {
    await client.close();
    await fresh.drop();
  });
  const add = (n: number, session: ClientSession) =>
    things.updateOne({ _id: 'a' }, { $inc: { n } }, { session });
  const stored = async () => (await things.find().sort({ _id: 1 }).toArray()).map(({ n }) => n);

  test('is a snapshot, and nobody sees its writes before it is committed', async () => {
    await client.withSession(async (session) => {
      session.startTransaction();
      await things.insertOne({ _id: 'b', n: 7 }, { session });
      await things.insertOne({ _id: 'c', n: 8 });
      expect(await things.countDocuments({}, { session })).toBe(2);
      expect(await stored()).toEqual([0, 8]);
      await session.commitTransaction();
      await session.commitTransaction();
    });
    expect(await stored()).toEqual([0, 7, 8]);
  });

  test('that is aborted, or whose client dies, leaves nothing', async () => {
    await client.withSession(async (session) => {
      session.startTransaction();
      await add(1, session);
      await session.abortTransaction();
    });
    const dying = await new MongoClient(fresh.url).connect();
    const session = dying.startSession();
    session.startTransaction();
    await dying.db().collection<Thing>('things').deleteOne({ _id: 'a' }, { session });
    await dying.close(true);
    await until(async () => (await things.updateOne({}, { $inc: { n: 1 } })).matchedCount === 1);
    expect(await stored()).toEqual([1]);
  });

  test('of two that write one document fails and may be run again, and none is lost', async () => {
    await client.withSession(async (one) => {
      await client.withSession(async (other) => {
        one.startTransaction();
        other.startTransaction();
        await add(1, one);
        await things.findOne({ _id: 'a' }, { session: other });
        const late = await add(1, other).catch((error) => error);
        expect(late.hasErrorLabel('TransientTransactionError')).toBe(true);
        await one.commitTransaction();
      });
    });
    const adding = Array.from({ length: 40 }, () =>
      client.withSession((session) => session.withTransaction(() => add(1, session))),
    );
    await Promise.all(adding);
    expect(await stored()).toEqual([41]);
  });
});

test("the run's Redis answers", async () => {
  expect(await ping(redisUrl())).toBe('+PONG');
});

test('a Redis answers again at the same address after a pause and after a crash', async () => {
  const redis = await startRedis();
  expect(await ping(redis.url)).toBe('+PONG');
  redis.pause();
  const delayed = ping(redis.url);
  expect(await Promise.race([delayed, pause(100, 'no answer yet')])).toBe('no answer yet');
  redis.resume();
  expect(await delayed).toBe('+PONG');
  await redis.kill();
  await expect(ping(redis.url)).rejects.toThrow('ECONNREFUSED');
  await redis.restart();
  expect(await ping(redis.url)).toBe('+PONG');
  await redis.stop();
  await expect(ping(redis.url)).rejects.toThrow('ECONNREFUSED');
});

test('a server and its folder are gone after the process that started it is killed', async () => {
  const folder = temporaryFolder();
  const script = `
    const { startProcess } = require('${join(import.meta.dirname, 'process.ts')}');
    startProcess({ command: 'sh', args: ['-c', 'echo up; exec sleep 1000'], folder: '${folder.path}' }).then((server) => console.log(server.pid));
  `;
  const starter = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=commonjs', '-e', script],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [pid] = await once(starter.stdout, 'data');
  expect(isRunning(Number(pid))).toBe(true);
  starter.kill('SIGKILL');
  await until(() => !isRunning(Number(pid)) && !existsSync(folder.path));
});

async function ping(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('PING\r\n');
  const [answer] = await once(socket.setEncoding('utf8'), 'data');
  socket.destroy();
  return String(answer).trim();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
