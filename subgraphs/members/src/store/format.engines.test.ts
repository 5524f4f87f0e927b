// The stored format of each engine: the names and lists on disk, whatever the code calls them.
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { MongoClient } from 'mongodb';
import { newPlace, type Place } from '../../test/engine.ts';

const HASH = 'a'.repeat(64);
const RECORD = {
  email: 'Ada@Example.com',
  firstName: 'Ada',
  address: 'ada@example.com',
  earlier: ['old@example.com'],
  released: ['lost@example.com'],
  unconfirmed: ['old@example.com'],
  enrollments: [
    { partnerId: 'inn', status: 'ACTIVE', externalId: 'A-1', enrolledAt: 3, updatedAt: 4 },
    { partnerId: 'spa', status: 'ENDED', updatedAt: 4 },
    {
      partnerId: 'pub',
      status: 'ACTIVE',
      enrolledAt: 3,
      updatedAt: 4,
      unconfirmed: true,
      limited: true,
      written: [{ typed: 'OLD@example.com', canonical: 'old@example.com' }],
      names: { firstName: 'Eve' },
    },
    { partnerId: 'bar', status: 'ACTIVE', enrolledAt: 3, updatedAt: 4, confirmedAt: 4 },
  ],
  tokens: [{ use: 'undo', hash: HASH, changeId: 'c1', expiresAt: 9e15 }],
  changes: [
    {
      id: 'c1',
      at: 1,
      from: { typed: 'Old@example.com', canonical: 'old@example.com' },
      to: 'ada@example.com',
      known: false,
    },
  ],
  undone: { id: 'u0', at: 0 },
};
const KEYS = [
  'a\nada@example.com',
  'a\nold@example.com',
  `t\n${HASH}`,
  'e\ninn\nada@example.com',
  'e\ninn\nold@example.com',
  'x\ninn\nA-1',
  'e\nbar\nada@example.com',
  'e\nbar\nold@example.com',
];
const LIMITED_KEY = 'e\npub\nold@example.com';
const TASK = { kind: 'magic-link', partnerId: 'inn', address: 'ada@example.com' };
const JOB = { jobId: 'j1', task: TASK, requestedAt: 5, dueAt: 5, attempts: 0, admitted: true };
const PARTNER = { partnerId: 'inn', name: 'The Inn', magicLinkUrl: 'https://inn.example/in' };

const WRITERS = {
  async lmdb({ settings }: Place) {
    const { root } = await openLmdb(settings.dataDir, 'members', 'sandbox');
    const table = (name: string) => root.openDB<unknown>({ name, encoding: 'json' });
    await table('members').put('ada', { memberId: 'ada', ...RECORD });
    for (const key of KEYS) await table('keys').put(key, ['ada', 'Ada@Example.com', 'Ada', null]);
    await table('keys').put(LIMITED_KEY, ['ada', 'OLD@example.com', 'Eve', null]);
    await table('outbox').put('j1', JOB);
    await table('outbox-orders').put(['dueAt', 5, 'j1'], true);
    await table('mailpartners').put('inn', PARTNER);
    await root.close();
  },
  async mongodb(place: Place) {
    await (await place.open()).close();
    const client = new MongoClient(place.settings.mongodbUrl ?? '');
    const table = (name: string) => client.db().collection<{ _id: string }>(name);
    const document = { _id: 'ada', ...RECORD, version: 3, keys: [...KEYS, LIMITED_KEY] };
    await table('members').insertOne(document);
    await table('outbox').insertOne({ _id: 'j1', version: 'v', ...JOB } as { _id: string });
    await table('mailpartners').insertOne({ _id: 'inn', version: 'v', ...PARTNER } as {
      _id: string;
    });
    await client.close();
  },
};

test.each(Object.entries(WRITERS))('%s reads what is in its stored format', async (_, write) => {
  const place = newPlace(write === WRITERS.lmdb ? 'lmdb' : 'mongodb');
  await write(place);
  const store = await place.open();
  const ada = { memberId: 'ada', email: 'Ada@Example.com', firstName: 'Ada', lastName: undefined };
  expect(await store.memberByEmail('inn', 'old@example.com')).toMatchObject(ada);
  expect(await store.memberByExternalId('inn', 'A-1')).toMatchObject(ada);
  const old = { memberId: 'ada', email: 'OLD@example.com', firstName: 'Eve', lastName: undefined };
  expect(await store.memberByEmail('pub', 'old@example.com')).toMatchObject(old);
  expect(await store.memberByEmail('pub', 'ada@example.com')).toBeUndefined();
  expect(await store.member('ada')).toEqual({ memberId: 'ada', ...RECORD });
  const recipient = await store.tokens.findRecipient('inn', 'old@example.com');
  expect(recipient).toEqual({ memberId: 'ada', isConfirmed: true });
  expect(await store.outbox.claim(5, 1_000)).toEqual({
    jobId: 'j1',
    task: TASK,
    requestedAt: 5,
    dueAt: 1_005,
    attempts: 1,
    admitted: true,
  });
  expect(await store.partners.get('inn')).toEqual(PARTNER);
  const undo = { undoId: 'u1', taken: ['ada@example.com'] };
  expect(await store.tokens.undoChange(HASH, undo, 10)).toMatchObject({
    outcome: 'changed',
    member: {
      email: 'Old@example.com',
      address: 'old@example.com',
      released: ['lost@example.com', 'ada@example.com'],
      undone: { id: 'u1', at: 10 },
      unconfirmed: [],
      takenAway: [{ undoId: 'u1', at: 10, address: 'ada@example.com' }],
    },
  });
  await place.release();
});
