// The members store, on each engine.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ENGINES } from '../../../../test/support/engines.ts';
import { programArgs } from '../../../../test/support/programs/programs.ts';
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

    test('omitted names are undefined', async () => {
      const memberId = await enrolledId('inn', 'ada@example.com');
      const found = await store.memberByEmail('inn', 'ada@example.com');
      expect(found).toEqual({
        memberId,
        email: 'ada@example.com',
        enrollment: { enrolledAt: expect.any(Number) },
      });
    });

    test('repeated, with the same external ID or without one, it changes nothing', async () => {
      await enroll('inn', 'ada@example.com', 'A-1', { firstName: 'Ada' });
      const memberId = await byEmail('inn', 'ada@example.com');
      const before = await store.member(memberId ?? '');
      for (const again of [
        await enroll('inn', 'ADA@example.com', 'A-1', { firstName: 'Eve' }),
        await enroll('inn', 'ada@EXAMPLE.com'),
      ]) {
        expect(again).toEqual({
          outcome: 'enrolled',
          created: false,
          member: expect.objectContaining({ memberId, email: 'ada@example.com', firstName: 'Ada' }),
        });
      }
      expect(await store.member(memberId ?? '')).toEqual(before);
    });

    test('it fills in a name that its enrollment lacks, and changes none', async () => {
      await enroll('inn', 'ada@example.com');
      await store.endEnrollment('inn', (await enrolledId('inn', 'ada@example.com')) ?? '');
      expect(await enroll('inn', 'ada@example.com', undefined, { firstName: 'Ada' })).toMatchObject(
        { created: true, member: { firstName: 'Ada', lastName: undefined } },
      );
      const eve = { firstName: 'Eve', lastName: 'Byron' };
      expect(await enroll('inn', 'ada@example.com', undefined, eve)).toMatchObject({
        created: false,
        member: { firstName: 'Ada', lastName: 'Byron' },
      });
    });

    test('a second partner enrolls the same member', async () => {
      await enroll('inn', 'ada@example.com', 'A-1');
      expect(await enroll('spa', 'ada@example.com', 'A-1')).toMatchObject({ created: true });
      expect(await byEmail('spa', 'ada@example.com')).toBe(await byEmail('inn', 'ada@example.com'));
    });

    test('an enrollment can get an external ID later, but cannot change it', async () => {
      const ada = await enrolledId('inn', 'ada@example.com');
      expect(await enroll('inn', 'ada@example.com', 'A-1')).toMatchObject({
        outcome: 'enrolled',
        created: false,
      });
      expect(await byExternalId('inn', 'A-1')).toBe(ada);
      expect(await enroll('inn', 'ada@example.com', 'A-2')).toEqual({
        outcome: 'external-id-conflict',
        reason: 'MEMBER_HAS_ANOTHER',
      });
      expect(await byExternalId('inn', 'A-2')).toBeUndefined();
      expect(await byExternalId('inn', 'A-1')).toBe(ada);
    });

    test('an external ID of another member conflicts and creates no member, at this partner only', async () => {
      const ada = await enrolledId('inn', 'ada@example.com', 'A-1');
      const eve = await enrolledId('spa', 'eve@example.com', 'A-1');
      expect(await enroll('inn', 'eve@example.com', 'A-1')).toEqual({
        outcome: 'external-id-conflict',
        reason: 'TAKEN',
      });
      expect(await enroll('inn', 'new@example.com', 'A-1')).toEqual({
        outcome: 'external-id-conflict',
        reason: 'TAKEN',
      });
      expect(await byExternalId('inn', 'A-1')).toBe(ada);
      expect(await byExternalId('spa', 'A-1')).toBe(eve);
      expect(await byEmail('inn', 'eve@example.com')).toBeUndefined();
      expect(await enroll('inn', 'new@example.com')).toMatchObject({ created: true });
    });

    test('an earlier address finds its member and is not moved', async () => {
      await importOne('new@example.com', { memberId: 'ada', previous: ['old@example.com'] });
      expect(await enroll('inn', 'OLD@example.com', 'A-1')).toMatchObject({
        created: true,
        member: { memberId: 'ada' },
      });
      expect(await store.member('ada')).toMatchObject({
        email: 'new@example.com',
        earlier: ['old@example.com'],
      });
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

  describe('ending', () => {
    test('an ended enrollment is found by no address and no external ID, for that partner only', async () => {
      await importOne('new@example.com', {
        memberId: 'ada',
        previous: ['old@example.com'],
        enrollments: [
          { partnerId: 'inn', externalId: 'A-1' },
          { partnerId: 'spa', externalId: 'A-1' },
        ],
      });
      expect(await store.endEnrollment('inn', 'ada')).toBe(true);
      for (const email of ['new@example.com', 'old@example.com']) {
        expect(await byEmail('inn', email)).toBeUndefined();
        expect(await byEmail('spa', email)).toBe('ada');
      }
      expect(await byExternalId('inn', 'A-1')).toBeUndefined();
      expect(await byExternalId('spa', 'A-1')).toBe('ada');
      expect((await store.member('ada'))?.enrollments).toEqual([
        { partnerId: 'inn', status: 'ENDED', updatedAt },
        { partnerId: 'spa', status: 'ACTIVE', externalId: 'A-1', enrolledAt, updatedAt },
      ]);
    });

    test('only an enrollment with the partner can be ended, and once is like many times', async () => {
      const ada = await enrolledId('inn', 'ada@example.com');
      expect(await store.endEnrollment('spa', ada)).toBe(false);
      expect(await store.endEnrollment('inn', 'nobody')).toBe(false);
      expect(
        await Promise.all(Array.from({ length: 20 }, () => store.endEnrollment('inn', ada))),
      ).toEqual(Array(20).fill(true));
      expect(await store.endEnrollment('inn', ada)).toBe(true);
      expect(await byEmail('inn', 'ada@example.com')).toBeUndefined();
    });

    test('it frees the external ID for another member or the same one', async () => {
      const ada = await enrolledId('inn', 'ada@example.com', 'A-1');
      await store.endEnrollment('inn', ada);
      const eve = await enrolledId('inn', 'eve@example.com', 'A-1');
      expect(await byExternalId('inn', 'A-1')).toBe(eve);
      expect(await enroll('inn', 'ada@example.com', 'A-1')).toEqual({
        outcome: 'external-id-conflict',
        reason: 'TAKEN',
      });
      await store.endEnrollment('inn', eve);
      expect(await enroll('inn', 'ada@example.com', 'A-1')).toMatchObject({ created: true });
      expect(await byExternalId('inn', 'A-1')).toBe(ada);
    });

    test('enrolling again creates an enrollment of the same member, without the former external ID', async () => {
      const ada = await enrolledId('inn', 'ada@example.com', 'A-1');
      await store.endEnrollment('inn', ada);
      expect(await enroll('inn', 'ada@example.com')).toMatchObject({
        created: true,
        member: { memberId: ada },
      });
      expect(await byExternalId('inn', 'A-1')).toBeUndefined();
      expect(await enroll('inn', 'ada@example.com', 'A-2')).toMatchObject({ created: false });
    });
  });

  describe('the time of the last change that a partner could see', () => {
    const ADA = { memberId: 'ada', enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa' }] };
    const ENDED = { partnerId: 'spa', status: 'ENDED' } as const;
    const [changeHash, undoHash] = ['c'.repeat(64), 'd'.repeat(64)];

    /** The partners for whose enrollment it changes meanwhile. */
    async function updatedBy(change: () => Promise<unknown>): Promise<string[]> {
      const before = new Map(
        (await store.member('ada'))?.enrollments.map((one) => [one.partnerId, one.updatedAt]),
      );
      // A clock that has moved on.
      const start = Date.now();
      while (Date.now() === start) await new Promise(setImmediate);
      await change();
      return ((await store.member('ada'))?.enrollments ?? [])
        .filter((one) => one.updatedAt !== before.get(one.partnerId))
        .map((one) => {
          expect(one.updatedAt).toBeGreaterThan(start);
          expect(one.updatedAt).toBeLessThanOrEqual(Date.now());
          return one.partnerId;
        });
    }

    test('is that of its enrollment, and of the identity while it is enrolled', async () => {
      const importAda = (email: string, more: Parameters<typeof memberImport>[1] = {}) =>
        updatedBy(() => importOne(email, { ...ADA, ...more }));
      expect(await importAda('ada@example.com')).toEqual(['inn', 'spa']);
      expect(await importAda('ada@example.com')).toEqual([]);
      expect(await updatedBy(() => enroll('bar', 'ada@example.com'))).toEqual(['bar']);
      expect(await updatedBy(() => enroll('bar', 'ada@example.com'))).toEqual([]);
      expect(await updatedBy(() => enroll('bar', 'ada@example.com', 'B-1'))).toEqual(['bar']);
      expect(await updatedBy(() => store.changeExternalId('bar', 'ada', 'B-1'))).toEqual([]);
      expect(await updatedBy(() => store.changeExternalId('bar', 'ada', 'B-2'))).toEqual(['bar']);
      expect(await updatedBy(() => store.changeExternalId('bar', 'ada', undefined))).toEqual([
        'bar',
      ]);
      // `bar` has not been confirmed, and wrote the address itself.
      expect(await importAda('ada@example.com', { firstName: 'Ada' })).toEqual(['inn', 'spa']);
      expect(await importAda('Ada@example.com')).toEqual(['inn', 'spa']);
      expect(await importAda('Ada@example.com', { previous: ['a@example.com'] })).toEqual([]);
      // Another member takes over an address that was history.
      expect(await updatedBy(() => importOne('a@example.com', { memberId: 'eve' }))).toEqual([]);
      expect(await importAda('Ada@example.com', { enrollments: [ENDED] })).toEqual(['spa']);
      expect(await updatedBy(() => store.endEnrollment('spa', 'ada'))).toEqual([]);
      expect(await updatedBy(() => store.endEnrollment('inn', 'ada'))).toEqual(['inn']);
      expect(await importAda('a.l@example.com', { enrollments: [] })).toEqual(['bar']);
      expect(await updatedBy(() => enroll('inn', 'ada@example.com'))).toEqual(['inn']);
    });

    test('is that of a change of address and of its undoing', async () => {
      await importOne('ada@example.com', ADA);
      await store.endEnrollment('spa', 'ada');
      const { tokens } = store;
      const wanted = { address: address('new@example.com'), expiresAt: 2 };
      const change = { use: 'change', hash: changeHash, ...wanted } as const;
      expect(await updatedBy(() => tokens.addChange(change, 'ada', 1))).toEqual([]);
      expect(await updatedBy(() => tokens.confirmChange(changeHash, 'c', 1))).toEqual(['inn']);
      expect(await updatedBy(() => tokens.addUndo(undoHash, 'ada', 'c', 1))).toEqual([]);
      const undo = { undoId: 'u', taken: ['new@example.com'] };
      expect(await updatedBy(() => tokens.undoChange(undoHash, undo, 1))).toEqual(['inn']);
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

    test('names and current address are replaced; the former address and omitted names stay', async () => {
      await importOne('one@example.com', {
        memberId: 'ada',
        firstName: 'Ada',
        lastName: 'Byron',
        enrollments: [{ partnerId: 'inn', externalId: 'A-1' }],
      });
      expect(await importOne('Two@example.com', { memberId: 'ada', lastName: 'Lovelace' })).toBe(
        'changed',
      );
      const expected = {
        memberId: 'ada',
        email: 'Two@example.com',
        firstName: 'Ada',
        lastName: 'Lovelace',
      };
      expect(await store.memberByEmail('inn', 'one@example.com')).toMatchObject(expected);
      expect(await store.memberByEmail('inn', 'two@example.com')).toMatchObject(expected);
      expect(await store.memberByExternalId('inn', 'A-1')).toMatchObject(expected);
      expect(await importOne('one@example.com', { memberId: 'ada' })).toBe('changed');
      expect(await store.memberByEmail('inn', 'two@example.com')).toMatchObject({
        email: 'one@example.com',
      });
    });

    test('without an ID, the member is found by address, current or historical', async () => {
      expect(
        await importOne('new@example.com', {
          previous: ['old@example.com'],
          enrollments: [{ partnerId: 'inn' }],
        }),
      ).toBe('added');
      const ada = await byEmail('inn', 'new@example.com');
      expect(await importOne('new@example.com', { firstName: 'Ada' })).toBe('changed');
      expect(await importOne('old@example.com', { lastName: 'Byron' })).toBe('changed');
      expect(await store.memberByEmail('inn', 'new@example.com')).toMatchObject({
        memberId: ada,
        email: 'old@example.com',
        firstName: 'Ada',
        lastName: 'Byron',
      });
    });

    test('enrollments are added or changed, none is removed, and an omitted status stays', async () => {
      await importOne('ada@example.com', {
        memberId: 'ada',
        enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa', externalId: 'A-1' }],
      });
      await importOne('ada@example.com', {
        memberId: 'ada',
        enrollments: [
          { partnerId: 'inn', externalId: 'A-2' },
          { partnerId: 'spa', status: 'ENDED', externalId: 'A-1' },
          { partnerId: 'bar' },
        ],
      });
      const expected = [
        { partnerId: 'inn', status: 'ACTIVE', externalId: 'A-2', enrolledAt, updatedAt },
        { partnerId: 'spa', status: 'ENDED', updatedAt },
        { partnerId: 'bar', status: 'ACTIVE', enrolledAt, updatedAt },
      ];
      expect((await store.member('ada'))?.enrollments).toEqual(expected);
      expect(
        await importOne('ada@example.com', {
          memberId: 'ada',
          enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa', externalId: 'A-1' }],
        }),
      ).toBe('unchanged');
      expect((await store.member('ada'))?.enrollments).toEqual(expected);
      expect(
        await importOne('ada@example.com', {
          memberId: 'ada',
          enrollments: [{ partnerId: 'spa', status: 'ACTIVE', externalId: 'A-3' }],
        }),
      ).toBe('changed');
      expect(await byExternalId('spa', 'A-3')).toBe('ada');
    });

    test('an external ID of another member, or a changed one, refuses the whole import', async () => {
      await importOne('ada@example.com', {
        memberId: 'ada',
        enrollments: [{ partnerId: 'inn', externalId: 'A-1' }],
      });
      expect(
        await importOne('eve@example.com', {
          memberId: 'eve',
          enrollments: [{ partnerId: 'spa' }, { partnerId: 'inn', externalId: 'A-1' }],
        }),
      ).toBe('external-id-conflict');
      expect(
        await importOne('eve@example.com', {
          memberId: 'ada',
          firstName: 'Eve',
          enrollments: [{ partnerId: 'inn', externalId: 'A-2' }],
        }),
      ).toBe('external-id-conflict');
      expect(await store.member('eve')).toBeUndefined();
      expect(await store.member('ada')).toMatchObject({ email: 'ada@example.com' });
      expect(await byExternalId('inn', 'A-2')).toBeUndefined();
    });

    test("another member's current address is refused, as current or earlier address, with no change", async () => {
      await importOne('ada@example.com', {
        memberId: 'ada',
        previous: ['history@example.com'],
        enrollments: [{ partnerId: 'inn' }],
      });
      expect(await importOne('ada@example.com', { memberId: 'eve' })).toBe('email-in-use');
      expect(
        await importOne('eve@example.com', {
          memberId: 'eve',
          previous: ['history@example.com', 'ada@example.com'],
        }),
      ).toBe('email-in-use');
      expect(await store.member('eve')).toBeUndefined();
      expect(await byEmail('inn', 'ada@example.com')).toBe('ada');
      expect(await byEmail('inn', 'history@example.com')).toBe('ada');
    });

    test("another member's earlier address is taken over, as current or earlier address", async () => {
      await importOne('ada@example.com', {
        memberId: 'ada',
        previous: ['one@example.com', 'two@example.com'],
        enrollments: [{ partnerId: 'inn' }],
      });
      expect(
        await importOne('one@example.com', {
          memberId: 'eve',
          previous: ['two@example.com'],
          enrollments: [{ partnerId: 'spa' }],
        }),
      ).toBe('added');
      for (const email of ['one@example.com', 'two@example.com']) {
        expect(await byEmail('inn', email)).toBeUndefined();
        expect(await byEmail('spa', email)).toBe('eve');
      }
      expect(await byEmail('inn', 'ada@example.com')).toBe('ada');
    });

    test("a repeated import changes nothing, even if its members take over each other's addresses", async () => {
      const records = [
        memberImport('ada@example.com', {
          memberId: 'ada',
          previous: ['shared@example.com'],
          enrollments: [{ partnerId: 'inn', externalId: 'A-1' }],
        }),
        memberImport('shared@example.com', {
          memberId: 'eve',
          enrollments: [{ partnerId: 'inn', externalId: 'A-2' }],
        }),
        memberImport('bob@example.com', {
          previous: ['b@example.com'],
          enrollments: [
            { partnerId: 'inn', externalId: 'A-3', status: 'ACTIVE' },
            { partnerId: 'spa', status: 'ENDED', externalId: 'A-3' },
          ],
        }),
        memberImport('cid@example.com', { memberId: 'cid', previous: ['b@example.com'] }),
      ];
      expect(await store.importMembers(records)).toEqual(['added', 'added', 'added', 'added']);
      expect(await byEmail('inn', 'shared@example.com')).toBe('eve');
      expect(await store.importMembers(records)).toEqual([
        'unchanged',
        'unchanged',
        'unchanged',
        'unchanged',
      ]);
      expect(await byEmail('inn', 'shared@example.com')).toBe('eve');
      expect(await byEmail('inn', 'b@example.com')).toBeUndefined();
    });

    test('an address that was lost can become the current one again', async () => {
      await importOne('ada@example.com', {
        memberId: 'ada',
        previous: ['x@example.com'],
        enrollments: [{ partnerId: 'inn' }],
      });
      await importOne('x@example.com', { memberId: 'eve', enrollments: [{ partnerId: 'inn' }] });
      await importOne('eve@example.com', { memberId: 'eve' });
      expect(await importOne('x@example.com', { memberId: 'ada' })).toBe('changed');
      expect(await byEmail('inn', 'x@example.com')).toBe('ada');
      expect(await byEmail('inn', 'ada@example.com')).toBe('ada');
      expect(await byEmail('inn', 'eve@example.com')).toBe('eve');
    });

    test('the members of a batch are imported one after the other', async () => {
      const answers = await store.importMembers([
        memberImport('one@example.com', {
          memberId: 'ada',
          enrollments: [{ partnerId: 'inn', externalId: 'A-1' }],
        }),
        memberImport('one@example.com', { memberId: 'eve' }),
        memberImport('one@example.com', { firstName: 'Ada' }),
        memberImport('two@example.com', {
          memberId: 'ada',
          enrollments: [{ partnerId: 'inn', status: 'ENDED' }],
        }),
        memberImport('one@example.com', {
          memberId: 'eve',
          enrollments: [{ partnerId: 'inn', externalId: 'A-1' }],
        }),
        memberImport('one@example.com', {
          memberId: 'eve',
          enrollments: [{ partnerId: 'inn', externalId: 'A-1' }],
        }),
        memberImport('one@example.com', { memberId: 'ada' }),
      ]);
      expect(answers).toEqual([
        'added',
        'email-in-use',
        'changed',
        'changed',
        'added',
        'unchanged',
        'email-in-use',
      ]);
      expect(await byExternalId('inn', 'A-1')).toBe('eve');
      expect(await store.member('ada')).toMatchObject({
        email: 'two@example.com',
        firstName: 'Ada',
        enrollments: [{ partnerId: 'inn', status: 'ENDED' }],
      });
    });

    test('two members of a batch can exchange earlier addresses', async () => {
      await store.importMembers([
        memberImport('a@example.com', {
          memberId: 'ada',
          previous: ['x@example.com'],
          enrollments: [{ partnerId: 'inn' }],
        }),
        memberImport('e@example.com', {
          memberId: 'eve',
          previous: ['y@example.com'],
          enrollments: [{ partnerId: 'inn' }],
        }),
      ]);
      expect(
        await store.importMembers([
          memberImport('y@example.com', { memberId: 'ada' }),
          memberImport('x@example.com', { memberId: 'eve' }),
        ]),
      ).toEqual(['changed', 'changed']);
      expect(await byEmail('inn', 'y@example.com')).toBe('ada');
      expect(await byEmail('inn', 'x@example.com')).toBe('eve');
    });

    test('of all imports of a member in a batch, the last one counts, whoever takes addresses between', async () => {
      await importOne('ada@example.com', { memberId: 'ada', previous: ['old@example.com'] });
      const answers = await store.importMembers([
        memberImport('ada@example.com'),
        memberImport('old@example.com', { memberId: 'eve' }),
        memberImport('new@example.com', { memberId: 'ada' }),
      ]);
      expect(answers).toEqual(['unchanged', 'added', 'changed']);
      expect(await store.member('ada')).toMatchObject({ email: 'new@example.com' });
      expect(await store.member('eve')).toMatchObject({ email: 'old@example.com' });
    });

    test('a member who is added in a batch can take an address that another one gives up there', async () => {
      await importOne('z@example.com', { memberId: 'zoe', previous: ['old@example.com'] });
      await importOne('a@example.com', { memberId: 'ada' });
      const answers = await store.importMembers([
        memberImport('x@example.com', { memberId: 'eve' }),
        memberImport('a@example.com', { memberId: 'eve' }),
        memberImport('b@example.com', { memberId: 'ada', enrollments: [{ partnerId: 'inn' }] }),
        memberImport('x@example.com', { memberId: 'eve', previous: ['old@example.com'] }),
      ]);
      expect(answers).toEqual(['added', 'email-in-use', 'changed', 'changed']);
      expect(await byEmail('inn', 'a@example.com')).toBe('ada');
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

    test('ten members race for an external ID: one gets it, the others conflict', async () => {
      for (let round = 0; round < 5; round += 1) {
        const outcomes = (
          await times(10, (i) => enroll('inn', `p${round}-${i}@example.com`, `R-${round}`))
        ).map((one) => one.outcome);
        expect(outcomes.filter((outcome) => outcome === 'enrolled')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'external-id-conflict')).toHaveLength(9);
      }
    });

    test('20 partners enroll one member, and no enrollment is lost', async () => {
      const ids = await times(20, (i) => enrolledId(`p${i}`, 'ada@example.com', `A-${i}`));
      expect(new Set(ids).size).toBe(1);
      expect((await store.member(ids[0] ?? ''))?.enrollments).toHaveLength(20);
      expect(new Set(await times(20, (i) => byExternalId(`p${i}`, `A-${i}`)))).toEqual(
        new Set(ids),
      );
    });

    test('six members race for an address: one gets it, the others are refused', async () => {
      for (let round = 0; round < 5; round += 1) {
        const answers = await times(6, (i) =>
          importOne(`contested${round}@example.com`, {
            memberId: `m${round}-${i}`,
            enrollments: [{ partnerId: 'inn' }],
          }),
        );
        expect(answers.filter((answer) => answer === 'added')).toHaveLength(1);
        expect(answers.filter((answer) => answer === 'email-in-use')).toHaveLength(5);
        expect(await byEmail('inn', `contested${round}@example.com`)).toBe(
          `m${round}-${answers.indexOf('added')}`,
        );
      }
    });

    test('six members take over an earlier address: one of them gets it', async () => {
      await importOne('ada@example.com', {
        memberId: 'ada',
        previous: ['x@example.com'],
        enrollments: [{ partnerId: 'inn' }],
      });
      const answers = await times(6, (i) =>
        importOne('x@example.com', { memberId: `m${i}`, enrollments: [{ partnerId: 'inn' }] }),
      );
      expect(answers.filter((answer) => answer === 'added')).toHaveLength(1);
      expect(await byEmail('inn', 'x@example.com')).toBe(`m${answers.indexOf('added')}`);
      expect(await byEmail('inn', 'ada@example.com')).toBe('ada');
    });

    test('an import that runs four times at the same time creates each member once', async () => {
      const records = Array.from({ length: 60 }, (_, i) =>
        memberImport(`m${i}@example.com`, {
          previous: [`old${i}@example.com`],
          enrollments: [{ partnerId: 'inn', externalId: `X${i}` }],
        }),
      );
      const answers = await times(4, () => store.importMembers(records));
      for (const [i] of records.entries()) {
        expect(answers.map((one) => one[i]).filter((answer) => answer === 'added')).toHaveLength(1);
        expect(await byEmail('inn', `old${i}@example.com`)).toBe(
          await byExternalId('inn', `X${i}`),
        );
      }
      expect(new Set(await store.importMembers(records))).toEqual(new Set(['unchanged']));
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

  test('several processes share a store, and one killed during an import leaves no partial members', async () => {
    const run = promisify(execFile);
    const act = async (...args: string[]) => {
      const child = run(process.execPath, [
        ...programArgs('subgraphs/members/test/process.ts'),
        JSON.stringify(place.settings),
        ...args,
      ]);
      return child.catch((error: { killed?: boolean; signal?: string; stderr?: string }) => {
        if (error.signal === 'SIGKILL') return { stdout: '{}' };
        throw new Error(error.stderr);
      });
    };
    const results = (await Promise.all(['a', 'b'].map((name) => act('enroll', name)))).map(
      ({ stdout }) => JSON.parse(stdout) as { created: number; won: string[] },
    );
    expect(results.reduce((sum, { created }) => sum + created, 0)).toBe(8);
    const won = results.flatMap((one) => one.won);
    expect([...won].sort()).toEqual(Array.from({ length: 8 }, (_, i) => `E-${i}`).sort());
    for (let i = 0; i < 8; i += 1) {
      expect(await byEmail('inn', `person${i}@example.com`)).toBeDefined();
      expect(await byExternalId('inn', `E-${i}`)).toBeDefined();
    }

    await store.close();
    await act('import-and-die');
    store = await place.open();
    const records = Array.from({ length: 2_000 }, (_, i) =>
      memberImport(`import${i}@example.com`, {
        memberId: `i${i}`,
        enrollments: [{ partnerId: 'inn', externalId: `I-${i}` }],
      }),
    );
    const answers = await store.importMembers(records);
    expect(answers.filter((answer) => answer === 'unchanged').length).toBeGreaterThan(0);
    expect(answers.filter((answer) => answer === 'added').length).toBeGreaterThan(0);
    expect(answers.filter((answer) => answer !== 'added' && answer !== 'unchanged')).toEqual([]);
    expect(await findEach(2_000, (i) => byExternalId('inn', `I-${i}`))).toEqual(
      records.map((_, i) => `i${i}`),
    );
  }, 60_000);

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
