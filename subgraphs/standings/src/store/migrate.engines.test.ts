// The way of a standings store from format 1, on each engine.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { FORMATS, type Migrated, migrateStore, openLmdb } from '@partner-loyalty/runtime';
import { open as openFile } from 'lmdb';
import { refuseForeignStore } from '../../../../runtime/src/environment.ts';
import { programArgs } from '../../../../test/support/programs/programs.ts';
import { activity, ENGINES, newPlace, type Place } from '../../test/engine.ts';
import { createFormat1, OLD_SCHEMA, oldUpdate, withDatabase } from '../../test/format1.ts';
import { STANDINGS_MIGRATION } from '../index.ts';
import type { DatedActivity } from '../rules/activity.ts';
import type { StandingsStore } from './store.ts';
import { openTables } from './tables.lmdb.ts';

const OLD: DatedActivity[] = Array.from({ length: 3_000 }, (_, index) =>
  activity(`a${index}`, index, {
    memberId: index < 1_500 ? `member-${index % 500}` : 'busy',
    stays: 1,
    occurredAt: new Date(Date.UTC(2026, 0, 1 + (index % 300))),
  }),
);
const STANDINGS = 501;

const migrate = (place: Place, isDryRun = false): Promise<Migrated | undefined> => {
  const settings = { ...place.settings, environment: 'sandbox' } as const;
  const options = { isDryRun, onProgress: () => undefined };
  return migrateStore(settings, 'standings', STANDINGS_MIGRATION, options);
};

async function expectComplete(store: StandingsStore): Promise<void> {
  for (const memberId of ['busy', 'member-0', 'member-499']) {
    const own = OLD.filter((one) => one.memberId === memberId);
    expect(await store.standing('inn', memberId, '2026-01-01')).toEqual({
      points: own.reduce((sum, { points }) => sum + points, 0),
      stays: own.length,
    });
    const found: string[] = [];
    for await (const { activityId } of store.activitiesOf(memberId)) found.push(activityId);
    expect(found.toSorted()).toEqual(own.map(({ activityId }) => activityId).toSorted());
  }
  expect(new Set(await store.record(OLD))).toEqual(new Set(['already-recorded']));
}

describe.each(ENGINES)('on %s', (engine) => {
  let place: Place;
  beforeEach(() => {
    place = newPlace(engine);
  });
  afterEach(() => place.release());

  /** What the store says about itself. */
  const owner = async (): Promise<Record<string, unknown> | null> => {
    if (engine === 'mongodb')
      return withDatabase(place, (db) =>
        db.collection<{ _id: string }>('owners').findOne({ _id: 'standings' }),
      );
    const { root } = await openLmdb(place.settings.dataDir, 'standings', 'sandbox');
    const [environment, formatVersion] = ['environment', 'formatVersion'].map((name) =>
      root.get(name),
    );
    await root.close();
    return { environment, formatVersion };
  };
  const setFormat = async (formatVersion: number) => {
    if (engine === 'mongodb')
      return withDatabase(place, async (db) => {
        const owners = db.collection<{ _id: string }>('owners');
        await owners.updateOne({ _id: 'standings' }, { $set: { formatVersion } });
      });
    // As a newer version would: this one may not open it.
    const root = openFile({ path: join(place.settings.dataDir, 'standings') });
    await root.transaction(() => root.put('formatVersion', formatVersion));
    await root.close();
  };

  test('a new store has the number of its format', async () => {
    await (await place.open()).close();
    expect(await owner()).toMatchObject({ formatVersion: FORMATS.standings });
    expect(await migrate(place)).toMatchObject({ from: FORMATS.standings, to: FORMATS.standings });
  });

  test('without a store there is nothing to migrate', async () => {
    expect(await migrate(place)).toBeUndefined();
    expect(await migrate(place, true)).toBeUndefined();
  });

  test('a store of format 1 is migrated, once, and loses nothing', async () => {
    await createFormat1(place, OLD);
    const records = engine === 'mongodb' ? STANDINGS : undefined;
    expect(await migrate(place, true)).toEqual({ from: 1, to: 2, records });
    expect(await owner()).toMatchObject({ environment: 'sandbox' });
    expect((await owner())?.formatVersion).toBeUndefined();
    expect(await migrate(place)).toEqual({ from: 1, to: 2, records });
    expect(await migrate(place)).toMatchObject({ from: 2, to: 2 });
    await expectComplete(await place.open());
  });

  test('a newer format is refused and left alone', async () => {
    await (await place.open()).close();
    await setFormat(FORMATS.standings + 1);
    const reason = `the standings store has format ${FORMATS.standings + 1}; this version knows format ${FORMATS.standings} and cannot open it`;
    await expect(place.open()).rejects.toThrow(reason);
    await expect(migrate(place)).rejects.toThrow(reason);
    await setFormat(FORMATS.standings);
    await expect(place.open()).resolves.toBeDefined();
  });

  test('a version without formats refuses what this one wrote or migrated', async () => {
    await createFormat1(place, OLD.slice(0, 10));
    const oldCheck = async () =>
      refuseForeignStore('standings', String((await owner())?.environment), 'sandbox');
    await expect(oldCheck()).resolves.toBeUndefined();
    await migrate(place);
    await expect(oldCheck()).rejects.toThrow(
      'the standings store belongs to the sandbox (format 2) environment; it cannot be opened as sandbox',
    );
    await expect(place.open('production')).rejects.toThrow(
      'the standings store belongs to the sandbox environment; it cannot be opened as production',
    );
  });

  test('a migration that is killed again and again ends complete', async () => {
    await createFormat1(place, OLD);
    const run = promisify(execFile);
    const program = programArgs('subgraphs/standings/test/process.ts');
    const args = [...program, JSON.stringify(place.settings), 'migrate-and-die'];
    for (const afterMs of [20, 100])
      await run(process.execPath, [...args, `${afterMs}`]).catch(() => undefined);
    await migrate(place);
    await expectComplete(await place.open());
  });
});

