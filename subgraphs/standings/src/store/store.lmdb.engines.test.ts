// How the standings store uses LMDB: the index by which it finds a member's activities.
import { openLmdb } from '@partner-loyalty/runtime';
import { activity, newPlace, type Place } from '../../test/engine.ts';
import type { Activity } from '../rules/activity.ts';
import type { StandingsStore } from './store.ts';
import { openTables } from './tables.lmdb.ts';

const COUNT = 6_000;

let place: Place;

beforeEach(() => {
  place = newPlace('lmdb');
});
afterEach(() => place.release());

test('a store without the index gets it when it is opened, by several at once too', async () => {
  const store = await place.open();
  const batch = Array.from({ length: COUNT }, (_, index) =>
    activity(`a${index}`, 1, { memberId: `member-${index % 3}` }),
  );
  await store.record(batch);
  await store.close();
  const { root } = await openLmdb(place.settings.dataDir, 'standings', 'sandbox');
  const { memberActivities } = await openTables(root);
  expect(memberActivities.getKeysCount()).toBe(COUNT);
  await root.transaction(() => memberActivities.clearSync());
  expect(memberActivities.getKeysCount()).toBe(0);
  await root.close();
  const [again] = await Promise.all([place.open(), place.open(), place.open()]);
  expect(await countOf(again, 'member-1')).toBe(COUNT / 3);
  expect(await again.eraseMember('member-1')).toBe(COUNT / 3);
});

async function countOf(store: StandingsStore, memberId: string): Promise<number> {
  const found: Activity[] = [];
  for await (const one of store.activitiesOf(memberId)) found.push(one);
  return found.length;
}
