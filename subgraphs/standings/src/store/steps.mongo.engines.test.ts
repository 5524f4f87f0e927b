// The steps of recording on MongoDB, interleaved by hand: stopped, late, and next to other writers.
import { type Db, MongoClient } from 'mongodb';
import { activity, newPlace, type Place } from '../../test/engine.ts';
import type { DatedActivity } from '../rules/activity.ts';
import { INT_MAX } from '../rules/standing.ts';
import { strictCollections } from './collections.mongo.ts';
import { readPending, removePending } from './outbox.mongo.ts';
import { standingId } from './queries.mongo.ts';
import {
  type Change,
  carryOut,
  createStandings,
  decide,
  decidedBy,
  insertPending,
  type PendingActivity,
} from './steps.mongo.ts';
import type { StandingsStore } from './store.ts';

let place: Place;
let store: StandingsStore;
let client: MongoClient;
let db: Db;
let collections: ReturnType<typeof strictCollections>;
let memberId = '';
let members = 0;

beforeAll(async () => {
  place = newPlace('mongodb');
  store = await place.open();
  client = new MongoClient(place.settings.mongodbUrl ?? '');
  db = client.db();
  collections = strictCollections(db);
});
beforeEach(() => {
  memberId = `member-${++members}`;
});
afterAll(async () => {
  await client.close();
  await place.release();
});

const one = (id: string, points: number): DatedActivity =>
  activity(`${memberId}-${id}`, points, { memberId });
const id = () => standingId({ partnerId: 'inn', memberId, year: '2026-01-01' });
const points = async () => (await store.standing('inn', memberId, '2026-01-01'))?.points;
const found = () => db.collection('activities').find({ memberId }).toArray();

/** A writer that stops after each step until it is told to go on. */
function slowWriter(given: DatedActivity) {
  let pending: PendingActivity | undefined;
  let change: Change | undefined;
  return {
    async insert() {
      [pending] = await insertPending(collections, [given]);
    },
    async read() {
      await createStandings(collections, [{ _id: id(), memberId }]);
      const standing = await collections.standings.findOne({ _id: id() });
      if (standing === null || pending === undefined) throw new Error('it was not inserted');
      const { pending: insertion } = pending;
      const added = { points: given.points, stays: given.stays };
      change = {
        standing,
        added,
        decisions: [{ id: given.activityId, pending: insertion }],
        events: [],
      };
    },
    /** Whether it was in time. */
    async decide() {
      return change !== undefined && (await decide(collections, [change])).length === 1;
    },
    carryOut: () =>
      carryOut(collections, change ? decidedBy(change.standing, change.decisions) : []),
  };
}

const STEPS = ['insert', 'read', 'decide', 'carryOut'] as const;

test.each([0, 1, 2, 3, 4])(
  'a writer killed after %i steps counts once if repeated',
  async (made) => {
    await store.record([one('before', 100)]);
    const writer = slowWriter(one('1', 5));
    for (const step of STEPS.slice(0, made)) await writer[step]();
    const [outcome] = await store.record([one('1', 5)]);
    expect(outcome).toBe(made < 3 ? 'recorded' : 'already-recorded');
    expect(await store.record([one('1', 5), one('1', 6)])).toEqual([
      'already-recorded',
      'conflict',
    ]);
    expect(await points()).toBe(105);
    expect((await found()).filter(({ pending }) => pending !== undefined)).toEqual([]);
  },
);

test.each([1, 2, 3])('what a writer left after %i steps is finished by the next', async (made) => {
  const writer = slowWriter(one('1', 5));
  for (const step of STEPS.slice(0, made)) await writer[step]();
  // Another activity of the standing: it must not lose which decision was the last.
  expect(await store.record([one('2', 1)])).toEqual(['recorded']);
  expect(await store.record([one('3', 1)])).toEqual(['recorded']);
  expect(await points()).toBe(made === 3 ? 7 : 2);
  expect(await store.record([one('1', 5)])).toEqual([made === 3 ? 'already-recorded' : 'recorded']);
  expect(await points()).toBe(7);
});

test.each([1, 2])('a writer that sleeps after %i steps does not count twice', async (made) => {
  const writer = slowWriter(one('1', 5));
  for (const step of STEPS.slice(0, made)) await writer[step]();
  expect(await store.record([one('1', 5), one('2', 1)])).toEqual(['recorded', 'recorded']);
  if (made === 2) expect(await writer.decide()).toBe(false);
  await writer.carryOut();
  expect(await store.record([one('1', 5), one('2', 1)])).toEqual([
    'already-recorded',
    'already-recorded',
  ]);
  expect(await points()).toBe(6);
});

