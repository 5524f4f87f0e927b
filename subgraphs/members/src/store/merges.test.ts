// Merging two members in the members store: which keys lead to which, and what partners see.

import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { mailedTokens } from '../../test/mailed.ts';
import type { MemberKey } from '../rules/member.ts';
import type { MembersStore } from './store.ts';

const PAIR = { from: 'old', into: 'new' };
const NOW = Date.now();

describe('merging', () => {
  let place: Place;
  let store: MembersStore;
  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
  });
  afterEach(() => place.release());

  const idOf = async (partnerId: string, by: MemberKey['by'], value: string) =>
    (await store.lookUp(partnerId, [{ by, value }]))[0]?.member?.memberId;
  const add = (memberId: string, more: Parameters<typeof memberImport>[1] = {}) =>
    store.importMembers([memberImport(`${memberId}@x.example`, { memberId, ...more })]);
  const enroll = (partnerId: string, name: string, more = {}) =>
    store.enroll({ partnerId, address: address(`${name}@x.example`), ...more });
  const merge = (pair = PAIR) => store.merge(pair);
  const pending = async () => (await store.events.pending(1_000)).map(({ event }) => event);
  const acknowledgeAll = async () =>
    store.events.acknowledge((await store.events.pending(1_000)).map(({ ack }) => ack));
  const listed = async (partnerId: string) => {
    const after = { updatedAt: 0, memberId: '' };
    const query = { partnerId, after, until: Date.now() + 60_000, limit: 10 };
    const [active, ended] = [
      await store.list({ ...query, status: 'ACTIVE' }),
      await store.list({ ...query, status: 'ENDED' }),
    ];
    return { active: active.map((one) => one.memberId), ended: ended.map((one) => one.memberId) };
  };
  const faults = async () => (await place.verify()).faults;

  test("FROM's memberId leads to INTO for partners that FROM was enrolled with, ended ones too, and no others", async () => {
    await add('old', {
      enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa', status: 'ENDED' }],
    });
    await add('new', { enrollments: [{ partnerId: 'bar' }] });
    await merge();
    const lookUp = async (partnerId: string) =>
      (await store.lookUp(partnerId, [{ by: 'memberId', value: 'old' }]))[0];
    expect(await lookUp('inn')).toMatchObject({ status: 'FOUND', member: { memberId: 'new' } });
    expect(await lookUp('spa')).toEqual({ status: 'ENDED' });
    expect(await lookUp('bar')).toEqual({ status: 'NOT_FOUND' });
  });

  test("with a partner on both sides, FROM's external ID is a second one of INTO's enrollment", async () => {
    await add('old', { enrollments: [{ partnerId: 'inn', externalId: 'O-1' }] });
    await add('new', { enrollments: [{ partnerId: 'inn', externalId: 'N-1' }] });
    await merge();
    expect((await store.memberById('inn', 'old'))?.memberId).toBe('new');
    for (const externalId of ['O-1', 'N-1'])
      expect(await enroll('inn', 'new', { externalId })).toMatchObject({
        outcome: 'enrolled',
        created: false,
      });
    const { enrollments } = (await store.member('new')) ?? {};
    expect(enrollments).toMatchObject([{ externalId: 'N-1', otherExternalIds: ['O-1'] }]);
    expect(await enroll('inn', 'other', { externalId: 'O-1' })).toMatchObject({ reason: 'TAKEN' });
    await add('old', { enrollments: [] });
    await store.endEnrollment('inn', 'old');
    for (const externalId of ['O-1', 'N-1'])
      expect(await idOf('inn', 'externalId', externalId)).toBeUndefined();
    expect(await enroll('inn', 'other', { externalId: 'O-1' })).toMatchObject({ created: true });
    expect(await faults()).toEqual([]);
  });

  test("no event that waits has a merged member's external ID once it is erased", async () => {
    await add('old', { enrollments: [{ partnerId: 'inn', externalId: 'O-1' }] });
    await add('new', { enrollments: [{ partnerId: 'spa' }] });
    await merge();
    await store.rights.erase('old');
    const own = (await pending()).filter(({ memberId }) => memberId === 'old');
    expect(own.map(({ type, externalId }) => [type, externalId])).toEqual([
      ['MEMBER_ENROLLED', undefined],
    ]);
    await acknowledgeAll();
    expect([await pending(), await store.rights.erase('old')]).toEqual([[], false]);
    expect(await faults()).toEqual([]);
  });

  test.each(['old', 'new'])('an enrollment that ended for %s alone is active', async (ended) => {
    for (const memberId of ['old', 'new']) {
      const status = memberId === ended ? 'ENDED' : 'ACTIVE';
      await add(memberId, { enrollments: [{ partnerId: 'inn', status }] });
    }
    await merge();
    expect(await idOf('inn', 'email', 'old@x.example')).toBe('new');
    expect(await listed('inn')).toEqual({ active: ['new'], ended: [] });
  });

  test.each(['old', 'new'])(
    'a partner that is confirmed for %s alone is confirmed',
    async (name) => {
      await enroll('inn', 'old', { firstName: 'Ola' });
      await enroll('inn', 'new', { firstName: 'Nia' });
      const ids = await Promise.all(
        ['old', 'new'].map(async (one) => (await idOf('inn', 'email', `${one}@x.example`)) ?? ''),
      );
      const [from = '', into = ''] = ids;
      await add(name, {
        memberId: name === 'old' ? from : into,
        enrollments: [{ partnerId: 'inn' }],
      });
      await merge({ from, into });
      const { enrollments } = (await store.member(into)) ?? {};
      expect(enrollments?.map(({ unconfirmed }) => unconfirmed)).toEqual([undefined]);
      expect((await store.memberById('inn', into))?.firstName).toBe('Nia');
    },
  );

  test.each(['old', 'new'])(
    'what an app has confirmed for %s ends with the consent of FROM, or when INTO revokes it',
    async (name) => {
      await enroll('inn', 'old', { firstName: 'Ola' });
      const from = (await idOf('inn', 'email', 'old@x.example')) ?? '';
      await add('new', { firstName: 'Nia', previous: ['newer@x.example'] });
      await enroll('inn', 'newer');
      const memberId = name === 'old' ? from : 'new';
      await store.tokens.confirmSignIn(memberId, { partnerId: 'inn', clientId: 'app_1' });
      await merge({ from, into: 'new' });
      if (name === 'new') {
        expect((await store.memberById('inn', 'new'))?.email).toBe('new@x.example');
        await store.tokens.takeBack('new', ['app_1']);
      }
      expect(await store.memberById('inn', 'new')).toMatchObject({ email: 'newer@x.example' });
      expect(await idOf('inn', 'email', 'new@x.example')).toBeUndefined();
      expect(await faults()).toEqual([]);
    },
  );

  test("an unconfirmed partner of FROM cannot learn INTO's address, names or other addresses by a merge", async () => {
    await enroll('inn', 'old', { firstName: 'Ola' });
    const from = (await idOf('inn', 'email', 'old@x.example')) ?? '';
    await add('new', { firstName: 'Nia', previous: ['newer@x.example'] });
    await store.updateOwnNames('new', { firstName: 'Nina' });
    await merge({ from, into: 'new' });
    expect(await store.memberById('inn', 'new')).toMatchObject({
      email: 'old@x.example',
      firstName: 'Ola',
    });
    expect(await idOf('inn', 'email', 'old@x.example')).toBe('new');
    for (const name of ['new', 'newer'])
      expect(await idOf('inn', 'email', `${name}@x.example`)).toBeUndefined();
    expect(await store.tokens.findRecipient('inn', 'new@x.example')).toBeUndefined();
    expect(await faults()).toEqual([]);
  });

  test("an unconfirmed partner of INTO cannot find it by FROM's addresses, until it enrolls one", async () => {
    await enroll('inn', 'new');
    const into = (await idOf('inn', 'email', 'new@x.example')) ?? '';
    await add('old', { previous: ['older@x.example'] });
    await merge({ from: 'old', into });
    for (const name of ['old', 'older'])
      expect(await idOf('inn', 'email', `${name}@x.example`)).toBeUndefined();
    expect(await enroll('inn', 'old')).toMatchObject({ created: false });
    expect(await idOf('inn', 'email', 'old@x.example')).toBe(into);
    expect(await idOf('inn', 'email', 'older@x.example')).toBeUndefined();
    expect(await faults()).toEqual([]);
  });

  test("a confirmed partner of FROM keeps the record's names that it saw, and does not see INTO's", async () => {
    await add('old', { firstName: 'Ola', enrollments: [{ partnerId: 'inn' }] });
    await add('new', { firstName: 'Nia', lastName: 'New', enrollments: [{ partnerId: 'spa' }] });
    await merge();
    const inn = await store.memberById('inn', 'new');
    expect([inn?.firstName, inn?.lastName, inn?.email]).toEqual([
      'Ola',
      undefined,
      'new@x.example',
    ]);
    expect((await store.memberById('spa', 'new'))?.lastName).toBe('New');
  });

  test('MEMBER_MERGED goes to partners of FROM, ended ones too, once, and FROM leaves lists without ENDED', async () => {
    await add('old', {
      enrollments: [
        { partnerId: 'inn', externalId: 'O-1' },
        { partnerId: 'spa', status: 'ENDED' },
      ],
    });
    await add('new', {
      enrollments: [{ partnerId: 'inn', externalId: 'N-1' }, { partnerId: 'bar' }],
    });
    await acknowledgeAll();
    await merge();
    const told = (await pending()).map(({ id: _, occurredAt: __, ...event }) => event);
    const merged = { type: 'MEMBER_MERGED', memberId: 'new', mergedMemberId: 'old' };
    expect(told).toEqual([
      { ...merged, partnerId: 'inn', externalId: 'N-1' },
      { ...merged, partnerId: 'spa' },
    ]);
    expect(await listed('inn')).toEqual({ active: ['new'], ended: [] });
    expect(await listed('spa')).toEqual({ active: [], ended: ['new'] });
    await acknowledgeAll();
    await merge();
    expect(await pending()).toEqual([]);
    expect(await idOf('inn', 'memberId', 'old')).toBe('new');
  });

  test('partners of INTO alone get MEMBER_UPDATED if they see a change', async () => {
    await add('old');
    await store.updateOwnNames('old', { firstName: 'Olga' });
    await add('new', { enrollments: [{ partnerId: 'bar' }] });
    await acknowledgeAll();
    await merge();
    expect(await pending()).toMatchObject([{ type: 'MEMBER_UPDATED', partnerId: 'bar' }]);
    expect((await store.memberById('bar', 'new'))?.firstName).toBe('Olga');
  });

  test("links mailed to FROM end, and INTO's work", async () => {
    const mailed = mailedTokens(() => store, NOW);
    const hashes: string[] = [];
    for (const name of ['old', 'new']) {
      await add(name, { enrollments: [{ partnerId: 'inn' }] });
      hashes.push((await mailed.link(`${name}@x.example`)) ?? '');
    }
    await merge();
    const used = await Promise.all(
      hashes.map((hash) => store.tokens.redeemSignIn(hash, 'own-page', NOW)),
    );
    expect(used.map((one) => one?.memberId)).toEqual([undefined, 'new']);
  });

  test('members merged into one at the same time, beside changes of both and reads, all arrive', async () => {
    const ids = ['a', 'b', 'c', 'd'];
    await add('new', { enrollments: [{ partnerId: 'inn', externalId: 'N' }] });
    for (const id of ids) await add(id, { enrollments: [{ partnerId: 'inn', externalId: id }] });
    const second = await place.open();
    const read = async () => {
      for (const id of ids)
        for (const by of ['email', 'memberId', 'externalId'] as const) {
          const found = await idOf('inn', by, by === 'email' ? `${id}@x.example` : id);
          expect([id, 'new']).toContain(found);
        }
    };
    const write = async (id: string) => {
      for (let number = 0; number < 5; number += 1) {
        expect(await second.updateNames('inn', id, { firstName: `${number}` })).toBeDefined();
        await read();
      }
    };
    const join = (from: string, at: MembersStore) => at.merge({ from, into: 'new' });
    await Promise.all([
      ...ids.map(write),
      ...ids.map((from, index) => join(from, index % 2 === 0 ? store : second)),
    ]);
    for (const id of ids) expect(await idOf('inn', 'externalId', id)).toBe('new');
    expect((await pending()).filter(({ type }) => type === 'MEMBER_MERGED')).toHaveLength(4);
    expect(await faults()).toEqual([]);
  });
});
