// What look-ups of members cost on MongoDB: one find for many keys, of rows that have the answer.
import { Collection } from 'mongodb';
import { memberImport, newPlace, type Place } from '../../test/engine.ts';
import type { MemberKey } from '../rules/member.ts';
import type { MembersStore } from './store.ts';

let place: Place;
let store: MembersStore;
beforeAll(async () => {
  place = newPlace('mongodb');
  store = await place.open();
  await store.importMembers(
    Array.from({ length: 100 }, (_, i) =>
      memberImport(`m${i}@example.com`, {
        memberId: `m${i}`,
        enrollments: [{ partnerId: 'inn', externalId: `X${i}` }, { partnerId: 'spa' }],
      }),
    ),
  );
});
afterAll(() => place.release());

test('100 look-ups are one read, and one more for IDs among other keys', async () => {
  const find = jest.spyOn(Collection.prototype, 'find');
  const reads = () => find.mock.contexts.map((each) => (each as Collection).collectionName);
  const byKey = Array.from({ length: 100 }, (_, i): MemberKey => {
    return i % 2 === 0
      ? { by: 'externalId', value: `X${i}` }
      : { by: 'email', value: `m${i}@example.com` };
  });
  const byId = byKey.map((_, i): MemberKey => ({ by: 'memberId', value: `m${i}` }));
  const mixed = byId.map((key, i) => (i < 50 ? key : (byKey[i] ?? key)));
  for (const [keys, expected] of [
    [byKey, ['members.keys']],
    [byId, ['members.members']],
    [mixed, ['members.members', 'members.keys']],
  ] as const) {
    find.mockClear();
    const found = await store.lookUp('inn', keys);
    expect(found.map(({ member }) => member?.memberId)).toEqual(keys.map((_, i) => `m${i}`));
    expect(reads()).toEqual(expected);
  }
  // Members of another partner and IDs of nobody take the same reads.
  for (const by of ['m', 'nobody']) {
    find.mockClear();
    const keys = byId.map((_, i): MemberKey => ({ by: 'memberId', value: `${by}${i}` }));
    await store.lookUp('other', keys);
    expect(reads()).toEqual(['members.members', 'members.marks']);
  }
  find.mockRestore();
});
