// Enrolling and ending (contract, section 4, Enrollment).
import { type Calls, idOf, NOON, startWithCalls } from '../support/service/calls.ts';
import { ENGINES, type Stage } from '../support/service/inprocess.ts';
import { activity } from '../support/service/testdata.ts';

describe.each(ENGINES)('on %s', (engine) => {
  let calls: Calls;
  let stage: Stage;
  beforeAll(async () => {
    calls = await startWithCalls(engine);
    stage = calls.stage;
  });
  beforeEach(() => {
    calls.at.now = NOON;
  });
  afterAll(() => calls.stage.close());

  describe('enrolling', () => {
    test('makes a member with names, without points and with the lowest tier', async () => {
      const local = calls.fresh();
      const input = {
        email: `${local}@example.com`,
        externalId: `x-${local}`,
        firstName: ' Lilac ',
        lastName: 'Dunlin',
      };
      const { created, ...member } = await calls.enroll(input, 'beta');
      expect(created).toBe(true);
      expect(member).toEqual({
        memberId: expect.stringMatching(/^\S{8,}$/),
        email: input.email,
        firstName: 'Lilac',
        lastName: 'Dunlin',
        tier: 'Plus',
        points: 0,
      });
      expect(await calls.byEmail(input.email, 'beta')).toEqual(member);
      expect(await calls.byExternalId(input.externalId, 'beta')).toEqual(member);
    });

    test('again, with the same external ID or without one, gives the same member and changes nothing', async () => {
      const local = calls.fresh();
      const first = await calls.enroll({
        email: `${local}@example.com`,
        externalId: `x-${local}`,
        firstName: 'Lilac',
      });
      const again = { ...first, created: false };
      expect(
        await calls.enroll({
          email: `${local}@example.com`,
          externalId: `x-${local}`,
          firstName: 'Other',
        }),
      ).toEqual(again);
      expect(await calls.enroll({ email: `${local}@example.com`, lastName: 'Other' })).toEqual(
        again,
      );
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: null, firstName: null }),
      ).toEqual(again);
      expect(idOf(await calls.byExternalId(`x-${local}`))).toBe(first.memberId);
    });

    test('a member who is there keeps the own names and the own address', async () => {
      const enrolled = await calls.enroll(
        { email: 'ALPHA.only@example.com', firstName: 'Other', lastName: 'Other' },
        'gamma',
      );
      expect(enrolled).toMatchObject({
        created: true,
        memberId: 'm-alpha',
        email: 'alpha.only@example.com',
        firstName: 'Ochre',
        lastName: null,
      });
      await calls.end('m-alpha', 'gamma');
    });

    test('says only whether the enrollment is new, never whether the member was', async () => {
      const known = await calls.enroll({ email: 'nobody@example.com' }, 'gamma');
      const unknown = await calls.enroll({ email: `${calls.fresh()}@example.com` }, 'gamma');
      expect(Object.keys(known)).toEqual(Object.keys(unknown));
      expect(known.created).toBe(unknown.created);
      await calls.end('m-nobody', 'gamma');
    });

    test('may add an external ID later; another one is a conflict and changes nothing', async () => {
      const local = calls.fresh();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
      ).toMatchObject({ created: false, memberId });
      expect(idOf(await calls.byExternalId(`x-${local}`))).toBe(memberId);
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `y-${local}` }),
      ).toEqual({ code: 'EXTERNAL_ID_CONFLICT' });
      expect(idOf(await calls.byExternalId(`x-${local}`))).toBe(memberId);
      expect(await calls.byExternalId(`y-${local}`)).toBe('MEMBER_NOT_FOUND');
    });

    test('with an external ID that another member has with this partner is a conflict and enrolls nobody', async () => {
      const local = calls.fresh();
      expect(await calls.enroll({ email: `${local}@example.com`, externalId: 'alpha-2' })).toEqual({
        code: 'EXTERNAL_ID_CONFLICT',
      });
      expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
      ).toMatchObject({ created: true });
    });

    test('20 times at once makes one member and one new enrollment', async () => {
      const local = calls.fresh();
      const all = await Promise.all(
        Array.from({ length: 20 }, () =>
          calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
        ),
      );
      expect(new Set(all.map(({ memberId }) => memberId)).size).toBe(1);
      expect(all.filter(({ created }) => created)).toHaveLength(1);
    });

    test('two members at once with one external ID enrolls one of them', async () => {
      const [one, other] = [calls.fresh(), calls.fresh()];
      const all = await Promise.all(
        [one, other].map((local) =>
          calls.enroll({ email: `${local}@example.com`, externalId: `x-${one}` }),
        ),
      );
      expect(all.map(({ code }) => code ?? 'enrolled').sort()).toEqual([
        'EXTERNAL_ID_CONFLICT',
        'enrolled',
      ]);
    });
  });

  describe('an ended enrollment', () => {
    test('resolves by neither address nor external ID, and ends but once', async () => {
      const local = calls.fresh();
      const { memberId } = await calls.enroll({
        email: `${local}@example.com`,
        externalId: `x-${local}`,
      });
      expect(await calls.end(String(memberId))).toEqual({ memberId });
      expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(await calls.byExternalId(`x-${local}`)).toBe('MEMBER_NOT_FOUND');
      expect(await calls.end(String(memberId))).toBe('MEMBER_NOT_FOUND');
    });

    test('frees its external ID for another member', async () => {
      const [one, other] = [calls.fresh(), calls.fresh()];
      const { memberId } = await calls.enroll({
        email: `${one}@example.com`,
        externalId: `x-${one}`,
      });
      await calls.end(String(memberId));
      const { memberId: heir } = await calls.enroll({
        email: `${other}@example.com`,
        externalId: `x-${one}`,
      });
      expect(idOf(await calls.byExternalId(`x-${one}`))).toBe(heir);
      expect(await calls.enroll({ email: `${one}@example.com`, externalId: `x-${one}` })).toEqual({
        code: 'EXTERNAL_ID_CONFLICT',
      });
      expect(await calls.enroll({ email: `${one}@example.com` })).toMatchObject({
        created: true,
        memberId,
      });
      expect(idOf(await calls.byExternalId(`x-${one}`))).toBe(heir);
    });

    test('that begins again has the standing of before', async () => {
      const local = calls.fresh();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      await stage.stores.standings.record([
        activity(local, ['alpha', String(memberId), 120, 1], NOON),
      ]);
      await calls.end(String(memberId));
      expect(await calls.enroll({ email: `${local}@example.com` })).toMatchObject({
        created: true,
        points: 120,
        tier: 'Silver',
      });
    });

    test('of one partner leaves those of others alone', async () => {
      const local = calls.fresh();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      await calls.enroll({ email: `${local}@example.com` }, 'beta');
      await calls.end(String(memberId));
      expect(idOf(await calls.byEmail(`${local}@example.com`, 'beta'))).toBe(memberId);
    });

    test('of another partner cannot be ended, and stays', async () => {
      expect(await calls.end('m-beta')).toBe('MEMBER_NOT_FOUND');
      expect(idOf(await calls.byEmail('beta.only@example.com', 'beta'))).toBe('m-beta');
    });
  });
});
