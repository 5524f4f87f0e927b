// Addresses that a partner has enrolled: what confirms them, and what does not.
import { randomUUID } from 'node:crypto';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import type { MembersStore } from './store.ts';

const NOW = Date.parse('2026-03-04T05:06:07.089Z');
const LATER = NOW + 60_000;
const EVE = 'eve@example.com';
const NEXT = 'next@example.com';

describe('an address that a partner enrolled', () => {
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
  const mailLink = async (partnerId = 'inn', ownPage = true) => {
    const { hash } = makeToken('sign-in');
    const token = { use: 'sign-in', hash, expiresAt: LATER, partnerId, ownPage } as const;
    await store.tokens.addSignIn(token, EVE, NOW);
    return hash;
  };
  const changeTo = async (email: string) => {
    const [{ hash }, changeId] = [makeToken('change'), randomUUID()];
    const token = { use: 'change', hash, expiresAt: LATER, address: address(email) } as const;
    await store.tokens.addChange(token, memberId, NOW);
    await store.tokens.confirmChange(hash, changeId, NOW);
    return changeId;
  };
  const undo = async (changeId: string) => {
    const { hash } = makeToken('undo');
    await store.tokens.addUndo(hash, memberId, changeId, NOW);
    const taken = (await store.tokens.findUndo(hash, NOW))?.taken ?? [];
    const undoId = randomUUID();
    expect((await store.tokens.undoChange(hash, { undoId, taken }, NOW)).outcome).toBe('changed');
    return undoId;
  };
  const importEve = (email: string, previous: string[] = []) =>
    store.importMembers([memberImport(email, { memberId, previous })]);

  test('is confirmed by a link to the page of one partner, for all of them', async () => {
    await enroll('spa');
    const hash = await mailLink('spa', false);
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
    await undo(await changeTo(NEXT));
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
