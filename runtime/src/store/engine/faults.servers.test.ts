// What is stored when a process is killed, a reply is lost, or the database is away for a while.

import { createServer } from 'node:net';
import { runUntilKilled } from '../../../../test/support/programs/killed.ts';
import { emptyPlace } from '../../../../test/support/servers/databases.ts';
import {
  command,
  encode,
  reply,
  split,
} from '../../../../test/support/servers/documentdb/commands.ts';
import { startProxy, type TcpProxy } from '../../../../test/support/servers/proxy.ts';
import { until } from '../../../../test/support/until.ts';
import { ACCOUNTS, KEYS, MOVES, openAccounts } from '../../../test/accounts.ts';
import { openMongo } from '../mongo.ts';
import { isOutage } from '../outage.ts';
import type { Store } from './store.ts';

describe.each(['lmdb', 'mongodb'] as const)('processes that are killed on %s', (engine) => {
  test('leave whole transactions, and all that they were told is stored', async () => {
    const place = emptyPlace(engine);
    const random = Math.random;
    const acknowledged: [string, number][] = [];
    for (let round = 0; round < 2; round += 1) {
      const names = [`a${round}`, `b${round}`];
      const lines = await Promise.all(
        names.map((name) =>
          runUntilKilled('runtime/test/accounts.ts', [JSON.stringify(place.settings), name], {
            ...{ random, lineMs: 10 },
          }),
        ),
      );
      for (const [at, name] of names.entries())
        for (const line of lines[at] ?? []) acknowledged.push([name, Number(line)]);
    }
    const store = await openAccounts(place.settings);
    const amounts = await store.getAll(ACCOUNTS, KEYS);
    expect(amounts.reduce((sum, row) => sum + (row?.amount ?? 0), 0)).toBe(0);
    const moves = await store.getAll(MOVES, acknowledged);
    expect(moves.map((row) => row?.by)).toEqual(acknowledged.map(([name]) => name));
    await store.close();
    await place.release();
  });
});

describe('a database that', () => {
  let place: ReturnType<typeof emptyPlace>;
  let proxy: TcpProxy;
  let store: Store;

  beforeEach(async () => {
    place = emptyPlace('mongodb');
    proxy = await startProxy(place.settings.mongodbUrl ?? '');
    store = await openAccounts({ ...place.settings, mongodbUrl: proxy.url });
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
    await place.release();
  });

  const count = (at: number) =>
    store.transact((tx) => {
      const { amount = 0 } = tx.get(ACCOUNTS, ['count', at]) ?? {};
      tx.put(ACCOUNTS, ['count', at], { amount: amount + 1 });
    });

  const untilBack = () =>
    until(() =>
      count(-1).then(
        () => true,
        () => false,
      ),
    );

  test('loses its connections at any point runs no transaction twice, and loses none that ended', async () => {
    const outcomes: boolean[] = [];
    for (let round = 0; round < 20; round += 1) {
      const counting = Array.from({ length: 10 }, (_, at) =>
        count(round * 10 + at).then(
          () => true,
          (error) => {
            expect(isOutage(error)).toBe(true);
            // Nobody waits for a connection that is closed.
            expect(String(error)).not.toMatch(/timed out at/i);
            return false;
          },
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      await proxy.disconnect();
      await proxy.restore();
      outcomes.push(...(await Promise.all(counting)));
    }
    await untilBack();
    const keys = outcomes.map((_, at) => ['count', at]);
    const amounts = (await store.getAll(ACCOUNTS, keys)).map((row) => row?.amount ?? 0);
    for (const [at, isDone] of outcomes.entries())
      expect(isDone ? [1] : [0, 1]).toContain(amounts[at]);
  });

  test('loses the reply to a commit has stored it once', async () => {
    await count(0);
    for (let at = 0; at < 5; at += 1) {
      proxy.loseReply('commitTransaction');
      await count(0);
    }
    expect((await store.get(ACCOUNTS, ['count', 0]))?.amount).toBe(6);
  });

  test('loses the reply to a write runs the whole transaction again', async () => {
    await count(0);
    for (const text of ['startTransaction', 'update', 'find']) {
      proxy.loseReply(text);
      await count(0);
      proxy.loseReply('no such text');
    }
    expect((await store.get(ACCOUNTS, ['count', 0]))?.amount).toBe(4);
  });

  test('is frozen fails transactions as an outage, and takes them again afterwards', async () => {
    await count(0);
    proxy.freeze();
    const error = await count(1).catch((failure) => failure);
    expect(isOutage(error)).toBe(true);
    await proxy.restore();
    await untilBack();
    await count(2);
    expect((await store.get(ACCOUNTS, ['count', 2]))?.amount).toBe(1);
  });
});

// Which servers of MongoDB a store opens on.

test('a server without transactions is refused in one line', async () => {
  const hello = encode({
    ...{ ok: 1, helloOk: true, ismaster: true, isWritablePrimary: true },
    ...{ minWireVersion: 0, maxWireVersion: 21, maxBsonObjectSize: 16_777_216 },
    ...{ maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
  });
  const asked = new Set<string>();
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      for (const message of split(bytes).messages) {
        asked.add(Object.keys(command(message))[0] ?? '');
        socket.write(reply(message, hello));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const opening = openMongo(`mongodb://127.0.0.1:${port}/loyalty`, 'keys', 'sandbox', async () => {
    throw new Error('it was opened');
  });
  await expect(opening).rejects.toThrow(
    'the server of MONGODB_URL is standalone: MongoDB has to be a replica set, of which one node is enough, or a sharded cluster',
  );
  expect([...asked].filter((name) => !/^(hello|ismaster|endSessions)$/i.test(name))).toEqual([]);
  server.close();
});
