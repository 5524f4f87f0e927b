// The members store, on each engine.

import { ENGINES } from '../../../../test/support/engines.ts';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import type { MembersStore } from './store.ts';

const updatedAt = expect.any(Number);
const enrolledAt = expect.any(Number);

describe.each(ENGINES)('the members store on %s', (engine) => {
  let place: Place;
  let store: MembersStore;

  beforeEach(async () => {
    place = newPlace(engine);
    store = await place.open();
  });
  afterEach(() => place.release());

  const enroll = (
    partnerId: string,
    email: string,
    externalId?: string,
    names: { firstName?: string; lastName?: string } = {},
  ) => store.enroll({ partnerId, address: address(email), externalId, ...names });
  /** Enrolls without a conflict and returns the member's ID. */
  const enrolledId = async (partnerId: string, email: string, externalId?: string) => {
    const enrolled = await enroll(partnerId, email, externalId);
    if (enrolled.outcome !== 'enrolled') throw new Error(enrolled.outcome);
    return enrolled.member.memberId;
  };
  const byEmail = async (partnerId: string, canonical: string) =>
    (await store.memberByEmail(partnerId, canonical))?.memberId;
  const byExternalId = async (partnerId: string, externalId: string) =>
    (await store.memberByExternalId(partnerId, externalId))?.memberId;
  /** What `find` answers for each number below `count`, 50 at once. */
  const findEach = async (count: number, find: (i: number) => Promise<string | undefined>) => {
    const found: (string | undefined)[] = [];
    while (found.length < count) {
      const begin = found.length;
      const size = Math.min(50, count - begin);
      found.push(...(await Promise.all(Array.from({ length: size }, (_, i) => find(begin + i)))));
    }
    return found;
  };
  const importOne = async (...args: Parameters<typeof memberImport>) =>
    (await store.importMembers([memberImport(...args)]))[0];

  describe('enrolling', () => {
    test('a new member is found by address and external ID, by the enrolling partner only', async () => {
      const enrolled = await enroll('inn', 'Ada@Example.com', 'A-1', {
        firstName: 'Ada',
        lastName: 'Byron',
      });
      expect(enrolled).toMatchObject({
        outcome: 'enrolled',
        created: true,
        member: { email: 'Ada@Example.com', firstName: 'Ada', lastName: 'Byron' },
      });
      const ada = await store.memberByEmail('inn', 'ada@example.com');
      expect(ada).toMatchObject({
        memberId: expect.stringMatching(/^[\w-]{36}$/),
        email: 'Ada@Example.com',
        firstName: 'Ada',
        lastName: 'Byron',
      });
      expect(await store.memberByExternalId('inn', 'A-1')).toEqual(ada);
      expect(await store.member(ada?.memberId ?? '')).toMatchObject({
        memberId: ada?.memberId,
        email: 'Ada@Example.com',
        enrollments: [{ partnerId: 'inn', status: 'ACTIVE', externalId: 'A-1' }],
      });
      expect(await store.memberByEmail('spa', 'ada@example.com')).toBeUndefined();
      expect(await store.memberByExternalId('spa', 'A-1')).toBeUndefined();
      expect(await store.memberByEmail('inn', 'Ada@Example.com')).toBeUndefined();
      expect(await store.memberByExternalId('inn', 'a-1')).toBeUndefined();
    });

    test('texts of any script and length are stored as they are', async () => {
      const externalId = '\u{1f3e8}'.repeat(255);
      const email = `${'\u{1f600}'.repeat(242)}@example.com`;
      await enroll('\u{10ffff}'.repeat(128), email, externalId, {
        firstName: '\u5f20'.repeat(100),
        lastName: '$where: {"$gt": ""}',
      });
      for (const found of [
        await store.memberByEmail('\u{10ffff}'.repeat(128), email),
        await store.memberByExternalId('\u{10ffff}'.repeat(128), externalId),
      ]) {
        expect(found).toMatchObject({
          email,
          firstName: '\u5f20'.repeat(100),
          lastName: '$where: {"$gt": ""}',
        });
      }
    });

    test('names of prototypes and operators are ordinary texts', async () => {
      const words = [
        '__proto__',
        'constructor',
        'toString',
        'hasOwnProperty',
        '$set',
        '$where',
        'a.b',
      ];
      for (const word of words)
        await enroll(word, `${word}@example.com`, word, { firstName: word });
      for (const word of words) {
        expect(await store.memberByExternalId(word, word)).toMatchObject({
          email: `${word}@example.com`,
          firstName: word,
        });
        expect(await store.memberByExternalId('inn', word)).toBeUndefined();
        expect(await store.member(word)).toBeUndefined();
      }
    });
  });

  describe('importing', () => {
    test('a member is added with everything in the import, and found by every address', async () => {
      expect(
        await importOne('New@Example.com', {
          memberId: 'ada',
          previous: ['Old@Example.com', 'older@example.com', 'new@example.com', 'OLD@example.com'],
          firstName: 'Ada',
          lastName: 'Byron',
          enrollments: [
            { partnerId: 'inn', externalId: 'A-1' },
            { partnerId: 'spa', status: 'ENDED' },
            { partnerId: 'bar', status: 'ACTIVE' },
          ],
        }),
      ).toBe('added');
      for (const email of ['new@example.com', 'old@example.com', 'older@example.com']) {
        expect(await store.memberByEmail('inn', email)).toMatchObject({
          memberId: 'ada',
          email: 'New@Example.com',
          firstName: 'Ada',
          lastName: 'Byron',
        });
        expect(await byEmail('bar', email)).toBe('ada');
        expect(await byEmail('spa', email)).toBeUndefined();
      }
      expect((await store.member('ada'))?.enrollments).toEqual([
        { partnerId: 'inn', status: 'ACTIVE', externalId: 'A-1', enrolledAt, updatedAt },
        { partnerId: 'spa', status: 'ENDED', updatedAt },
        { partnerId: 'bar', status: 'ACTIVE', enrolledAt, updatedAt },
      ]);
    });

    test('a batch of thousands is imported as a whole, and an empty one does nothing', async () => {
      const records = Array.from({ length: 2_500 }, (_, i) =>
        memberImport(`m${i}@example.com`, {
          memberId: `m${i}`,
          previous: [`old${i}@example.com`],
          enrollments: [{ partnerId: 'inn', externalId: `X${i}` }],
        }),
      );
      expect(new Set(await store.importMembers(records))).toEqual(new Set(['added']));
      expect(new Set(await store.importMembers(records))).toEqual(new Set(['unchanged']));
      expect(await findEach(2_500, (i) => byEmail('inn', `old${i}@example.com`))).toEqual(
        records.map((_, i) => `m${i}`),
      );
      expect(await store.importMembers([])).toEqual([]);
    });
  });

  describe('concurrently', () => {
    const times = <T>(count: number, act: (i: number) => Promise<T>) =>
      Promise.all(Array.from({ length: count }, (_, i) => act(i)));

    test('50 enrollments of one person create one member, once', async () => {
      const enrolled = await times(50, (i) =>
        enroll('inn', i % 2 ? 'Ada@example.com' : 'ada@example.com', 'A-1'),
      );
      expect(enrolled.filter((one) => one.outcome === 'enrolled' && one.created)).toHaveLength(1);
      expect(
        new Set(enrolled.map((one) => one.outcome === 'enrolled' && one.member.memberId)).size,
      ).toBe(1);
    });

    test('20 partners enroll one member, and no enrollment is lost', async () => {
      const ids = await times(20, (i) => enrolledId(`p${i}`, 'ada@example.com', `A-${i}`));
      expect(new Set(ids).size).toBe(1);
      expect((await store.member(ids[0] ?? ''))?.enrollments).toHaveLength(20);
      expect(new Set(await times(20, (i) => byExternalId(`p${i}`, `A-${i}`)))).toEqual(
        new Set(ids),
      );
    });

    test('look-ups of one event loop tick each get their own result', async () => {
      await store.importMembers(
        Array.from({ length: 150 }, (_, i) =>
          memberImport(`m${i}@example.com`, {
            memberId: `m${i}`,
            enrollments: [{ partnerId: `p${i % 3}`, externalId: `X${i}` }],
          }),
        ),
      );
      const found = await times(450, async (i) =>
        i % 2 ? byEmail(`p${i % 3}`, `m${i}@example.com`) : byExternalId(`p${i % 3}`, `X${i}`),
      );
      expect(found).toEqual(Array.from({ length: 450 }, (_, i) => (i < 150 ? `m${i}` : undefined)));
    });
  });

  test('a store is empty until a member is stored, is ready, and keeps what is stored', async () => {
    expect(await store.isEmpty()).toBe(true);
    await store.ready();
    const ada = await enrolledId('inn', 'ada@example.com');
    expect(await store.isEmpty()).toBe(false);
    const again = await place.open();
    expect(await again.memberByEmail('inn', 'ada@example.com')).toMatchObject({ memberId: ada });
  });

  test('a store belongs to the environment that first opened it', async () => {
    await expect(place.open('production')).rejects.toThrow(
      'the members store belongs to the sandbox environment; it cannot be opened as production',
    );
  });
});
