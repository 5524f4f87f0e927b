// The way of a standings store from older formats, on each engine.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { FORMATS } from '@partner-loyalty/runtime/store/format.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { openMongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { migrateStore } from '@partner-loyalty/runtime/store/migrate.open.ts';
import type { Migrated } from '@partner-loyalty/runtime/store/migrate.ts';
import { open as openFile } from 'lmdb';
import { ObjectId } from 'mongodb';
import { refuseForeignStore } from '../../../../../runtime/src/environment.ts';
import { programArgs } from '../../../../../test/support/programs/programs.ts';
import { activity, ENGINES, newPlace, type Place, withDatabase } from '../../../test/engine.ts';
import { createFormat1, OLD_SCHEMA, oldUpdate } from '../../../test/format1.ts';
import { createFormat2, FORMER } from '../../../test/format2.ts';
import { STANDINGS_MIGRATION, verifyStandings } from '../../index.ts';
import type { DatedActivity } from '../../rules/activity.ts';
import { ACTIVITIES, MARKS } from '../collections.mongo.ts';
import { NO_VALUE } from '../format.lmdb.ts';
import { activityKey } from '../queries.mongo.ts';
import type { StandingsStore } from '../store.ts';
import { openTables, type Tables } from '../tables.lmdb.ts';

const OLD: DatedActivity[] = Array.from({ length: 3_000 }, (_, index) =>
  activity(`a${index}`, index, {
    memberId: index < 1_500 ? `member-${index % 500}` : 'busy',
    stays: 1,
    occurredAt: new Date(Date.UTC(2026, 0, 1 + (index % 300))),
  }),
);
const STANDINGS = 501;
/** The older formats: how to create one, and how many records of it there are to change. */
const FORMERLY = [
  [1, createFormat1, STANDINGS],
  [2, createFormat2, OLD.length],
] as const;

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

