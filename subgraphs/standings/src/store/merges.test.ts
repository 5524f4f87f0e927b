// Merging two members in the standings store: sums, activities and events, beside recording.
import { activity, newPlace, type Place } from '../../test/engine.ts';
import { createSequencer } from '../events/sequencer.ts';
import type { StandingsStore } from './store.ts';

const YEAR = '2026-01-01';
const EARLIER = { year: '2025-01-01', occurredAt: new Date('2025-03-01T00:00:00Z') };

describe('merging', () => {
  let place: Place;
  let store: StandingsStore;
  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
  });
  afterEach(() => place.release());

  const old = (activityId: string, points: number, partnerId = 'inn') =>
    activity(activityId, points, { memberId: 'old', partnerId });
  const next = (activityId: string, points: number) =>
    activity(activityId, points, { memberId: 'new' });
  const points = async (memberId: string, partnerId = 'inn') =>
    (await store.standing(partnerId, memberId, YEAR))?.points;
  const listed = async (memberId: string, partnerId = 'inn', limit = 100) =>
    (await store.latestActivities(partnerId, memberId, limit)).map(({ activityId }) => activityId);
  async function events() {
    const members = { pendingEvents: async () => [], acknowledgeEvents: async () => undefined };
    const sequencer = createSequencer(store.feed, { members, retentionDays: 30 });
    while (await sequencer.pass());
    const page = await store.feed.page('inn', { after: undefined, first: 500, types: undefined });
    await sequencer.release();
    if (typeof page === 'string') throw new Error(page);
    return page.events.map(({ event }) => event);
  }
  test("INTO has both's sums and activities, and FROM its own until the merge is finished", async () => {
    await store.record([old('a', 5), old('s', 7, 'spa'), next('b', 20)]);
    await store.record([activity('c', 1, { memberId: 'old', ...EARLIER })]);
    expect(await store.merges.begin('old', 'new')).toBeUndefined();
    expect(await store.merges.begin('old', 'new')).toBeUndefined();
    expect([await points('old'), await points('new')]).toEqual([5, 25]);
    expect([await points('old', 'spa'), await points('new', 'spa')]).toEqual([7, 7]);
    expect((await listed('old')).sort()).toEqual(['a', 'c']);
    expect((await listed('new')).sort()).toEqual(['a', 'b', 'c']);
    expect(await place.faults()).toEqual([]);
    await store.merges.finish('old');
    await store.merges.finish('old');
    expect(await points('new')).toBe(25);
    expect((await listed('new')).sort()).toEqual(['a', 'b', 'c']);
    expect(await listed('new', 'spa')).toEqual(['s']);
    expect(await store.standingsOf('new')).toHaveLength(3);
    expect(await store.standingsOf('old')).toEqual([]);
    expect(await store.merges.idsOf('old')).toEqual(['new', 'old']);
    expect(await place.faults()).toEqual([]);
  });

  test("pages of INTO's activities go on across both", async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 5, 1, 0, 0, second));
    await store.record(
      Array.from({ length: 10 }, (_, index) => ({
        ...(index % 2 === 0 ? old : next)(`a-${index}`, 1),
        occurredAt: at(Math.floor(index / 4)),
      })),
    );
    await store.merges.begin('old', 'new');
    const all = await store.latestActivities('inn', 'new', 100);
    expect(new Set(all.map(({ activityId }) => activityId)).size).toBe(10);
    const paged: string[] = [];
    for (let last = all[0]; paged.length < 9; ) {
      const before = {
        occurredAtMs: last?.occurredAt.getTime() ?? 0,
        activityId: last?.activityId,
      };
      const [one] = await store.latestActivities('inn', 'new', 1, before);
      paged.push(one?.activityId ?? '');
      last = one;
    }
    expect(paged).toEqual(all.slice(1).map(({ activityId }) => activityId));
  });

  test('an activity sent by either ID counts for INTO, and one sent before is not a conflict', async () => {
    await store.record([old('a', 5), next('b', 20)]);
    await store.merges.begin('old', 'new');
    const again = [old('a', 5), next('a', 5), next('b', 20), old('b', 20)];
    const known = again.map(() => 'already-recorded');
    const more = [...again, old('a', 6), old('c', 1)];
    expect(await store.record(more)).toEqual([...known, 'conflict', 'recorded']);
    await store.merges.finish('old');
    expect(await store.record(more)).toEqual([...known, 'conflict', 'already-recorded']);
    expect([await points('new'), await points('old')]).toEqual([26, undefined]);
    expect(await listed('old')).toEqual(['a']);
    expect(await place.faults()).toEqual([]);
  });

  test('a merge has no POINTS_CHANGED and no TIER_CHANGED, and later ones are of INTO', async () => {
    const year = String(new Date().getUTCFullYear());
    const now = { occurredAt: new Date(), year: `${year}-01-01` };
    await store.putProgram('inn', {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: [
        { name: 'Base', points: 0 },
        { name: 'Gold', points: 25 },
        { name: 'Top', points: 30 },
      ],
    });
    await store.record([
      { ...old('a', 5), ...now },
      { ...next('b', 20), ...now },
    ]);
    const before = await events();
    await store.merges.begin('old', 'new');
    await store.merges.finish('old');
    expect(await events()).toEqual(before);
    await store.record([{ ...old('c', 5), ...now }]);
    expect((await events()).slice(before.length)).toMatchObject([
      { type: 'POINTS_CHANGED', memberId: 'new', points: 5, activityId: 'c' },
      { type: 'TIER_CHANGED', memberId: 'new', tierBefore: 'Gold', tierAfter: 'Top' },
    ]);
  });

  test('refused if a sum would leave the range of Int, and nothing changes', async () => {
    const most = 1_000_000_000;
    await store.record([old('a', most), old('b', most), next('c', most), old('d', 1, 'spa')]);
    expect(await store.merges.begin('old', 'new')).toBe('out-of-range');
    expect([await points('old'), await points('new')]).toEqual([2 * most, most]);
    expect(await points('new', 'spa')).toBeUndefined();
    expect(await store.merges.idsOf('old')).toEqual(['old']);
  });

  test('of merges that share a member, started at the same time, none makes a chain', async () => {
    const second = await place.open();
    const pairs = ['a-b', 'b-c', 'c-a', 'b-a', 'a-d', 'a-b'].map((pair) => pair.split('-'));
    const states = await Promise.all(
      pairs.map(([from = '', into = ''], index) =>
        (index % 2 === 0 ? store : second).merges.begin(from, into),
      ),
    );
    const done = pairs.filter((_, index) => states[index] === undefined);
    const gone = new Map(done.map(([from = '', into = '']) => [from, into]));
    expect(done.filter(([, into = '']) => gone.has(into))).toEqual([]);
    for (const id of ['a', 'b', 'c', 'd']) {
      expect((await store.merges.idsOf(id))[0]).toBe(gone.get(id) ?? id);
    }
  });

  test.each(['old', 'new'])(
    'while both are being erased, %s first, what is sent for FROM is not recorded for INTO',
    async (first) => {
      await store.merges.begin('old', 'new');
      await store.eraseMember(first);
      expect(await store.record([old('a', 5)])).toEqual(['erased']);
      expect([await store.standingsOf('new'), await listed('new')]).toEqual([[], []]);
    },
  );

  test.each(['old', 'new'])(
    'a merge of members of whom %s was erased does not begin',
    async (gone) => {
      await store.record([old('a', 5), next('b', 20)]);
      await store.eraseMember(gone);
      expect(await store.merges.begin('old', 'new')).toBe('erased');
      expect([await points('old'), await points('new')]).toEqual(
        gone === 'old' ? [undefined, 20] : [5, undefined],
      );
      expect(await store.merges.idsOf('old')).toEqual(['old']);
      await store.liftMark(gone);
      expect(await store.merges.begin('old', 'new')).toBeUndefined();
    },
  );

  test('of a merge beside an erasure of one of the two, either knows of the other, and no sums are left', async () => {
    const second = await place.open();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const [from, into] = [`old-${index}`, `new-${index}`];
        const gone = index % 2 === 0 ? from : into;
        const sent = [from, into].map((memberId) => activity(`a-${memberId}`, 5, { memberId }));
        await store.record(sent);
        const [refusal] = await Promise.all([
          second.merges.begin(from, into),
          store.eraseMember(gone),
        ]);
        const ids = await store.merges.idsOf(gone);
        const left = await store.standingsOf(gone);
        return { isKnown: refusal === 'erased' || ids.length === 2, left };
      }),
    );
    expect(outcomes).toEqual(outcomes.map(() => ({ isKnown: true, left: [] })));
  });
});
