// Mailed tokens, changes of address, and what confirms an address, in the members store.
import { randomUUID } from 'node:crypto';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { mailedTokens } from '../../test/mailed.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import type { MembersStore } from './store.ts';

const NOW = Date.parse('2026-03-04T05:06:07.089Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('mailed tokens', () => {
  let place: Place;
  let store: MembersStore;

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    await add('ada', 'Ada@Example.com');
  });
  afterEach(() => place.release());

  const add = (memberId: string, email: string, previous: string[] = []) =>
    store.importMembers([
      memberImport(email, {
        memberId,
        previous,
        enrollments: [{ partnerId: 'inn', externalId: `${memberId}-1` }, { partnerId: 'spa' }],
      }),
    ]);
  const mailed = mailedTokens(() => store, NOW);
  const mailedLink = async (
    sought = 'ada@example.com',
    more: Parameters<typeof mailed.link>[1] = {},
  ) => (await mailed.link(sought, more)) ?? 'nobody';
  const changeTo: typeof mailed.changeTo = (...args) => mailed.changeTo(...args);
  const undo = async (hash: string, at = NOW) => (await mailed.undo(hash, at)).outcome;
  const redeem = (hash: string, by: 'own-page' | { partnerId: string }, at = NOW) =>
    store.tokens.redeemSignIn(hash, by, at);
  const INN = { partnerId: 'inn' };
  const who = async (canonical: string) => (await store.memberByEmail('inn', canonical))?.memberId;
  const emailOf = async (memberId: string) => (await store.member(memberId))?.email;

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

  describe('signing in', () => {
    test('of 20 concurrent exchanges of one link, on two opened stores, one succeeds', async () => {
      const other = await place.open();
      const hash = await mailedLink();
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? store : other).tokens.redeemSignIn(hash, INN, NOW),
        ),
      );
      expect(tries.filter(Boolean)).toEqual([
        expect.objectContaining({ memberId: 'ada', email: 'Ada@Example.com' }),
      ]);
      expect(await redeem(hash, INN)).toBeUndefined();
    });

    test("another partner's attempt is refused and does not use up the link", async () => {
      const hash = await mailedLink();
      expect(await redeem(hash, { partnerId: 'spa' })).toBeUndefined();
      expect(await redeem(hash, INN)).toMatchObject({
        memberId: 'ada',
      });
    });

    test('a link is valid for 15 minutes, and not a millisecond longer', async () => {
      const [first, second] = [await mailedLink(), await mailedLink()];
      expect(await redeem(first, INN, NOW + 15 * MINUTE - 1)).toMatchObject({ memberId: 'ada' });
      expect(await redeem(second, INN, NOW + 15 * MINUTE)).toBeUndefined();
    });

    test("a link to a partner's page is refused on our own, so that no partner avoids `azp`", async () => {
      const hash = await mailedLink('ada@example.com', { ownPage: false });
      expect(await redeem(hash, 'own-page')).toBeUndefined();
      expect(await redeem(hash, INN)).toMatchObject({
        memberId: 'ada',
      });
    });

    test('the form that used a link can be sent again for a minute; nothing else uses it', async () => {
      const hash = await mailedLink();
      const send = async (formId?: string, at = NOW) =>
        (await store.tokens.redeemSignIn(hash, 'own-page', at, formId))?.memberId;
      const forms = ['a', 'b', 'a', 'b'];
      const signedIn = await Promise.all(forms.map((formId) => send(formId)));
      const [first, other] = signedIn[0] === undefined ? ['b', 'a'] : ['a', 'b'];
      expect(signedIn).toEqual(forms.map((formId) => (formId === first ? 'ada' : undefined)));
      expect(await send(first, NOW + MINUTE - 1)).toBe('ada');
      expect([await send(other), await send(), await send(first, NOW + MINUTE)]).toEqual([
        ...[undefined, undefined, undefined],
      ]);
      const exchanged = await redeem(hash, INN);
      expect([exchanged, await store.tokens.findSignIn(hash, NOW)]).toEqual([undefined, undefined]);
      await changeTo('ada@example.org');
      expect(await send(first)).toBeUndefined();
    });

    test('a partner cannot exchange a link once the enrollment has ended', async () => {
      const hash = await mailedLink();
      await store.endEnrollment('inn', 'ada');
      expect(await redeem(hash, INN)).toBeUndefined();
    });

    test('a link is invalid when its mailbox is no longer the current address', async () => {
      const [imported, changed] = [await mailedLink(), await mailedLink()];
      await changeTo('next@example.com');
      expect(await redeem(changed, INN)).toBeUndefined();
      await add('ada', 'third@example.com');
      expect(await redeem(imported, INN)).toBeUndefined();
    });

    test('a token is valid for its own use only', async () => {
      const [link, change] = [await mailedLink(), (await mailed.change('next@example.com')) ?? ''];
      expect(await redeem(change, 'own-page')).toBeUndefined();
      expect(await store.tokens.findChange(link, NOW)).toBeUndefined();
      expect((await store.tokens.confirmChange(link, 'c1', NOW)).outcome).toBe('invalid-token');
      expect(await undo(link)).toBe('invalid-token');
      expect(await undo(change)).toBe('invalid-token');
      expect(await store.tokens.redeemSignIn('0'.repeat(64), 'own-page', NOW)).toBeUndefined();
    });
  });

  describe('changing the address', () => {
    test('the new address is current as typed, and the former one still leads to the member', async () => {
      const hash = (await mailed.change('Next@Example.com')) ?? '';
      expect(await store.tokens.findChange(hash, NOW)).toEqual({
        memberId: 'ada',
        address: address('Next@Example.com'),
        isMade: false,
      });
      expect(await store.tokens.confirmChange(hash, 'c1', NOW)).toMatchObject({
        outcome: 'changed',
        member: { memberId: 'ada', email: 'Next@Example.com' },
      });
      await expectLeads({ next: 'ada', ada: 'ada' }, 'Next@Example.com');
      expect(await store.tokens.findChange(hash, NOW)).toBeUndefined();
      // Another spelling only changes what is displayed.
      expect((await changeTo('NEXT@example.com')).outcome).toBe('changed');
      expect([await emailOf('ada'), await who('next@example.com')]).toEqual([
        'NEXT@example.com',
        'ada',
      ]);
    });

    test('the form that changed an address, or undid that, can be sent again for a minute', async () => {
      const hash = (await mailed.change('next@example.com')) ?? '';
      const confirm = async (formId?: string, at = NOW) => {
        const result = await store.tokens.confirmChange(hash, randomUUID(), at, formId);
        return 'member' in result ? result.member.email : result.outcome;
      };
      expect([await confirm('a'), await confirm('a', NOW + MINUTE - 1)]).toEqual([
        ...['next@example.com', 'next@example.com'],
      ]);
      expect(await store.tokens.findChange(hash, NOW, 'a')).toMatchObject({ isMade: true });
      for (const refused of [confirm('b'), confirm(), confirm('a', NOW + MINUTE)])
        expect(await refused).toBe('invalid-token');
      const { changes = [] } = (await store.member('ada')) as { changes?: { id: string }[] };
      expect(changes).toHaveLength(1);

      const undoing = await mailed.undoLink(changes[0]?.id ?? '');
      const takeBack = async (formId?: string, at = NOW) => {
        const taken = (await store.tokens.findUndo(undoing, at, formId))?.taken ?? [];
        const attempt = { undoId: randomUUID(), taken };
        const result = await store.tokens.undoChange(undoing, attempt, at, formId);
        return 'member' in result ? result.member.email : result.outcome;
      };
      expect([await takeBack('a'), await takeBack('a', NOW + MINUTE - 1)]).toEqual([
        ...['Ada@Example.com', 'Ada@Example.com'],
      ]);
      expect(await store.tokens.findUndo(undoing, NOW, 'a')).toMatchObject({ taken: [] });
      for (const refused of [takeBack('b'), takeBack(), takeBack('a', NOW + MINUTE)])
        expect(await refused).toBe('invalid-token');
    });

    test("another member's current address is refused, and nothing changes", async () => {
      await add('bob', 'bob@example.com');
      expect((await changeTo('Bob@example.com')).outcome).toBe('email-in-use');
      await expectLeads({ bob: 'bob', ada: 'ada' }, 'Ada@Example.com');
    });

    test("another member's earlier address is taken over, and a repeated import does not undo that", async () => {
      await add('bob', 'bob@example.com', ['shared@example.com']);
      expect((await changeTo('shared@example.com')).outcome).toBe('changed');
      await add('bob', 'bob@example.com', ['shared@example.com']);
      expect([await who('shared@example.com'), await emailOf('ada'), await emailOf('bob')]).toEqual(
        ['ada', 'shared@example.com', 'bob@example.com'],
      );
    });

    test("two members confirm a third one's earlier address while that one is written: one gets it", async () => {
      await add('bob', 'bob@example.com');
      await add('cyd', 'cyd@example.com', ['free@example.com']);
      const tokens = [
        (await mailed.change('free@example.com', 'ada')) ?? '',
        (await mailed.change('free@example.com', 'bob')) ?? '',
      ];
      const [first, second] = await Promise.all([
        ...tokens.map((hash) => store.tokens.confirmChange(hash, randomUUID(), NOW)),
        ...Array.from({ length: 5 }, (_, i) =>
          store.enroll({ partnerId: `p${i}`, address: address('cyd@example.com') }),
        ),
      ]);
      expect([first?.outcome, second?.outcome].sort()).toEqual(['changed', 'email-in-use']);
      const holder = await who('free@example.com');
      expect(['ada', 'bob']).toContain(holder);
      expect(await emailOf(holder ?? '')).toBe('free@example.com');
    });

    test('confirming a change makes the tokens of other changes invalid', async () => {
      const hash = (await mailed.change('other@example.com')) ?? '';
      await changeTo('next@example.com');
      expect((await store.tokens.confirmChange(hash, 'c2', NOW)).outcome).toBe('invalid-token');
    });
  });

  describe('undoing a change', () => {
    test('the former address is current again, and the new one leads nowhere', async () => {
      const { changeId } = await changeTo('evil@example.com');
      const hash = await mailed.undoLink(changeId);
      expect(await mailed.undo(hash)).toMatchObject({
        outcome: 'changed',
        member: { email: 'Ada@Example.com' },
      });
      await expectLeads({ ada: 'ada', evil: undefined }, 'Ada@Example.com');
      expect(await undo(hash)).toBe('invalid-token');
    });

    test('the link is valid until 7 days after the change, and no longer', async () => {
      const { changeId } = await changeTo('evil@example.com');
      const [first, second] = [
        await mailed.undoLink(changeId),
        await mailed.undoLink(changeId, 'ada', NOW + DAY),
      ];
      expect(await undo(first, NOW + 7 * DAY)).toBe('invalid-token');
      expect(await undo(second, NOW + 7 * DAY - 1)).toBe('changed');
    });

    test('the first link of several undoes all changes, and their addresses lead nowhere', async () => {
      const first = await changeTo('evil1@example.com');
      const undoFirst = await mailed.undoLink(first.changeId);
      const second = await changeTo('evil2@example.com');
      const undoSecond = await mailed.undoLink(second.changeId);
      await changeTo('evil3@example.com');
      const pending = (await mailed.change('evil4@example.com')) ?? '';
      const link = await mailedLink();
      expect(await undo(undoFirst)).toBe('changed');
      for (const gone of ['evil1', 'evil2', 'evil3'])
        expect(await who(`${gone}@example.com`)).toBeUndefined();
      await expectLeads({ ada: 'ada' }, 'Ada@Example.com');
      expect(await undo(undoSecond)).toBe('invalid-token');
      expect((await store.tokens.confirmChange(pending, 'c9', NOW)).outcome).toBe('invalid-token');
      expect(await redeem(link, 'own-page')).toBeUndefined();
    });

    test('a later change can be undone without the earlier one', async () => {
      await changeTo('second@example.com');
      const { changeId } = await changeTo('third@example.com');
      expect(await undo(await mailed.undoLink(changeId))).toBe('changed');
      await expectLeads({ third: undefined, ada: 'ada' }, 'second@example.com');
    });

    test("an address that was the member's before the change still is", async () => {
      await add('bob', 'bob@example.com', ['earlier@example.com']);
      const { changeId } = await changeTo('earlier@example.com', 'bob');
      expect(await undo(await mailed.undoLink(changeId, 'bob'))).toBe('changed');
      await expectLeads({ earlier: 'bob' }, 'bob@example.com', 'bob');
    });

    test('an address that an import has made current meanwhile stays current', async () => {
      const { changeId } = await changeTo('evil@example.com');
      const hash = await mailed.undoLink(changeId);
      await add('ada', 'desk@example.com');
      expect(await undo(hash)).toBe('changed');
      await expectLeads({ evil: undefined, ada: 'ada' }, 'desk@example.com');
    });

    test("a former address that is now another member's current one is refused, and nothing changes", async () => {
      await add('bob', 'bob@example.com');
      const { changeId } = await changeTo('next@example.com');
      expect((await changeTo('ada@example.com', 'bob')).outcome).toBe('changed');
      expect(await undo(await mailed.undoLink(changeId))).toBe('email-in-use');
      expect([await who('ada@example.com'), await who('next@example.com')]).toEqual(['bob', 'ada']);
    });

    test('no change can start for an hour, in which ID tokens of whoever made the last one are valid', async () => {
      const { changeId } = await changeTo('evil@example.com');
      await undo(await mailed.undoLink(changeId));
      expect(await mailed.change('evil@example.com', 'ada', NOW + 60 * MINUTE - 1)).toBeUndefined();
      expect(await mailed.change('evil@example.com', 'ada', NOW + 60 * MINUTE)).toBeDefined();
    });

    test('a change that was not made cannot be undone', async () => {
      const { hash } = makeToken('undo');
      expect(await store.tokens.addUndo(hash, 'ada', 'none', NOW)).toBeUndefined();
      expect(await undo(hash)).toBe('invalid-token');
    });
  });
});

