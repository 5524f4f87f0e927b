// The store of invitations.
import { address, newPlace, type Place } from '../../test/engine.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import type { InvitationStore } from './invitation.ts';

const NOW = Date.parse('2026-03-04T05:06:07.089Z');
const LEASE = 1_000;

describe('invitations', () => {
  let place: Place;
  let invitations: InvitationStore;
  let other: InvitationStore;

  beforeEach(async () => {
    place = newPlace();
    invitations = (await place.open()).invitations;
    other = (await place.open()).invitations;
  });
  afterEach(() => place.release());

  const INVITATION = { partnerId: 'inn', address: address('Eve@Example.com'), externalId: 'E-1' };
  const add = async (expiresAt = NOW + LEASE) => {
    const { hash } = makeToken('invitation');
    await invitations.add(hash, INVITATION, expiresAt);
    return hash;
  };

  test('an invitation is found by the hash of its token until it expires', async () => {
    const hash = await add();
    expect(await other.find(hash, NOW + LEASE - 1)).toEqual(INVITATION);
    expect(await other.find(hash, NOW + LEASE)).toBeUndefined();
    expect(await other.claim(hash, NOW + LEASE, LEASE)).toBeUndefined();
    expect(await other.find('0'.repeat(64), NOW)).toBeUndefined();
  });

  test('of 20 concurrent claims through two opened stores, one succeeds', async () => {
    const hash = await add();
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? invitations : other).claim(hash, NOW, LEASE)),
    );
    expect(claims.filter(Boolean)).toEqual([INVITATION]);
  });

  test('a claim that led to nothing ends with its lease, and one that did removes the invitation', async () => {
    const hash = await add(NOW + 10 * LEASE);
    await invitations.claim(hash, NOW, LEASE);
    expect(await other.claim(hash, NOW + LEASE - 1, LEASE)).toBeUndefined();
    expect(await other.claim(hash, NOW + LEASE, LEASE)).toEqual(INVITATION);
    await other.remove(hash);
    await other.remove(hash);
    expect(await invitations.claim(hash, NOW + 5 * LEASE, LEASE)).toBeUndefined();
    expect(await invitations.find(hash, NOW)).toBeUndefined();
  });

  test('the form that accepts can be sent again for a minute; nothing else can', async () => {
    const hash = await add(NOW + 3_600_000);
    const claim = (formId?: string, at = NOW) => other.claim(hash, at, LEASE, formId);
    expect([await claim('a'), await claim('a')]).toEqual([INVITATION, INVITATION]);
    await invitations.accepted(hash, NOW, 'a');
    const found = [await invitations.find(hash, NOW, 'a'), await claim('a', NOW + 59_999)];
    expect(found).toEqual([INVITATION, INVITATION]);
    expect([await invitations.find(hash, NOW), await claim('b'), await claim()]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(await claim('a', NOW + 60_000)).toBeUndefined();
  });

  test('cleaning removes what has expired, and nothing else', async () => {
    const [expired, valid] = [await add(NOW), await add(NOW + 1)];
    await other.clean(NOW);
    expect([await invitations.find(expired, 0), await invitations.find(valid, 0)]).toEqual([
      undefined,
      INVITATION,
    ]);
  });
});