/** Newest first. */
function byPlace(one: DatedActivity, other: DatedActivity): number {
  const later = other.occurredAt.getTime() - one.occurredAt.getTime();
  return later !== 0 ? later : one.activityId < other.activityId ? 1 : -1;
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
  const faults = async (): Promise<string[]> => {
    const found: string[] = [];
    await verifyStandings(
      { ...place.settings, environment: 'sandbox' },
      {
        report: (record, problem) => found.push(`${record}: ${problem}`),
        hasPartner: async () => true,
      },
    );
    return found;
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

  test.each(FORMERLY)(
    'a store of format %i is migrated, once, and loses nothing',
    async (from, create, changed) => {
      await create(place, OLD);
      const records = engine === 'mongodb' ? changed : undefined;
      const before = await owner();
      expect(await migrate(place, true)).toEqual({ from, to: 3, records });
      expect(await owner()).toEqual(before);
      expect(await migrate(place)).toEqual({ from, to: 3, records });
      expect(await migrate(place)).toMatchObject({ from: 3, to: 3 });
      expect(await owner()).toMatchObject({
        environment: 'sandbox (format 3)',
        formatVersion: 3,
      });
      const store = await place.open();
      await expectComplete(store);
      const sameId = activity('a0', 5, { partnerId: 'spa', memberId: 'busy' });
      expect(await store.record([sameId, sameId])).toEqual(['recorded', 'already-recorded']);
      expect(await faults()).toEqual([]);
    },
  );

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
      'the standings store belongs to the sandbox (format 3) environment; it cannot be opened as sandbox',
    );
    await expect(place.open('production')).rejects.toThrow(
      'the standings store belongs to the sandbox environment; it cannot be opened as production',
    );
  });

  test.each(FORMERLY)('pages go on where they were in format %i', async (_, create) => {
    await create(place, OLD);
    const store = await place.open().catch(async () => {
      await migrate(place);
      return place.open();
    });
    const own = OLD.filter(({ memberId }) => memberId === 'busy').toSorted(byPlace);
    const [last] = own.slice(699, 700);
    const found = await store.latestActivities('inn', 'busy', 30, {
      occurredAtMs: last?.occurredAt.getTime() ?? 0,
      activityId: last?.activityId,
    });
    expect(found.map(({ activityId }) => activityId)).toEqual(
      own.slice(700, 730).map(({ activityId }) => activityId),
    );
  });

  test.each(FORMERLY)('killed again and again, format %i ends complete', async (_, create) => {
    await create(place, OLD);
    const run = promisify(execFile);
    const program = programArgs('subgraphs/standings/test/process.ts');
    const args = [...program, JSON.stringify(place.settings), 'migrate-and-die'];
    for (const afterMs of [20, 100])
      await run(process.execPath, [...args, `${afterMs}`]).catch(() => undefined);
    await migrate(place);
    await expectComplete(await place.open());
    expect(await faults()).toEqual([]);
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
      'the standings store has format 1; run `loyalty migrate` to bring it to format 3',
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

  test.each(FORMERLY)('several migrations of format %i at once all end', async (_, create) => {
    await create(place, OLD);
    const migrated = await Promise.all([migrate(place), migrate(place), migrate(place)]);
    expect(migrated.map((one) => one?.to)).toEqual([3, 3, 3]);
    expect(await migrate(place, true)).toMatchObject({ from: 3, to: 3 });
    await expectComplete(await place.open());
  });

  test('a process of format 2 that goes on recording is refused', async () => {
    await createFormat2(place, OLD);
    await migrate(place);
    await withDatabase(place, async (db) => {
      const former = db.collection<{ _id: string }>(FORMER);
      expect(await former.countDocuments()).toBe(0);
      const { activityId: _id, ...content } = activity('late', 1);
      await expect(former.insertOne({ _id, ...content })).rejects.toMatchObject({ code: 121 });
    });
  });

  test('what a process of format 2 left pending counts once', async () => {
    await createFormat2(place, OLD);
    const decided = new ObjectId();
    const year = '2026-01-01';
    await withDatabase(place, async (db) => {
      const former = db.collection<{ _id: string }>(FORMER);
      // One of the sums, before that was carried out, and one that was just inserted.
      await former.updateOne({ _id: 'a0' }, { $set: { pending: decided } });
      const { activityId: _id, ...content } = activity('a-new', 7, { memberId: 'member-0' });
      await former.insertOne({ _id, ...content, ...{ pending: new ObjectId() } });
      const recent = [{ id: 'a0', pending: decided }];
      await db
        .collection<{ _id: string }>('standings')
        .updateOne({ _id: `inn\0member-0\0${year}` }, { $set: { recent } });
    });
    await migrate(place);
    const store = await place.open();
    const before = await store.standing('inn', 'member-0', year);
    const again = [activity('a-new', 7, { memberId: 'member-0' }), ...OLD.slice(0, 1)];
    expect(await store.record(again)).toEqual(['recorded', 'already-recorded']);
    expect(await store.record(again)).toEqual(['already-recorded', 'already-recorded']);
    expect(await store.standing('inn', 'member-0', year)).toEqual({
      points: (before?.points ?? 0) + 7,
      stays: before?.stays,
    });
  });

  test('a member whom a process of format 2 erases during the migration stays erased', async () => {
    await createFormat2(place, OLD);
    await withDatabase(place, async (db) => {
      // What was copied by a migration that was killed, and then erased in the older format.
      const { activityId, ...content } = activity('a0', 0, { memberId: 'member-0', stays: 1 });
      const _id = activityKey({ partnerId: 'inn', activityId });
      await db.collection<{ _id: string }>(ACTIVITIES).insertOne({ _id, ...content });
      const marks = await openMongoMarks(db, MARKS);
      await marks.add('member-0', new Date());
      await marks.add('member-1', new Date());
      await db.collection(FORMER).deleteMany({ memberId: 'member-0' });
      await db.collection('standings').deleteMany({ memberId: 'member-0' });
    });
    await migrate(place);
    const store = await place.open();
    for (const memberId of ['member-0', 'member-1']) {
      expect(await store.latestActivities('inn', memberId, 5)).toEqual([]);
      expect(await store.standingsOf(memberId)).toEqual([]);
    }
    expect(await store.latestActivities('inn', 'member-2', 5)).toHaveLength(3);
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

describe('on LMDB', () => {
  let place: Place;
  beforeEach(() => {
    place = newPlace('lmdb');
  });
  afterEach(() => place.release());

  /** Runs with the tables of the store as it is. */
  async function withTables(work: (tables: Tables) => void): Promise<void> {
    const { root } = await openLmdb(place.settings.dataDir, 'standings', 'sandbox');
    const tables = await openTables(root);
    await root.transaction(() => work(tables));
    await root.close();
  }

  test.each(FORMERLY)('a store of format %i is migrated when it is opened', async (_, create) => {
    await create(place, OLD);
    const stores = await Promise.all([place.open(), place.open(), place.open()]);
    for (const store of stores) await expectComplete(store);
    await withTables(({ memberActivities, activities, former }) => {
      expect(memberActivities.getKeysCount()).toBe(OLD.length);
      expect(activities.getKeysCount()).toBe(OLD.length);
      expect(former.getKeysCount()).toBe(0);
    });
  });

  test('what a process of format 2 goes on recording counts once', async () => {
    await createFormat2(place, OLD);
    await (await place.open()).close();
    await withTables(({ former, standings, memberActivities }) => {
      const at = OLD[0]?.occurredAt.getTime() ?? 0;
      // One that is new, and one that it did not find, since it has been moved.
      for (const [id, points] of [
        ['late', 7],
        ['a0', 0],
      ] as const) {
        former.put(id, ['inn', 'member-0', points, 1, at]);
        memberActivities.put(['member-0', 'inn', at, id], NO_VALUE);
        const [sum = 0, stays = 0] = standings.get(['inn', 'member-0', '2026-01-01']) ?? [];
        standings.put(['inn', 'member-0', '2026-01-01'], [sum + points, stays + 1]);
      }
    });
    const store = await place.open();
    const own = OLD.filter(({ memberId }) => memberId === 'member-0');
    expect(await store.standing('inn', 'member-0', '2026-01-01')).toEqual({
      points: own.reduce((sum, { points }) => sum + points, 7),
      stays: own.length + 1,
    });
    const late = activity('late', 7, {
      memberId: 'member-0',
      stays: 1,
      ...(OLD[0] && { occurredAt: OLD[0].occurredAt }),
    });
    expect(await store.record([late])).toEqual(['already-recorded']);
  });
});
