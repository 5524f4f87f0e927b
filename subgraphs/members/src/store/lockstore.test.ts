// Locked addresses: who gets an address in dispute, and who does not.
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { mailedTokens } from '../../test/mailed.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import type { MembersStore } from './store.ts';

const NOW = Date.parse('2026-03-04T05:06:07.089Z');
const DAY = 24 * 3_600_000;
const OLD = 'old@example.com';
const NEW = 'new@example.com';

describe('locked addresses', () => {
  let place: Place;
  let store: MembersStore;

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    await add('ada', OLD);
    await add('bob', 'bob@example.com');
  });
  afterEach(() => place.release());

  const add = async (memberId: string, email: string, previous: string[] = []) => {
    const enrollments = [{ partnerId: 'inn' }];
    const imports = [memberImport(email, { memberId, previous, enrollments })];
    return (await store.importMembers(imports))[0];
  };
  const who = async (canonical: string) => (await store.memberByEmail('inn', canonical))?.memberId;
  const emailOf = async (memberId: string) => (await store.member(memberId))?.email;
  const mailed = mailedTokens(() => store, NOW);
  const changeTo = async (email: string) =>
    mailed.undoLink((await mailed.changeTo(email)).changeId);
  /** Moves ada to the new address and back; returns the token that contests the latter. */
  const takeBack = async (at = NOW) => {
    const { undoId } = await mailed.undo(await changeTo(NEW));
    const { hash } = makeToken('contest');
    await store.locks.addContest(hash, { memberId: 'ada', undoId, address: NEW }, at);
    return hash;
  };

  /** Expects whom addresses lead to, by their first parts, and the current one of a member. */
  const expectLeads = async (
    leads: Record<string, string | undefined>,
    current: string,
    of = 'ada',
  ) => {
    for (const [name, memberId] of Object.entries(leads))
      expect([name, await who(`${name}@example.com`)]).toEqual([name, memberId]);
    expect(await emailOf(of)).toBe(current);
  };

  describe('contesting', () => {
    test('of 20 concurrent attempts, one locks the address taken away and the current one', async () => {
      const other = await place.open();
      const hash = await takeBack();
      expect(await store.locks.findContest(hash, NOW)).toBe('ada');
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 ? store : other).locks.contest(hash, NOW)),
      );
      expect(tries.filter(Boolean)).toHaveLength(1);
      expect(await store.member('ada')).toMatchObject({ address: OLD, locked: [OLD, NEW] });
      await expectLeads({ old: 'ada', new: undefined }, OLD);
    });

    test('by a form, which can be sent again for a minute; nothing else can use its link', async () => {
      const hash = await takeBack();
      const contest = (formId?: string, at = NOW) => store.locks.contest(hash, at, formId);
      expect([await contest('a'), await contest('a', NOW + 59_999)]).toEqual([true, true]);
      expect(await store.locks.findContest(hash, NOW, 'a')).toBe('ada');
      const refused = [await contest('b'), await contest(), await contest('a', NOW + 60_000)];
      expect(refused).toEqual([false, false, false]);
    });

    test('is possible until 7 days after the undoing, and no longer', async () => {
      const [hash, { hash: late }] = [await takeBack(), makeToken('contest')];
      const [loss] =
        ((await store.member('ada')) as { takenAway?: { undoId: string }[] }).takenAway ?? [];
      const undoId = loss?.undoId ?? '';
      await store.locks.addContest(late, { memberId: 'ada', undoId, address: NEW }, NOW + 6 * DAY);
      expect(await store.locks.contest(late, NOW + 7 * DAY)).toBe(false);
      expect(await store.locks.contest(hash, NOW + 7 * DAY - 1)).toBe(true);
    });

    test('concerns a loss only: not another address, another undoing or another member', async () => {
      const { undoId } = await mailed.undo(await changeTo(NEW));
      for (const loss of [
        { memberId: 'ada', undoId, address: OLD },
        { memberId: 'ada', undoId: 'other', address: NEW },
        { memberId: 'bob', undoId, address: NEW },
      ]) {
        const { hash } = makeToken('contest');
        expect(await store.locks.addContest(hash, loss, NOW)).toBeUndefined();
        expect(await store.locks.contest(hash, NOW)).toBe(false);
      }
    });

    test('is possible for each lost address, also after another undoing', async () => {
      const undoFirst = await changeTo('mid@example.com');
      const second = await mailed.undo(await changeTo(NEW));
      const first = await mailed.undo(undoFirst);
      expect([second.taken, first.taken]).toEqual([[NEW], ['mid@example.com']]);
      const { hash } = makeToken('contest');
      const loss = { memberId: 'ada', undoId: second.undoId, address: NEW };
      expect(await store.locks.addContest(hash, loss, NOW)).toMatchObject({ address: NEW });
      expect(await store.locks.contest(hash, NOW)).toBe(true);
    });

    test('does not lock a lost address that another member has by now', async () => {
      const hash = await takeBack();
      await add('bob', NEW);
      expect(await store.locks.contest(hash, NOW)).toBe(true);
      expect(await store.member('ada')).toMatchObject({ locked: [OLD] });
      expect(await mailed.link(NEW)).toBeDefined();
    });
  });

  test('undoing refuses to take away an address that it was not told of', async () => {
    const undoFirst = await changeTo('mid@example.com');
    const { taken = [] } = (await store.tokens.findUndo(undoFirst, NOW)) ?? {};
    await changeTo(NEW);
    const attempt = { undoId: 'u1', taken };
    expect(await store.tokens.undoChange(undoFirst, attempt, NOW)).toEqual({
      outcome: 'changed-since',
    });
    expect(await emailOf('ada')).toBe(NEW);
    expect(await mailed.undo(undoFirst)).toMatchObject({
      outcome: 'changed',
      taken: [NEW, 'mid@example.com'],
    });
  });

  describe('a locked address', () => {
    beforeEach(async () => {
      expect(await store.locks.contest(await takeBack(), NOW)).toBe(true);
    });

    test('gets no sign-in links and no change mails, and no change starts from it', async () => {
      expect(await mailed.link(OLD)).toBeUndefined();
      expect(await mailed.change('third@example.com')).toBeUndefined();
      expect(await mailed.change(OLD, 'bob')).toBeUndefined();
      expect(await mailed.change(NEW, 'bob')).toBeUndefined();
    });

    test('resolves as before, and a partner can enroll it only if it leads to a member', async () => {
      expect(await store.enroll({ partnerId: 'spa', address: address(OLD) })).toMatchObject({
        outcome: 'enrolled',
        member: { memberId: 'ada' },
      });
      expect(await store.enroll({ partnerId: 'spa', address: address(NEW) })).toEqual({
        outcome: 'email-in-use',
      });
      expect(await store.memberByEmail('spa', NEW)).toBeUndefined();
    });

    test('is neither changed nor taken over by an import', async () => {
      for (const [memberId, email, previous] of [
        ['ada', 'third@example.com', []],
        ['ada', NEW, []],
        ['bob', OLD, []],
        ['bob', NEW, []],
        ['bob', 'bob@example.com', [NEW]],
        ['cyd', 'cyd@example.com', [OLD]],
      ] as const)
        expect(await add(memberId, email, [...previous])).toBe('address-locked');
      expect(await store.importMembers([memberImport(NEW), memberImport(OLD)])).toEqual([
        'address-locked',
        'unchanged',
      ]);
      await add('ada', OLD, [NEW]);
      await expectLeads({ old: 'ada', new: undefined }, OLD);
    });

    test('is unlocked for its member by hand, and each address by itself', async () => {
      expect(await store.locks.unlock(address(OLD), undefined)).toEqual({
        outcome: 'unlocked',
        memberId: 'ada',
      });
      expect(await mailed.link(OLD)).toBeDefined();
      expect(await add('bob', NEW)).toBe('address-locked');
      expect(await store.locks.unlock(address(NEW), undefined)).toMatchObject({
        outcome: 'unlocked',
      });
      expect(await store.locks.unlock(address(NEW), undefined)).toEqual({ outcome: 'not-locked' });
      expect(await add('bob', NEW)).toBe('changed');
    });

    test('can be given to its member as the current one, and the other stays locked', async () => {
      expect(await store.locks.unlock(address('New@Example.com'), 'ada')).toEqual({
        outcome: 'unlocked',
        memberId: 'ada',
      });
      expect(await store.member('ada')).toMatchObject({ email: 'New@Example.com', locked: [OLD] });
      expect([await who(OLD), await who(NEW)]).toEqual(['ada', 'ada']);
      expect(await mailed.link(OLD)).toBeDefined();
      expect(await add('bob', OLD)).toBe('address-locked');
    });

    test('can be given to another member, unless it is the only one of its own', async () => {
      expect(await store.locks.unlock(address(OLD), 'bob')).toEqual({
        outcome: 'only-address',
        memberId: 'ada',
      });
      await store.locks.unlock(address(NEW), 'ada');
      expect(await store.locks.unlock(address(OLD), 'nobody')).toEqual({ outcome: 'no-member' });
      expect(await store.locks.unlock(address(OLD), 'bob')).toEqual({
        outcome: 'unlocked',
        memberId: 'bob',
      });
      expect([await who(OLD), await emailOf('bob'), await emailOf('ada')]).toEqual([
        'bob',
        OLD,
        NEW,
      ]);
      expect(await store.member('ada')).not.toHaveProperty('locked');
    });
  });

  test('given to another member, a current address leaves the latest earlier one, but locked', async () => {
    await add('ada', NEW, ['older@example.com']);
    await store.locks.lock(NEW, NOW);
    expect(await store.locks.unlock(address(NEW), 'bob')).toEqual({
      outcome: 'unlocked',
      memberId: 'bob',
    });
    expect([await who(NEW), await who('older@example.com'), await who(OLD)]).toEqual([
      'bob',
      'ada',
      'ada',
    ]);
    const ada = await store.member('ada');
    expect(ada).toMatchObject({ email: 'older@example.com', locked: ['older@example.com'] });
    expect(await mailed.link(OLD)).toBeUndefined();
    expect(await mailed.link(NEW)).toBeDefined();
  });

  test('is given to a member once, however often that member is written at the same time', async () => {
    await add('ada', NEW);
    await store.locks.lock(OLD, NOW);
    const [unlocked] = await Promise.all([
      store.locks.unlock(address(OLD), 'bob'),
      ...Array.from({ length: 5 }, (_, i) =>
        store.enroll({ partnerId: `p${i}`, address: address('bob@example.com') }),
      ),
    ]);
    expect(unlocked).toEqual({ outcome: 'unlocked', memberId: 'bob' });
    await expectLeads({ old: 'bob' }, OLD, 'bob');
  });

  test('a lock makes the links invalid that are in the mailbox already', async () => {
    const [link, change, undoing] = [
      await mailed.link(OLD),
      await mailed.change('third@example.com'),
      await changeTo(NEW),
    ];
    const later = await mailed.link(NEW);
    expect(await store.locks.lock(NEW, NOW)).toBe('ada');
    for (const hash of [link, later])
      expect(await store.tokens.redeemSignIn(hash ?? '', 'own-page', NOW)).toBeUndefined();
    expect((await store.tokens.confirmChange(change ?? '', 'c9', NOW)).outcome).toBe(
      'invalid-token',
    );
    expect((await mailed.undo(undoing)).outcome).toBe('invalid-token');
    expect(await emailOf('ada')).toBe(NEW);
    expect(await store.locks.lock('nobody@example.com', NOW)).toBeUndefined();
  });

  test("a locked earlier address stays the member's, whose current one still gets links", async () => {
    await changeTo(NEW);
    const change = await mailed.change(OLD);
    expect(await store.locks.lock(OLD, NOW)).toBe('ada');
    expect(await mailed.link(OLD)).toBeDefined();
    expect((await store.tokens.confirmChange(change ?? '', 'c9', NOW)).outcome).toBe(
      'email-in-use',
    );
    expect(await add('ada', 'third@example.com')).toBe('changed');
    await expectLeads({ old: 'ada' }, 'third@example.com');
  });
});