test('an activity in the year of an earlier program counts there', async () => {
  const writer = slowWriter(one('1', 5));
  await writer.insert();
  expect(await store.record([{ ...one('1', 5), year: '2026-04-01' }])).toEqual(['recorded']);
  expect(await points()).toBe(5);
  expect(await store.standing('inn', memberId, '2026-04-01')).toBeUndefined();
});

test('a pending activity with other content is counted first, then the ID is taken', async () => {
  await slowWriter(one('1', 5)).insert();
  expect(await store.record([one('1', 6)])).toEqual(['conflict']);
  expect(await points()).toBe(5);
});

test('a pending activity that does not fit frees its ID for another', async () => {
  await store.record([one('a', 1_000_000_000), one('b', 1_000_000_000)]);
  await store.record([one('c', INT_MAX - 2_000_000_000)]);
  await slowWriter(one('1', 5)).insert();
  expect(await store.record([one('1', -6)])).toEqual(['recorded']);
  expect(await points()).toBe(INT_MAX - 6);
});

test('a refusal that is carried out late leaves the next insertion alone', async () => {
  const [first] = await insertPending(collections, [one('1', 5)]);
  if (first === undefined) throw new Error('it was not inserted');
  const refused = [{ _id: first._id, pending: first.pending, refused: true as const }];
  await carryOut(collections, refused);
  expect(await found()).toEqual([]);
  await insertPending(collections, [one('1', 7)]);
  await carryOut(collections, refused);
  expect(await found()).toHaveLength(1);
  expect(await store.record([one('1', 7)])).toEqual(['recorded']);
  await carryOut(collections, refused);
  expect(await store.record([one('1', 7)])).toEqual(['already-recorded']);
  expect(await points()).toBe(7);
});

test.each([1, 2, 3, 4])('an erasure after %i steps of a writer leaves nothing', async (made) => {
  const writer = slowWriter(one('1', 5));
  for (const step of STEPS.slice(0, made)) await writer[step]();
  await store.eraseMember(memberId);
  if (made === 2) expect(await writer.decide()).toBe(false);
  await writer.carryOut();
  expect([await found(), await store.standingsOf(memberId)]).toEqual([[], []]);
  expect(await store.record([one('1', 5)])).toEqual(['erased']);
  expect([await found(), await store.standingsOf(memberId)]).toEqual([[], []]);
});

test('a decision from before an erasure does not count in what is recorded after it', async () => {
  const writer = slowWriter(one('1', 5));
  await writer.insert();
  await writer.read();
  await store.eraseMember(memberId);
  await store.liftMark(memberId);
  expect(await store.record([one('1', 5)])).toEqual(['recorded']);
  expect(await writer.decide()).toBe(false);
  await writer.carryOut();
  expect(await points()).toBe(5);
});

test('an export decides about what is pending', async () => {
  await store.record([one('1', 5)]);
  await slowWriter(one('2', 7)).insert();
  const exported: string[] = [];
  for await (const { activityId } of store.activitiesOf(memberId)) exported.push(activityId);
  expect(exported).toEqual([`${memberId}-1`, `${memberId}-2`]);
  expect(await points()).toBe(12);
});

test('two writers that decide at once: one is in time', async () => {
  const writers = [slowWriter(one('1', 5)), slowWriter(one('2', 6))];
  for (const writer of writers) await writer.insert();
  for (const writer of writers) await writer.read();
  const inTime = await Promise.all(writers.map((writer) => writer.decide()));
  expect(inTime.filter((each) => each)).toHaveLength(1);
  await store.record([one('1', 5), one('2', 6)]);
  expect(await points()).toBe(11);
});

test('an event that is added while those before it are taken out stays', async () => {
  await store.record([one('1', 5), activity('other', 5, { memberId: `${memberId}-other` })]);
  const { entries, events } = await readPending(collections, 500);
  await store.record([one('2', 7)]);
  await removePending(collections, entries, new Set(events.map(({ id }) => id)));
  const left = await readPending(collections, 500);
  expect(left.events.map(({ activityId }) => activityId)).toEqual([`${memberId}-2`]);
  expect((await collections.standings.findOne({ _id: id() }))?.outbox).toHaveLength(1);
});