describe('on MongoDB', () => {
  let place: Place;
  beforeEach(() => {
    place = newPlace('mongodb');
  });
  afterEach(() => place.release());

  test('a start on an older format is refused, and names the command', async () => {
    await createFormat1(place, OLD.slice(0, 10));
    await expect(place.open()).rejects.toThrow(
      'the standings store has format 1; run `loyalty migrate` to bring it to format 2',
    );
    expect(await migrate(place, true)).toMatchObject({ records: 10 });
  });

  test('a process of format 1 that goes on recording is refused, and counts nothing', async () => {
    await createFormat1(place, OLD);
    await withDatabase(place, async (db) => {
      const standings = db.collection<{ _id: string }>('standings');
      let isDone = false;
      let recorded = 0;
      const writer = (async () => {
        // Alternately new activities and ones that are recorded already.
        for (let n = 0; !isDone && n < 1_000; n++) {
          const one = n % 2 === 0 ? activity(`new-${n}`, 1, { memberId: 'busy' }) : OLD[n];
          const { filter, update } = oldUpdate(one === undefined ? [] : [one]);
          const write = standings.updateOne(filter, update);
          const counted = await write.then(
            ({ modifiedCount }) => modifiedCount,
            (error) => expect(error.code).toBe(121) ?? 0,
          );
          recorded += n % 2 === 0 ? counted : 0;
          await pause(1);
        }
      })();
      await migrate(place).catch(() => migrate(place));
      isDone = true;
      await writer;
      const store = await place.open();
      const own = OLD.filter(({ memberId }) => memberId === 'busy');
      expect(await store.standing('inn', 'busy', '2026-01-01')).toEqual({
        points: own.reduce((sum, { points }) => sum + points, 0) + recorded,
        stays: own.length,
      });
    });
  });

  test('several migrations at once all end, and the store is complete', async () => {
    await createFormat1(place, OLD);
    const migrated = await Promise.all([migrate(place), migrate(place), migrate(place)]);
    expect(migrated.map((one) => one?.to)).toEqual([2, 2, 2]);
    expect(await migrate(place, true)).toMatchObject({ from: 2, to: 2 });
    await expectComplete(await place.open());
  });

  test('the validator of a process that was just starting does not stay', async () => {
    await createFormat1(place, OLD);
    await withDatabase(place, async (db) => {
      const migrating = migrate(place);
      await db.command({ collMod: 'standings', validator: { $jsonSchema: OLD_SCHEMA } });
      await migrating.catch(() => migrate(place));
      const { filter, update } = oldUpdate([activity('late', 1, { memberId: 'busy' })]);
      await expect(
        db.collection<{ _id: string }>('standings').updateOne(filter, update),
      ).rejects.toMatchObject({ code: 121 });
    });
    await expectComplete(await place.open());
  });

  test('opening a store leaves its validators as they are', async () => {
    await (await place.open()).close();
    await withDatabase(place, async (db) => {
      const stricter = { bsonType: 'object', required: ['_id', 'newer'] };
      await db.command({ collMod: 'standings', validator: { $jsonSchema: stricter } });
      await (await place.open()).close();
      const [options] = await db.listCollections({ name: 'standings' }).toArray();
      expect(options).toMatchObject({ options: { validator: { $jsonSchema: stricter } } });
    });
  });
});

test('on LMDB, a store of format 1 is migrated when it is opened', async () => {
  const place = newPlace('lmdb');
  await createFormat1(place, OLD);
  const stores = await Promise.all([place.open(), place.open(), place.open()]);
  await expectComplete(stores[0]);
  const { root } = await openLmdb(place.settings.dataDir, 'standings', 'sandbox');
  expect((await openTables(root)).memberActivities.getKeysCount()).toBe(OLD.length);
  await root.close();
  await place.release();
});
