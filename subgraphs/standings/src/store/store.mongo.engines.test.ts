// How the standings store uses MongoDB: indexed reads and writes, uniqueness, valid documents.
import { type Db, MongoClient } from 'mongodb';
import { activity, newPlace, type Place } from '../../test/engine.ts';
import type { Collections } from './collections.mongo.ts';
import {
  activitiesQuery,
  programsQuery,
  recordOperation,
  standingId,
  sumsQuery,
} from './queries.mongo.ts';
import type { StandingsStore } from './store.ts';

const YEAR = '2026-01-01';
const idsOfTick = Array.from({ length: 100 }, (_, index) =>
  standingId('inn', `member-${index}`, YEAR),
);

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
  collections = { standings: db.collection('standings'), programs: db.collection('programs') };
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
  ['of a standing', () => sumsQuery(collections, [standingId('inn', 'member-1', YEAR)]), '_id_'],
  ['of the standings of a tick', () => sumsQuery(collections, idsOfTick), '_id_'],
  [
    'of a standing that does not exist',
    () => sumsQuery(collections, [standingId('inn', 'nobody', YEAR)]),
    '_id_',
  ],
  ['of a program', () => programsQuery(collections, ['inn']), '_id_'],
])('the read %s uses an index and examines only what it returns', async (_, query, index) => {
  const plan = await query().explain();
  expect(indexesUsed(plan)).toEqual(new Set([index]));
  expect(JSON.stringify(plan)).not.toMatch(SCAN);
});

test('recorded activities are found by their index', async () => {
  const plan = await activitiesQuery(collections, ['a1', 'a2', 'unknown']).explain();
  expect(indexesUsed(plan)).toEqual(new Set(['activities.id_1']));
});

test('recording finds its standing by ID', async () => {
  const { filter } = recordOperation(standingId('inn', 'member-1', YEAR), [
    activity('new', 1),
  ]).updateOne;
  const plan = await collections.standings.find(filter).explain();
  expect(indexesUsed(plan)).toEqual(new Set(['_id_']));
  // On DocumentDB, the condition shows that the index is not scanned as a whole.
  expect(JSON.stringify(plan)).toMatch(/object_id OPERATOR|IDHACK|IXSCAN/);
});

test('a collection scan would be noticed', async () => {
  expect(JSON.stringify(await collections.standings.find({ stays: 5 }).explain())).toMatch(SCAN);
});

test('the database refuses an activity in a second standing', async () => {
  const entry = { id: 'a1', points: 1, stays: 0, occurredAt: new Date() };
  const thief = { _id: standingId('inn', 'thief', YEAR), points: 1, stays: 0, activities: [entry] };
  await expect(collections.standings.insertOne(thief)).rejects.toMatchObject({ code: 11_000 });
});

test.each<[string, Record<string, unknown>]>([
  ['no activity', { activities: [] }],
  ['half a point', { points: 0.5 }],
  ['points beyond Int', { points: 2_147_483_648 }],
  ['no stays', { stays: null }],
  ['an activity without an id', { activities: [{ points: 1, stays: 0, occurredAt: new Date() }] }],
  [
    'an activity whose time is a string',
    { activities: [{ id: 'bad', points: 1, stays: 0, occurredAt: '2026-01-01' }] },
  ],
])('a standing with %s is refused', async (_, part) => {
  const good = {
    points: 1,
    stays: 0,
    activities: [{ id: 'good', points: 1, stays: 0, occurredAt: new Date() }],
  };
  const documents = db.collection<{ _id: string }>('standings');
  await expect(
    documents.insertOne({ _id: 'inn\0bad\x002026', ...good, ...part }),
  ).rejects.toMatchObject({ code: 121 });
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
