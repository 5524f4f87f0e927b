// What a partner learns by enrolling a member, and what the member sees.
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { mailedTokens } from '../../test/mailed.ts';
import type { Member, Names } from '../rules/member.ts';
import { namesSeenByMember } from '../rules/names.ts';
import type { MembersStore } from './store.ts';

const NOW = Date.parse('2026-03-04T05:06:07.089Z');
const ADA = { firstName: 'Ada', lastName: 'Byron' };
const EVE = { firstName: 'Eve', lastName: 'Moneypenny' };
const [NEW, OLD, OLDER] = ['new@example.com', 'old@example.com', 'older@example.com'];

describe('on the embedded store', () => {
  let place: Place;
  let store: MembersStore;
  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
  });
  afterEach(() => place.release());

  const importAda = async (more: Partial<Parameters<typeof memberImport>[1]> = {}, email = NEW) =>
    (await store.importMembers([memberImport(email, { memberId: 'ada', ...more })]))[0];
  const enroll = async (
    partnerId: string,
    email: string,
    more: Names = {},
    externalId?: string,
  ) => {
    const input = { partnerId, address: address(email), externalId, ...more };
    const result = await store.enroll(input);
    if (result.outcome !== 'enrolled') throw new Error(result.outcome);
    return result;
  };
  const mailed = mailedTokens(() => store, NOW);
  const signIn = async (partnerId: string, email: string, ownPage = false) => {
    const hash = (await mailed.link(email, { partnerId, ownPage })) ?? '';
    const redeemer = ownPage ? 'own-page' : { partnerId };
    return (await store.tokens.redeemSignIn(hash, redeemer, NOW))?.memberId;
  };
  const changeTo = (memberId: string, email: string) => mailed.changeTo(email, memberId);
  const seen = async (partnerId: string, memberId = 'ada') => store.memberById(partnerId, memberId);
  const names = async (partnerId: string, memberId = 'ada'): Promise<Names> => {
    const { firstName, lastName } = (await seen(partnerId, memberId)) ?? {};
    return { ...(firstName && { firstName }), ...(lastName && { lastName }) };
  };
  const email = async (partnerId: string, memberId = 'ada') =>
    (await seen(partnerId, memberId))?.email;
  const foundBy = async (partnerId: string, emails: string[]) => {
    const found: string[] = [];
    for (const one of emails) if (await store.memberByEmail(partnerId, one)) found.push(one);
    return found;
  };
  const ownSession = async (memberId = 'ada') => {
    // Cast: only tests of members who exist call this.
    return namesSeenByMember((await store.member(memberId)) as Member);
  };
  /** The partners whose enrollment changes meanwhile. */
  const toldOf = async (act: () => Promise<unknown>, memberId = 'ada'): Promise<string[]> => {
    const times = async () => (await store.member(memberId))?.enrollments ?? [];
    const before = new Map((await times()).map((one) => [one.partnerId, one.updatedAt]));
    await act();
    return (await times())
      .filter(({ partnerId, updatedAt }) => updatedAt > (before.get(partnerId) ?? 0))
      .map(({ partnerId }) => partnerId);
  };

  describe('names', () => {
    test('a partner that ended an enrollment, and that the member then left, has to be confirmed again', async () => {
      await importAda({ enrollments: [{ partnerId: 'inn' }] });
      await store.updateOwnNames('ada', ADA);
      await store.endEnrollment('inn', 'ada');
      const leave = () => store.endEnrollment('inn', 'ada', true);
      expect([await toldOf(leave), await leave()]).toEqual([[], true]);
      await enroll('inn', NEW);
      expect(await names('inn')).toEqual({});
    });

    test('one that a partner planted never reaches another, whatever the member sets', async () => {
      const { memberId } = (await enroll('inn', NEW, EVE)).member;
      await enroll('spa', NEW);
      for (const partnerId of ['inn', 'spa']) await signIn(partnerId, NEW);
      expect(await ownSession(memberId)).toEqual(EVE);
      expect(await names('spa', memberId)).toEqual({});
      await store.updateOwnNames(memberId, { lastName: 'Byron' });
      for (const partnerId of ['inn', 'spa'])
        expect(await names(partnerId, memberId)).toEqual({ lastName: 'Byron' });
      expect(await ownSession(memberId)).toEqual({ lastName: 'Byron' });
    });

    test('the member, having set none, sees those of the enrollment confirmed first', async () => {
      const { memberId } = (await enroll('inn', NEW, EVE)).member;
      await enroll('spa', NEW, ADA);
      expect(await ownSession(memberId)).toEqual({});
      await signIn('spa', NEW);
      await signIn('inn', NEW);
      expect(await ownSession(memberId)).toEqual(ADA);
      await store.updateOwnNames(memberId, EVE);
      expect(await ownSession(memberId)).toEqual(EVE);
      await store.updateOwnNames(memberId, { firstName: null, lastName: null });
      expect(await ownSession(memberId)).toEqual(ADA);
    });
  });

  describe('a partner that an app has confirmed', () => {
    const APP = 'app_1';
    const agree = (clientId = APP, partnerId = 'inn') =>
      store.tokens.confirmSignIn('ada', { partnerId, clientId });
    const revoke = (clientId = APP) => store.tokens.takeBack('ada', [clientId]);
    const seenBy = async () => [
      await email('inn'),
      await names('inn'),
      await foundBy('inn', [NEW, OLD, OLDER]),
    ];

    test('has what it had before, once the member revokes the app', async () => {
      await importAda({ ...ADA, previous: [OLD, OLDER] });
      await enroll('inn', OLD, EVE);
      await enroll('spa', NEW);
      const before = await seenBy();
      expect(await toldOf(() => agree())).toEqual(['inn']);
      expect(await seenBy()).toEqual([NEW, EVE, [NEW, OLD, OLDER]]);
      await store.updateNames('inn', 'ada', { firstName: 'Augusta' });
      expect(await toldOf(() => revoke())).toEqual(['inn']);
      expect(await seenBy()).toEqual(before);
      expect(await toldOf(() => revoke())).toEqual([]);
    });

    test('has it too once the app is removed, and nothing else changes for anybody', async () => {
      await importAda(ADA);
      await enroll('inn', NEW);
      await enroll('spa', NEW);
      for (const clientId of ['app', 'app_1-x', 'app_2', 'app_3']) await agree(clientId, 'spa');
      await agree();
      const kept = { name: '', redirectUris: [], origins: [], createdAt: 0 };
      await store.apps.add({ clientId: 'app_2', partnerId: 'spa', ...kept });
      const takeBack = () => store.tokens.takeBackRemoved();
      expect(await toldOf(takeBack)).toEqual(['inn']);
      expect([await names('inn'), await names('spa')]).toEqual([{}, ADA]);
      const confirmedBy = (await store.member('ada'))?.enrollments.map((one) => one.confirmedBy);
      expect(confirmedBy).toEqual([undefined, ['app_2']]);
      expect(await toldOf(takeBack)).toEqual([]);
    });

    test('has the next member as before only later, if the process stops meanwhile', async () => {
      await importAda({ enrollments: [] });
      await importAda({ memberId: 'bob' }, OLD);
      for (const email of [NEW, OLD]) await enroll('inn', email);
      for (const memberId of ['ada', 'bob'])
        await store.tokens.confirmSignIn(memberId, { partnerId: 'inn', clientId: APP });
      const left = async () => {
        const members = await Promise.all(['ada', 'bob'].map((id) => store.member(id)));
        return members.map((one) => one?.enrollments[0]?.confirmedBy);
      };
      let reads = 0;
      const stopping = Object.defineProperty(new AbortController().signal, 'aborted', {
        get: () => {
          reads += 1;
          return reads > 2;
        },
      });
      await store.tokens.takeBackRemoved(stopping);
      expect(await left()).toEqual([undefined, [APP]]);
      await store.tokens.takeBackRemoved();
      expect(await left()).toEqual([undefined, undefined]);
    });

    test('stays confirmed until the last of its apps is revoked', async () => {
      await importAda(ADA);
      await enroll('inn', NEW);
      await agree();
      await agree('app_2');
      await revoke();
      expect(await names('inn')).toEqual(ADA);
      await revoke('app_2');
      expect(await names('inn')).toEqual({});
    });

    test.each([
      ['a link', (partnerId: string) => signIn(partnerId, NEW)],
      [
        'an invitation',
        (partnerId: string) => store.enrollInvited({ partnerId, address: address(NEW) }),
      ],
      ['an import', (partnerId: string) => importAda({ enrollments: [{ partnerId }] })],
    ])('stays confirmed without the app if %s confirms it, before or after', async (_, confirm) => {
      await importAda(ADA);
      for (const partnerId of ['inn', 'spa']) await enroll(partnerId, NEW);
      await agree(APP, 'inn');
      for (const partnerId of ['inn', 'spa']) await confirm(partnerId);
      await agree(APP, 'spa');
      await revoke();
      expect([await names('inn'), await names('spa')]).toEqual([ADA, ADA]);
    });

    test('has no more of an enrollment that ended meanwhile and began by an earlier address', async () => {
      await importAda({ ...ADA, previous: [OLD, OLDER] });
      await enroll('inn', NEW);
      await agree();
      await store.endEnrollment('inn', 'ada');
      await enroll('inn', OLD);
      expect(await seenBy()).toEqual([NEW, ADA, [NEW, OLD, OLDER]]);
      await revoke();
      expect(await seenBy()).toEqual([OLD, {}, [OLD]]);
    });

    test("loses the member if all that it had before is another one's by then", async () => {
      await importAda({ previous: [OLD] });
      await enroll('inn', OLD);
      await agree();
      await store.importMembers([memberImport(OLD, { memberId: 'bob' })]);
      expect(await email('inn')).toBe(NEW);
      await revoke();
      expect(await seen('inn')).toBeUndefined();
    });
  });

  describe('the address', () => {
    test('is spelled as each partner wrote it, until the member changes it', async () => {
      const { memberId } = (await enroll('inn', 'New@Example.com')).member;
      expect((await enroll('spa', 'NEW@example.com')).member.email).toBe('NEW@example.com');
      expect((await enroll('spa', 'new@EXAMPLE.com')).member.email).toBe('NEW@example.com');
      await signIn('spa', NEW);
      expect(await email('inn', memberId)).toBe('New@Example.com');
      expect(await store.memberByEmail('spa', NEW)).toMatchObject({ email: 'NEW@example.com' });
      const told = await toldOf(() => changeTo(memberId, 'Next@Example.com'), memberId);
      expect(told).toEqual(['inn', 'spa']);
      for (const partnerId of ['inn', 'spa']) {
        expect(await email(partnerId, memberId)).toBe('Next@Example.com');
        expect(await foundBy(partnerId, [NEW, 'next@example.com'])).toHaveLength(2);
      }
    });

    test('that was history already stays the same whatever changes, and tells of none', async () => {
      await importAda({ previous: [OLD] });
      await enroll('inn', OLD);
      const silent = async (act: () => Promise<unknown>) => expect(await toldOf(act)).toEqual([]);
      await silent(() => changeTo('ada', 'next@example.com'));
      await silent(() => importAda({ ...ADA, previous: [OLDER] }, 'last@example.com'));
      await silent(() => store.updateOwnNames('ada', EVE));
      await silent(() => changeTo('ada', OLD));
      expect(await email('inn')).toBe(OLD);
      await silent(() => changeTo('ada', 'next@example.com'));
      expect(await foundBy('inn', [NEW, OLD, OLDER, 'next@example.com'])).toEqual([OLD]);
    });
  });

  test('what is stored of an enrollment survives a restart, and every export shows it', async () => {
    await importAda({ ...ADA, previous: [OLD] });
    await enroll('inn', OLD, EVE);
    await store.updateOwnNames('ada', { firstName: 'Augusta' });
    const stored = {
      ownNames: { firstName: 'Augusta', lastName: 'Byron' },
      enrollments: [
        {
          partnerId: 'inn',
          unconfirmed: true,
          limited: true,
          written: [{ typed: OLD, canonical: OLD }],
          names: EVE,
        },
      ],
    };
    const again = await place.open();
    expect(await again.member('ada')).toMatchObject(stored);
    expect((await again.rights.find('ada'))?.member).toMatchObject(stored);
    expect(await again.rights.erase('ada')).toBe(true);
    expect(await again.memberByEmail('inn', OLD)).toBeUndefined();
  });
});
