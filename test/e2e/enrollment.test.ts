// Enrolling members and ending enrollments (docs/api.md, Enrollment).
import { type Calls, memberIdOf, NOON, startWithCalls } from '../support/service/calls.ts';
import { ENGINES, type InProcessService } from '../support/service/inprocess.ts';
import { activity } from '../support/service/testdata.ts';

describe.each(ENGINES)('on %s', (engine) => {
  let calls: Calls;
  let service: InProcessService;
  beforeAll(async () => {
    calls = await startWithCalls(engine);
    service = calls.service;
  });
  beforeEach(() => {
    calls.at.now = NOON;
  });
  afterAll(() => calls.service.close());

  describe('enrolling', () => {
    test('creates a member with names, without points, in the lowest tier', async () => {
      const local = calls.freshName();
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

    test('a member again, with the same external ID or without one, changes nothing', async () => {
      const local = calls.freshName();
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
      expect(await calls.enroll({ email: `${local}@example.com`, firstName: 'Other' })).toEqual(
        again,
      );
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: null, firstName: null }),
      ).toEqual(again);
      expect(memberIdOf(await calls.byExternalId(`x-${local}`))).toBe(first.memberId);
    });

    test('fills in a name that was missing', async () => {
      const email = `${calls.freshName()}@example.com`;
      await calls.enroll({ email });
      expect(await calls.enroll({ email, lastName: 'Lilac' })).toMatchObject({
        created: false,
        lastName: 'Lilac',
      });
    });

    test('an existing member changes neither its names nor its address', async () => {
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

    test('reports whether the enrollment is new, never whether the member is', async () => {
      const known = await calls.enroll({ email: 'nobody@example.com' }, 'gamma');
      const unknown = await calls.enroll({ email: `${calls.freshName()}@example.com` }, 'gamma');
      expect(Object.keys(known)).toEqual(Object.keys(unknown));
      expect(known.created).toBe(unknown.created);
      await calls.end('m-nobody', 'gamma');
    });

    test('may add an external ID later; a different one is a conflict and changes nothing', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
      ).toMatchObject({ created: false, memberId });
      expect(memberIdOf(await calls.byExternalId(`x-${local}`))).toBe(memberId);
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `y-${local}` }),
      ).toEqual({ code: 'EXTERNAL_ID_CONFLICT' });
      expect(memberIdOf(await calls.byExternalId(`x-${local}`))).toBe(memberId);
      expect(await calls.byExternalId(`y-${local}`)).toBe('MEMBER_NOT_FOUND');
    });

    test('with the external ID of another member is a conflict and enrolls nobody', async () => {
      const local = calls.freshName();
      expect(await calls.enroll({ email: `${local}@example.com`, externalId: 'alpha-2' })).toEqual({
        code: 'EXTERNAL_ID_CONFLICT',
      });
      expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
      ).toMatchObject({ created: true });
    });

    test('the same address 20 times at once creates one member and one enrollment', async () => {
      const local = calls.freshName();
      const all = await Promise.all(
        Array.from({ length: 20 }, () =>
          calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
        ),
      );
      expect(new Set(all.map(({ memberId }) => memberId)).size).toBe(1);
      expect(all.filter(({ created }) => created)).toHaveLength(1);
    });

    test('two members at once with one external ID enrolls one of them', async () => {
      const [one, other] = [calls.freshName(), calls.freshName()];
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
    test('resolves by neither address nor external ID, and cannot end again', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({
        email: `${local}@example.com`,
        externalId: `x-${local}`,
      });
      expect(await calls.end(String(memberId))).toEqual({ memberId });
      expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(await calls.byExternalId(`x-${local}`)).toBe('MEMBER_NOT_FOUND');
      expect(await calls.end(String(memberId))).toEqual({ memberId });
    });

    test('frees its external ID for another member', async () => {
      const [one, other] = [calls.freshName(), calls.freshName()];
      const { memberId } = await calls.enroll({
        email: `${one}@example.com`,
        externalId: `x-${one}`,
      });
      await calls.end(String(memberId));
      const { memberId: successor } = await calls.enroll({
        email: `${other}@example.com`,
        externalId: `x-${one}`,
      });
      expect(memberIdOf(await calls.byExternalId(`x-${one}`))).toBe(successor);
      expect(await calls.enroll({ email: `${one}@example.com`, externalId: `x-${one}` })).toEqual({
        code: 'EXTERNAL_ID_CONFLICT',
      });
      expect(await calls.enroll({ email: `${one}@example.com` })).toMatchObject({
        created: true,
        memberId,
      });
      expect(memberIdOf(await calls.byExternalId(`x-${one}`))).toBe(successor);
    });

    test('that is renewed has its former standing', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      await service.stores.standings.record([
        activity(local, ['alpha', String(memberId), 120, 1], NOON),
      ]);
      await calls.end(String(memberId));
      expect(await calls.enroll({ email: `${local}@example.com` })).toMatchObject({
        created: true,
        points: 120,
        tier: 'Silver',
      });
    });

    test('of one partner does not affect those of others', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      await calls.enroll({ email: `${local}@example.com` }, 'beta');
      await calls.end(String(memberId));
      expect(memberIdOf(await calls.byEmail(`${local}@example.com`, 'beta'))).toBe(memberId);
    });

    test('that belongs to another partner cannot be ended', async () => {
      expect(await calls.end('m-beta')).toBe('MEMBER_NOT_FOUND');
      expect(memberIdOf(await calls.byEmail('beta.only@example.com', 'beta'))).toBe('m-beta');
    });
  });
});
