// Imports on MongoDB that another write comes before.
import { MongoClient } from 'mongodb';
import { memberImport, newPlace, type Place } from '../../test/engine.ts';
import type { MemberImport } from '../rules/member.ts';
import { importTogether } from './apply.mongo.ts';
import type { MemberDocument, MembersCollection } from './documents.mongo.ts';
import type { MembersStore } from './store.ts';

let place: Place;
let store: MembersStore;
let client: MongoClient;
let members: MembersCollection;

beforeAll(async () => {
  place = newPlace('mongodb');
  store = await place.open();
  client = new MongoClient(place.settings.mongodbUrl ?? '', { ignoreUndefined: true });
  members = client.db().collection<MemberDocument>('members');
});
beforeEach(() => members.deleteMany({}));
afterAll(async () => {
  await client.close();
  await place.release();
});

const named = (memberId: string, email: string, ...previous: string[]) =>
  memberImport(`${email}@example.com`, {
    memberId,
    previous: previous.map((one) => `${one}@example.com`),
    enrollments: [{ partnerId: 'inn' }],
  });

/** The current address of a member, without its domain. */
const current = async (memberId: string) => (await store.member(memberId))?.email.split('@')[0];

/** Imports members; before the first request that writes, another process imports others. */
const importAfter = (others: MemberImport[], imports: MemberImport[]) =>
  importBetween([() => store.importMembers(others)], imports);

/** Imports members; before each request that writes, another process does the next step. */
async function importBetween(steps: (() => Promise<unknown>)[], imports: MemberImport[]) {
  let requests = 0;
  const interrupted = new Proxy(members, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'bulkWrite') return typeof value === 'function' ? value.bind(target) : value;
      return async (...args: Parameters<typeof members.bulkWrite>) => {
        await steps[requests]?.();
        requests += 1;
        return target.bulkWrite(...args);
      };
    },
  });
  return { results: await importTogether(interrupted, imports), requests };
}

test('the imports of a member are stored together', async () => {
  const imports = Array.from({ length: 100 }, (_, i) => named(`m${i % 3}`, `m${i % 3}-${i}`));
  const { results, requests } = await importAfter([], imports);
  expect(results.slice(0, 4)).toEqual(['added', 'added', 'added', 'changed']);
  expect(requests).toBe(1);
  expect(await current('m0')).toBe('m0-99');
});

test('a member who loses an address is stored before the new one who takes it', async () => {
  await store.importMembers([named('ada', 'ada', 'old')]);
  const { results, requests } = await importAfter(
    [],
    [named('bob', 'bob'), named('eve', 'old'), named('ada', 'x')],
  );
  expect(results).toEqual(['added', 'added', 'changed']);
  // Ada without the address, then the new ones, then Ada with another address.
  expect(requests).toBe(3);
  expect(await current('eve')).toBe('old');
});

test('members who each take an address of one member are stored together, replaced ones first', async () => {
  const addresses = Array.from({ length: 60 }, (_, i) => `old${i}`);
  const known = Array.from({ length: 30 }, (_, i) => named(`m${i}`, `m${i}`));
  await store.importMembers([named('ada', 'ada', ...addresses), ...known]);
  const imports = addresses.map((one, i) => named(`m${i}`, one));
  const { results, requests } = await importAfter([], imports);
  expect(new Set(results.slice(0, 30))).toEqual(new Set(['changed']));
  expect(new Set(results.slice(30))).toEqual(new Set(['added']));
  expect(requests).toBe(2);
  expect(await current('m59')).toBe('old59');
});

test('a member who lost an address and takes another one is stored twice', async () => {
  await store.importMembers([
    named('ada', 'ada', 'old'),
    named('bob', 'bob', 'x'),
    named('eve', 'e'),
  ]);
  const { results, requests } = await importAfter(
    [],
    [named('eve', 'old'), named('ada', 'x'), named('bob', 'e')],
  );
  expect(results).toEqual(['changed', 'changed', 'changed']);
  expect(requests).toBe(2);
  expect(await Promise.all(['ada', 'bob', 'eve'].map(current))).toEqual(['x', 'e', 'old']);
});

