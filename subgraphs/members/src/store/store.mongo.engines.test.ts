// What the members store relies on MongoDB for: indexes and uniqueness.
import { openMongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { type Collection, type Document, type Filter, MongoClient } from 'mongodb';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import type { MemberKey } from '../rules/member.ts';
import { addressKey, enrolledKey, externalKey } from '../rules/record.ts';
import { findByIds, findByKeys, type MemberDocument } from './documents.mongo.ts';
import { findPending } from './events.mongo.ts';
import { createMongoLookUp, membersByKey } from './lookup.mongo.ts';
import type { MembersStore } from './store.ts';

let place: Place;
let store: MembersStore;
let client: MongoClient;
let members: Collection<MemberDocument>;

beforeAll(async () => {
  place = newPlace('mongodb');
  store = await place.open();
  client = new MongoClient(place.settings.mongodbUrl ?? '');
  members = client.db().collection('members');
  await store.importMembers(
    Array.from({ length: 1_000 }, (_, i) =>
      memberImport(`m${i}@example.com`, {
        memberId: `m${i}`,
        enrollments: [{ partnerId: 'inn', externalId: `X${i}` }, { partnerId: 'spa' }],
      }),
    ),
  );
});
afterAll(async () => {
  await client.close();
  await place.release();
});

test.each([
  ['by address', () => findByKeys(members, [enrolledKey('inn', 'm1@example.com')]), 'keys_1'],
  ['by external ID', () => findByKeys(members, [externalKey('inn', 'X1')]), 'keys_1'],
  [
    'by an unknown external ID',
    () => findByKeys(members, [externalKey('inn', 'unknown')]),
    'keys_1',
  ],
  [
    'by the keys of an enrollment',
    () => findByKeys(members, [addressKey('m1@example.com'), externalKey('inn', 'X1')]),
    'keys_1',
  ],
  [
    'by the keys of a batch',
    () =>
      findByKeys(
        members,
        Array.from({ length: 100 }, (_, i) => enrolledKey('inn', `m${i}@example.com`)),
      ),
    'keys_1',
  ],
  ['by ID', () => findByIds(members, ['m1']), '_id_'],
  [
    'of a list',
    () => members.find({ 'listed.ACTIVE.inn': { $gt: '1', $lt: '2' } } as Filter<MemberDocument>),
    'listed.$**_1',
  ],
  [
    'by the IDs of a batch',
    () =>
      findByIds(
        members,
        Array.from({ length: 100 }, (_, i) => `m${i}`),
      ),
    '_id_',
  ],
])('a look-up %s reads an index and only the documents that it finds', async (_, query, index) => {
  const plan = await query().explain();
  expect(indexesUsed(plan)).toEqual(new Set([index]));
  // DocumentDB shows a filter if it reads documents and discards them, even if it reads all of them
  // through an index.
  expect(JSON.stringify(plan)).not.toMatch(/COLLSCAN|Seq Scan|"Filter"/);
});

test('100 look-ups are one read, and one more for IDs among other keys', async () => {
  const watched = new MongoClient(place.settings.mongodbUrl ?? '', { monitorCommands: true });
  const commands: string[] = [];
  watched.on('commandStarted', ({ commandName }) => commands.push(commandName));
  const marks = await openMongoMarks(watched.db(), 'memberMarks');
  const lookUp = createMongoLookUp(watched.db().collection('members'), marks);
  const byKey = Array.from({ length: 100 }, (_, i): MemberKey => {
    return i % 2 === 0
      ? { by: 'externalId', value: `X${i}` }
      : { by: 'email', value: `m${i}@example.com` };
  });
  const byId = byKey.map((_, i): MemberKey => ({ by: 'memberId', value: `m${i}` }));
  const mixed = byId.map((key, i) => (i < 50 ? key : (byKey[i] ?? key)));
  for (const [keys, reads] of [
    [byKey, ['find']],
    [byId, ['find']],
    [mixed, ['find', 'find']],
  ] as const) {
    commands.length = 0;
    const found = await Promise.all(keys.map((key) => lookUp('inn', key)));
    expect(found.map(({ member }) => member?.memberId)).toEqual(keys.map((_, i) => `m${i}`));
    expect(commands).toEqual(reads);
  }
  // Members of another partner and IDs of nobody take the same reads.
  for (const by of ['m', 'nobody']) {
    commands.length = 0;
    await Promise.all(byId.map((_, i) => lookUp('other', { by: 'memberId', value: `${by}${i}` })));
    expect(commands).toEqual(['find', 'find']);
  }
  await watched.close();
});

test('a look-up reads what it shows, and no other keys or enrollments than it needs', async () => {
  const watched = new MongoClient(place.settings.mongodbUrl ?? '', { monitorCommands: true });
  const read: Document[] = [];
  watched.on('commandSucceeded', ({ commandName, reply }) => {
    // Cast: the form of a reply to this command.
    if (commandName === 'find')
      read.push(...(reply as { cursor: { firstBatch: Document[] } }).cursor.firstBatch);
  });
  const asked = [
    enrolledKey('inn', 'm1@example.com'),
    enrolledKey('spa', 'm1@example.com'),
    externalKey('inn', 'X2'),
  ];
  const others = [enrolledKey('pub', 'm1@example.com'), enrolledKey('inn', '$keys')];
  const watchedMembers = watched.db().collection<MemberDocument>('members');
  const found = await membersByKey(watchedMembers, [...asked, ...others]);
  expect(asked.map((key) => found.get(key)?.memberId)).toEqual(['m1', 'm1', 'm2']);
  expect(found.size).toBe(asked.length);
  expect(read.flatMap(({ keys }) => keys).sort()).toEqual(asked.toSorted());
  const fields = ['_id', 'email', 'address', 'enrollments', 'keys'];
  expect(new Set(read.flatMap(Object.keys))).toEqual(new Set(fields));
  read.length = 0;
  await membersByKey(watchedMembers, [externalKey('inn', 'X2')]);
  await membersByKey(watchedMembers, [externalKey('inn', 'X3'), externalKey('inn', 'X4')]);
  const enrolled = (id: string) => ({
    _id: `m${id}`,
    email: `m${id}@example.com`,
    address: `m${id}@example.com`,
    enrollments: [expect.objectContaining({ partnerId: 'inn', externalId: `X${id}` })],
  });
  const keyed = (id: string) => ({ ...enrolled(id), keys: [externalKey('inn', `X${id}`)] });
  const inOrder = read.toSorted((one, other) => (one._id < other._id ? -1 : 1));
  expect(inOrder).toEqual([enrolled('2'), keyed('3'), keyed('4')]);
  await watched.close();
});

test('a scan of the collection would be detected', async () => {
  const plan = await members.find({ email: 'm1@example.com' }).explain();
  expect(JSON.stringify(plan)).toMatch(/COLLSCAN|Seq Scan|"Filter"/);
});

test('the index is unique, so the database refuses a second member with a key', async () => {
  const found = await members.findOne({ _id: 'm1' });
  await expect(
    members.insertOne({ ...found, _id: 'thief' } as MemberDocument),
  ).rejects.toMatchObject({ code: 11_000 });
});

test('several can open it at the same time', async () => {
  const fresh = newPlace('mongodb');
  const stores = await Promise.all(Array.from({ length: 4 }, () => fresh.open()));
  await Promise.all(
    stores.map((one) => one.enroll({ partnerId: 'inn', address: address('ada@example.com') })),
  );
  expect(
    new Set(
      await Promise.all(
        stores.map(async (one) => (await one.memberByEmail('inn', 'ada@example.com'))?.memberId),
      ),
    ).size,
  ).toBe(1);
  await fresh.release();
});

test('pending events are found by an index, by which MongoDB also has their order', async () => {
  const plan = await findPending(members, 10).explain();
  expect(indexesUsed(plan)).toEqual(new Set(['pendingAt_1']));
  expect(JSON.stringify(plan)).not.toMatch(/COLLSCAN|Seq Scan|"SORT"/);
});

/**
 * MongoDB names the index beside its scan, except for the one by ID; DocumentDB in each node of
 * PostgreSQL's plan.
 */
function indexesUsed(plan: unknown): Set<unknown> {
  const used = new Set<unknown>();
  const look = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
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
