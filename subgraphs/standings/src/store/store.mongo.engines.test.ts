// How the standings store uses MongoDB: indexed reads and writes, valid documents.
import { walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { type Db, MongoClient, ObjectId } from 'mongodb';
import { activity, newPlace, type Place } from '../../test/engine.ts';
import { type Collections, strictCollections } from './collections.mongo.ts';
import { pendingQuery } from './outbox.mongo.ts';
import {
  activitiesQuery,
  activityKey,
  latestActivitiesQueries,
  memberActivities,
  memberStandingsQuery,
  programsQuery,
  standingId,
  standingsQuery,
  sumsQuery,
} from './queries.mongo.ts';
import { changeOperation } from './steps.mongo.ts';
import type { StandingsStore } from './store.ts';

const YEAR = '2026-01-01';
const idOf = (memberId: string) => standingId({ partnerId: 'inn', memberId, year: YEAR });
const idsOfTick = Array.from({ length: 100 }, (_, index) => idOf(`member-${index}`));
const KEYS = ['a1', 'a2', 'unknown'].map((activityId) =>
  activityKey({ partnerId: 'inn', activityId }),
);
const BY_MEMBER = 'memberId_1_partnerId_1_occurredAt_1__id_1';

let place: Place;
let store: StandingsStore;
let client: MongoClient;
let db: Db;
let collections: Collections;

beforeAll(async () => {
  place = newPlace('mongodb');
  store = await place.open();
  client = new MongoClient(place.settings.mongodbUrl ?? '');
  db = client.db();
  collections = {
    ...strictCollections(db),
    sums: db.collection('standings'),
    programs: db.collection('programs'),
  };
  await store.record(
    Array.from({ length: 2_000 }, (_, index) =>
      activity(`a${index}`, 1, { memberId: `member-${index % 1_000}` }),
    ),
  );
  for (const partnerId of ['inn', 'spa', 'rail']) {
    await store.putProgram(partnerId, {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: [{ name: 'Only', points: 0 }],
    });
  }
});
afterAll(async () => {
  await client.close();
  await place.release();
});

test.each<[string, () => { explain(): Promise<unknown> }, string]>([
  ['of a standing', () => sumsQuery(collections, [idOf('member-1')]), '_id_'],
  ['of the standings of a tick', () => sumsQuery(collections, idsOfTick), '_id_'],
  ['of a standing that does not exist', () => sumsQuery(collections, [idOf('nobody')]), '_id_'],
  ['of a program', () => programsQuery(collections, ['inn']), '_id_'],
  ['of standings that change', () => standingsQuery(collections, idsOfTick), '_id_'],
  ['of activities', () => activitiesQuery(collections, KEYS), '_id_'],
  [
    "of a member's activities",
    () => walk(collections.activities, memberActivities('member-1')),
    BY_MEMBER,
  ],
  ['of events in standings', () => pendingQuery(collections, 'standings', 500), 'pendingAt_1'],
  ["of a member's standings", () => memberStandingsQuery(collections, 'member-1'), 'memberId_1'],
])('the read %s uses an index and examines only what it returns', async (_, query, index) => {
  const plan = await query().explain();
  expect(indexesUsed(plan)).toEqual(new Set([index]));
  expect(JSON.stringify(plan)).not.toMatch(SCAN);
});

test.each([undefined, { occurredAtMs: Date.UTC(2027, 0) }, { occurredAtMs: 5, activityId: 'a1' }])(
  'the read of the newest activities uses an index: %j',
  async (before) => {
    for (const query of latestActivitiesQueries(collections, 'inn', 'member-1', 21, before)) {
      const plan = await query.explain();
      expect(indexesUsed(plan)).toEqual(new Set([BY_MEMBER]));
      expect(JSON.stringify(plan)).not.toMatch(/COLLSCAN|Seq Scan/);
    }
  },
);

test('an activity that does not count yet is not among the newest', async () => {
  await store.record([activity('counted', 1, { memberId: 'half' })]);
  const pending = { partnerId: 'inn', memberId: 'half', year: YEAR, points: 1, stays: 0 };
  await collections.activities.insertOne({
    _id: activityKey({ partnerId: 'inn', activityId: 'pending' }),
    ...pending,
    occurredAt: new Date('2026-06-30T13:00:00Z'),
    pending: new ObjectId(),
  });
  expect(await store.latestActivities('inn', 'half', 5)).toMatchObject([{ activityId: 'counted' }]);
});

test('a change finds its standing by ID', async () => {
  const standing = await collections.standings.findOne({ _id: idOf('member-1') });
  if (standing === null) throw new Error('it was recorded above');
  const change = { standing, added: { points: 1, stays: 0 }, decisions: [], events: [] };
  const { filter } = changeOperation(change).updateOne;
  const plan = await collections.standings.find(filter).explain();
  expect(indexesUsed(plan)).toEqual(new Set(['_id_']));
  // On DocumentDB, the condition shows that the index is not scanned as a whole.
  expect(JSON.stringify(plan)).toMatch(/object_id OPERATOR|IDHACK|IXSCAN/);
});

test('a standing stays small, however many activities are recorded', async () => {
  const sizes: number[] = [];
  for (const count of [1, 500, 1, 500, 3]) {
    const batch = Array.from({ length: count }, (_, index) =>
      activity(`many-${sizes.length}-${index}`, 1, { memberId: 'many' }),
    );
    await store.record(batch);
    const standing = await collections.standings.findOne({ _id: idOf('many') });
    sizes.push(standing?.recent.length ?? -1);
  }
  expect(sizes).toEqual([1, 0, 1, 0, 3]);
});

test('concurrent calls that change one standing change it together', async () => {
  const calls = Array.from({ length: 10 }, (_, index) =>
    store.record([activity(`hot-${index}`, 1, { memberId: 'hot' })]),
  );
  expect(new Set((await Promise.all(calls)).flat())).toEqual(new Set(['recorded']));
  const standing = await collections.standings.findOne({ _id: idOf('hot') });
  // The first call began at once.
  expect([standing?.points, standing?.recent.length]).toEqual([10, 9]);
});

test('no index is unique but that of the IDs, so both collections can be sharded', async () => {
  for (const name of ['standings', 'activities']) {
    const indexes = await db.collection(name).indexes();
    expect(indexes.filter(({ unique }) => unique === true).map(({ key }) => key)).toEqual([]);
  }
});

test('a collection scan would be noticed', async () => {
  expect(JSON.stringify(await collections.standings.find({ stays: 5 }).explain())).toMatch(SCAN);
});

test.each<[string, Record<string, unknown>]>([
  ['no member', { memberId: null }],
  ['half a point', { points: 0.5 }],
  ['points beyond Int', { points: 2_147_483_648 }],
  ['no stays', { stays: null }],
  ['no version', { version: 1 }],
  ['a decision without the insertion', { recent: [{ id: 'a' }] }],
])('a standing with %s is refused', async (_, part) => {
  const version = new ObjectId();
  const good = { memberId: 'bad', points: 1, stays: 0, version, recent: [] };
  const documents = db.collection<{ _id: string }>('standings');
  await expect(
    documents.insertOne({ _id: 'inn\0bad\x002026', ...good, ...part }),
  ).rejects.toMatchObject({ code: 121 });
});

test.each<[string, Record<string, unknown>]>([
  ['no partner', { partnerId: null }],
  ['an empty member', { memberId: '' }],
  ['no year', { year: null }],
  ['half a point', { points: 0.5 }],
  ['a time that is a string', { occurredAt: '2026-01-01' }],
  ['a flag instead of the insertion', { pending: true }],
])('an activity with %s is refused', async (_, part) => {
  const sums = { points: 1, stays: 0 };
  const good = { partnerId: 'inn', memberId: 'm', year: YEAR, ...sums, occurredAt: new Date() };
  const documents = db.collection<{ _id: string }>('activities');
  await expect(documents.insertOne({ _id: 'bad', ...good, ...part })).rejects.toMatchObject({
    code: 121,
  });
});

test.each<[string, Record<string, unknown>]>([
  ['no tiers', { tiers: [] }],
  ['a tier with negative points', { tiers: [{ name: 'Low', points: -1 }] }],
  ['a tier without a name', { tiers: [{ points: 0 }] }],
  ['no time zone', { membershipYear: { start: '01-01' } }],
  ['a start that is not a day', { membershipYear: { start: 'January', timeZone: 'UTC' } }],
])('a program with %s is refused', async (_, part) => {
  const good = {
    membershipYear: { start: '01-01', timeZone: 'UTC' },
    tiers: [{ name: 'Only', points: 0 }],
  };
  const documents = db.collection<{ _id: string }>('programs');
  await expect(documents.insertOne({ _id: 'bad', ...good, ...part })).rejects.toMatchObject({
    code: 121,
  });
});

// MongoDB's and PostgreSQL's words for a scan, and DocumentDB's for documents that are examined and
// discarded, even if an index leads to all of them.
const SCAN = /COLLSCAN|Seq Scan|"Filter"/;

/**
 * MongoDB names the index beside its scan, except for the one by ID; DocumentDB names it in each
 * node of PostgreSQL's plan.
 */
function indexesUsed(plan: unknown): Set<unknown> {
  const used = new Set<unknown>();
  const look = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    // Cast: a plan is JSON of many shapes.
    const {
      stage,
      indexName,
      'Index Name': node,
    } = value as { stage?: unknown; indexName?: unknown; 'Index Name'?: unknown };
    if (typeof stage === 'string' && stage.endsWith('IXSCAN')) used.add(indexName);
    if (typeof stage === 'string' && stage.endsWith('IDHACK')) used.add('_id_');
    if (node !== undefined) used.add(node);
    for (const one of Object.values(value)) look(one);
  };
  look(plan);
  return used;
}
