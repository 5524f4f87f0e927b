// `loyalty migrate`, on both engines.
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { MongoClient } from 'mongodb';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { freshMongodbUrl } from '../../../test/support/servers/databases.ts';
import { type Env, loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';

/** The stores whose format 2 has more than format 1, but nothing else. */
const STORES = ['keys', 'members'] as const;

const rowsOf = (row: object) =>
  STORES.map((store) => expect.objectContaining({ store, from: 1, to: 2, ...row }));

const migrate = async (env: Env, ...options: string[]) => {
  const { code, stdout } = await loyalty(env, 'migrate', ...options, '--json');
  const rows = stdout.trim().split('\n').filter(Boolean);
  return { code, rows: rows.map((row) => JSON.parse(row)) };
};

test('on MongoDB, it brings stores to their formats, once', async () => {
  const database = freshMongodbUrl();
  const env = { MONGODB_URL: database.url };
  expect(await migrate(env)).toEqual({ code: 0, rows: [] });
  await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
  const client = new MongoClient(database.url);
  const owners = client.db().collection<{ _id: string }>('owners');
  const ofFormat1 = { $set: { environment: 'sandbox' }, $unset: { formatVersion: '' } } as const;
  // Opens the members store, which creates it.
  await loyalty(env, 'members', 'export', 'nobody');
  await owners.updateMany({ _id: { $in: [...STORES] } }, ofFormat1);

  expect(await loyalty(env, 'partners', 'list')).toMatchObject({
    code: 1,
    stderr: 'loyalty: the keys store has format 1; run `loyalty migrate` to bring it to format 2\n',
  });
  expect(await loyalty(env, 'members', 'export', 'nobody')).toMatchObject({
    code: 1,
    stderr:
      'loyalty: the members store has format 1; run `loyalty migrate` to bring it to format 2\n',
  });
  const dryRun = await migrate(env, '--dry-run');
  expect(dryRun.rows).toEqual(expect.arrayContaining(rowsOf({ records: 0, state: 'to migrate' })));
  expect(await owners.findOne({ _id: 'keys' })).not.toHaveProperty('formatVersion');
  expect((await migrate(env)).rows).toEqual(
    expect.arrayContaining(rowsOf({ records: 0, state: 'migrated' })),
  );
  expect(await owners.findOne({ _id: 'members' })).toMatchObject({ formatVersion: 2 });
  expect(await owners.findOne({ _id: 'keys' })).toMatchObject({
    environment: 'sandbox (format 2)',
    formatVersion: 2,
    origin: 'operator',
  });
  expect(await loyaltyJson(env, 'partners', 'list')).toMatchObject([{ partnerId: 'blue' }]);
  const { rows } = await migrate(env);
  expect(rows.every(({ state }) => state === 'current')).toBe(true);
  await client.close();
  await database.drop();
});

test('on the embedded store, it does what opening a store does', async () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder.path };
  await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
  await loyalty(env, 'members', 'export', 'nobody');
  const makeFormat1 = async () => {
    for (const store of STORES) {
      const { root } = await openLmdb(folder.path, store, 'sandbox');
      await root.transaction(() => {
        root.put('environment', 'sandbox');
        root.remove('formatVersion');
      });
      await root.close();
    }
  };
  await makeFormat1();
  const dryRun = await migrate(env, '--dry-run');
  expect(dryRun.rows).toEqual(expect.arrayContaining(rowsOf({ state: 'to migrate' })));
  expect((await migrate(env)).rows).toEqual(expect.arrayContaining(rowsOf({ state: 'migrated' })));
  const current = expect.arrayContaining(rowsOf({ from: 2, state: 'current' }));
  expect((await migrate(env)).rows).toEqual(current);
  folder.remove();
});
