// The members store, on each engine.

import { ENGINES } from '../../../../test/support/engines.ts';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import type { MembersStore } from './store.ts';

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

  describe('enrolling', () => {
    test('texts of any script and length, and names of prototypes and operators, are ordinary', async () => {
      const words = ['__proto__', 'constructor', '$set', '$where', 'a.b', '\u{1f3e8}'.repeat(128)];
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
      for (const i of [0, 1_000, 2_499]) {
        expect(await byEmail('inn', `old${i}@example.com`)).toBe(`m${i}`);
        expect(await byExternalId('inn', `X${i}`)).toBe(`m${i}`);
      }
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
});