test('of a member who is stored twice, no event comes before its change', async () => {
  await store.importMembers([
    named('ada', 'ada', 'old'),
    named('bob', 'bob', 'x'),
    named('eve', 'e'),
  ]);
  const updatedAt = async (id: string) => (await store.member(id))?.enrollments[0]?.updatedAt;
  const last = async (id: string) => (await members.findOne({ _id: id }))?.outbox?.at(-1);
  const before = await updatedAt('ada');
  const killed = () => Promise.reject(new Error('killed'));
  const moves = [named('eve', 'old'), named('ada', 'x'), named('bob', 'e')];
  await expect(importBetween([async () => {}, killed], moves)).rejects.toThrow('killed');
  expect(await current('eve')).toBe('old');
  expect(await updatedAt('ada')).toBe(before);
  for (const id of ['ada', 'bob', 'eve'])
    expect((await last(id))?.occurredAt).toBe(await updatedAt(id));
});

test('after a conflict, imports of other members are not repeated', async () => {
  await store.importMembers([named('ada', 'ada'), named('bob', 'bob')]);
  const { results, requests } = await importAfter(
    [named('bob', 'bob2')],
    [named('ada', 'ada'), named('bob', 'bob3'), named('ada', 'ada2')],
  );
  expect(results).toEqual(['unchanged', 'changed', 'changed']);
  expect(await current('ada')).toBe('ada2');
  expect(await current('bob')).toBe('bob3');
  expect(requests).toBe(2);
});

test('after a conflict, imports of the same member are repeated in their order', async () => {
  await store.importMembers([named('ada', 'ada')]);
  const { results } = await importAfter(
    [named('ada', 'else')],
    [named('ada', 'ada'), named('ada', 'ada2'), named('bob', 'bob'), named('ada', 'ada3')],
  );
  expect(results).toEqual(['unchanged', 'changed', 'added', 'changed']);
  expect(await current('ada')).toBe('ada3');
});

test('an import that depends on a member who was not stored is repeated with all after it', async () => {
  await store.importMembers([named('ada', 'ada'), named('bob', 'bob')]);
  const { results } = await importAfter(
    [named('bob', 'else')],
    [named('bob', 'bob', 'x'), named('ada', 'bob'), named('ada', 'ada2')],
  );
  expect(results).toEqual(['changed', 'email-in-use', 'changed']);
  expect(await current('bob')).toBe('bob');
  expect(await current('ada')).toBe('ada2');
});

test('a new member whom another process adds first is the same one', async () => {
  const { results } = await importAfter(
    [named('eve', 'eve')],
    [memberImport('eve@example.com', { firstName: 'E' }), memberImport('eve@example.com')],
  );
  expect(results).toEqual(['changed', 'unchanged']);
  expect(await store.member('eve')).toMatchObject({ firstName: 'E' });
  expect(await members.countDocuments()).toBe(1);
});

test('after a conflict, an import before it that was refused is not repeated', async () => {
  await store.importMembers([named('ada', 'ada'), named('bob', 'bob')]);
  const { results } = await importAfter(
    [memberImport('ada@example.com', { firstName: 'Ada' })],
    [named('ada', 'bob'), named('bob', 'bob2'), memberImport('ada@example.com', { lastName: 'L' })],
  );
  expect(results).toEqual(['email-in-use', 'changed', 'changed']);
  expect(await store.memberByEmail('inn', 'bob@example.com')).toMatchObject({ memberId: 'bob' });
  expect(await store.member('ada')).toMatchObject({ firstName: 'Ada', lastName: 'L' });
});

test('an import says that it added a member again whom another process has erased', async () => {
  await store.importMembers([named('ada', 'ada', 'old'), named('bob', 'bob')]);
  const { results } = await importBetween(
    [() => store.importMembers([named('bob', 'bob2')]), () => store.rights.erase('ada')],
    [
      named('bob', 'bob', 'old'),
      memberImport('ada@example.com', { memberId: 'ada', firstName: 'A' }),
    ],
  );
  expect(results).toEqual(['changed', 'added']);
});