describe('an address that a partner enrolled', () => {
  const [EVE, NEXT] = ['eve@example.com', 'next@example.com'];
  let place: Place;
  let store: MembersStore;
  let memberId: string;
  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    memberId = await enroll();
  });
  afterEach(() => place.release());

  const enroll = async (partnerId = 'inn', email = EVE) => {
    const result = await store.enroll({ partnerId, address: address(email) });
    return result.outcome === 'enrolled' ? result.member.memberId : result.outcome;
  };
  const isConfirmed = async (partnerId = 'inn', email = EVE) =>
    (await store.tokens.findRecipient(partnerId, email))?.isConfirmed;
  const marks = async () => (await store.rights.find(memberId))?.member.unconfirmed;
  const mailed = mailedTokens(() => store, NOW);
  const changeTo = async (email: string) => (await mailed.changeTo(email, memberId)).changeId;
  const importEve = (email: string, previous: string[] = []) =>
    store.importMembers([memberImport(email, { memberId, previous })]);

  test('is confirmed by a link to the page of one partner, for all of them', async () => {
    await enroll('spa');
    const hash = (await mailed.link(EVE, { partnerId: 'spa', ownPage: false })) ?? '';
    await store.tokens.redeemSignIn(hash, { partnerId: 'inn' }, NOW);
    expect(await isConfirmed()).toBe(false);
    await store.tokens.redeemSignIn(hash, { partnerId: 'spa' }, NOW);
    expect([await isConfirmed(), await isConfirmed('spa')]).toEqual([true, true]);
    expect(await marks()).toBeUndefined();
  });

  test('stays unconfirmed in the history of an import that does not have it', async () => {
    await importEve(NEXT);
    expect([await isConfirmed(), await marks()]).toEqual([true, [EVE]]);
    await importEve(NEXT, [EVE]);
    expect(await marks()).toBeUndefined();
  });

  test('a change confirms the new address; a change back, the former one', async () => {
    await changeTo(NEXT);
    expect([await isConfirmed(), await marks()]).toEqual([true, [EVE]]);
    await changeTo(EVE);
    expect([await isConfirmed(), await marks()]).toEqual([true, undefined]);
  });

  test('is confirmed by undoing a change, with the link that was mailed to it', async () => {
    await mailed.undo(await mailed.undoLink(await changeTo(NEXT), memberId));
    expect([await isConfirmed(), await marks()]).toEqual([true, undefined]);
  });

  test('is forgotten once it leads to another member', async () => {
    await importEve(NEXT);
    expect(await marks()).toEqual([EVE]);
    await store.importMembers([
      memberImport(EVE, { memberId: 'bob', enrollments: [{ partnerId: 'inn' }] }),
    ]);
    expect([await isConfirmed(), await marks()]).toEqual([true, undefined]);
  });
});
