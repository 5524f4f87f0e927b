// Addresses and external IDs: what leads to a member, and to nobody (contract, section 4).
import {
  BY_EMAIL,
  BY_EXTERNAL_ID,
  type Calls,
  idOf,
  NOON,
  startWithCalls,
} from '../support/service/calls.ts';
import { ENGINES, type Stage } from '../support/service/inprocess.ts';
import { addKey, address } from '../support/service/testdata.ts';

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

  describe('an email address', () => {
    test.each([
      ['in other case', 'BOTH@EXAMPLE.COM'],
      ['with spaces around it', '  both@example.com '],
      ['in other case, historical', 'Both.Earlier@EXAMPLE.net'],
    ])('resolves %s', async (_, email) => {
      expect(await calls.byEmail(email)).toMatchObject({
        memberId: 'm-both',
        email: 'Both@Example.com',
      });
    });

    test('resolves in either of two Unicode forms, and with its domain in Unicode or ASCII', async () => {
      const local = calls.fresh();
      const { memberId } = await calls.enroll({ email: `${local}-é@bücher.example` });
      expect(memberId).toEqual(expect.any(String));
      for (const email of [
        `${local}-e\u0301@bücher.example`,
        `${local}-é@xn--bcher-kva.example`,
        `${local}-É@BU\u0308CHER.example`,
        `${local}-é@XN--BCHER-KVA.EXAMPLE`,
      ]) {
        expect(idOf(await calls.byEmail(email))).toBe(memberId);
      }
    });

    test('is not folded any further: dots and tags tell addresses apart', async () => {
      const [one, other] = [calls.fresh(), calls.fresh()];
      await calls.enroll({ email: `${one}.${other}@example.com` });
      for (const local of [
        `${one}${other}`,
        `${one}.${other}+tag`,
        `${one}..${other}`,
        `"${one}.${other}"`,
      ]) {
        expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      }
    });

    test('is shown as it was typed, but for the spaces around it', async () => {
      const local = calls.fresh();
      await calls.enroll({ email: ` Typed.${local}@Example.COM ` });
      expect(await calls.byEmail(`typed.${local}@example.com`)).toMatchObject({
        email: `Typed.${local}@Example.COM`,
      });
    });

    test('leads to one member, in whatever spelling it is enrolled', async () => {
      const local = calls.fresh();
      const first = await calls.enroll({ email: `${local}@example.com` });
      expect(await calls.enroll({ email: `${local.toUpperCase()}@Example.com` })).toEqual({
        ...first,
        created: false,
      });
      expect(await calls.enroll({ email: `${local}@example.com` }, 'beta')).toMatchObject({
        created: true,
        memberId: first.memberId,
      });
    });

    test('that is historical finds the member when it is enrolled, and stays what it is', async () => {
      const enrolled = await calls.enroll({ email: 'beta.earlier@example.com' }, 'gamma');
      expect(enrolled).toMatchObject({
        created: true,
        memberId: 'm-beta',
        email: 'beta.only@example.com',
      });
      expect(await calls.byEmail('beta.earlier@example.com', 'gamma')).toMatchObject({
        email: 'beta.only@example.com',
      });
      expect(await calls.byEmail('beta.only@example.com', 'gamma')).toMatchObject({
        memberId: 'm-beta',
      });
      await calls.end('m-beta', 'gamma');
    });

    test('that is historical goes over to the member who is imported with it, and resolves to that one alone', async () => {
      const [former, earlier, next] = [calls.fresh(), calls.fresh(), calls.fresh()];
      const enrollments = [{ partnerId: 'alpha' }];
      const members = [
        {
          memberId: former,
          address: address(`${former}@example.com`),
          previousAddresses: [address(`${earlier}@example.com`)],
          enrollments,
        },
        {
          memberId: next,
          address: address(`${earlier}@example.com`),
          previousAddresses: [],
          enrollments,
        },
      ];
      expect(await stage.stores.members.importMembers(members)).toEqual(['added', 'added']);
      expect(idOf(await calls.byEmail(`${earlier}@example.com`))).toBe(next);
      expect(idOf(await calls.byEmail(`${former}@example.com`))).toBe(former);
    });
  });

  describe('an external ID', () => {
    test('is the partner’s own: the same string is another member elsewhere', async () => {
      expect(idOf(await calls.byExternalId('shared-1', 'alpha'))).toBe('m-both');
      expect(idOf(await calls.byExternalId('shared-1', 'beta'))).toBe('m-beta');
      expect(await calls.byExternalId('shared-1', 'gamma')).toBe('MEMBER_NOT_FOUND');
    });

    test('is matched as it was given, but for the spaces around it', async () => {
      expect(idOf(await calls.byExternalId(' shared-1 '))).toBe('m-both');
      for (const externalId of [
        'SHARED-1',
        'shared',
        'shared-1*',
        'shared%',
        '.*',
        'shared-1 x',
        '{"$gt":""}',
      ]) {
        expect(await calls.byExternalId(externalId)).toBe('MEMBER_NOT_FOUND');
      }
    });

    test('may hold any text', async () => {
      for (const externalId of [
        'ü 漢字 😀',
        '$where',
        'a.b',
        '__proto__',
        'constructor',
        '"quoted"',
        '\\',
        'x'.repeat(255),
      ]) {
        const { memberId } = await calls.enroll({
          email: `${calls.fresh()}@example.com`,
          externalId,
        });
        expect(idOf(await calls.byExternalId(externalId))).toBe(memberId);
      }
    });
  });

  describe('MEMBER_NOT_FOUND', () => {
    const LOOK_UPS: [why: string, query: string, variables: Record<string, string>][] = [
      ['an unknown address', BY_EMAIL, { email: 'unknown@example.com' }],
      ['a member of another partner', BY_EMAIL, { email: 'beta.only@example.com' }],
      [
        "another partner's member by an earlier address",
        BY_EMAIL,
        { email: 'beta.earlier@example.com' },
      ],
      ['an ended enrollment', BY_EMAIL, { email: 'ended@example.com' }],
      [
        'an ended enrollment by an earlier address',
        BY_EMAIL,
        { email: 'ended.earlier@example.com' },
      ],
      ['a member enrolled nowhere', BY_EMAIL, { email: 'nobody@example.com' }],
      ['what is no address', BY_EMAIL, { email: 'nobody' }],
      ['an unknown external ID', BY_EXTERNAL_ID, { externalId: 'unknown' }],
      ["another partner's external ID", BY_EXTERNAL_ID, { externalId: 'beta-7' }],
    ];

    test('has the same bytes, whatever the reason', async () => {
      const answers: string[] = [];
      for (const [, query, variables] of LOOK_UPS) {
        const { status, text, headers } = await stage.ask({ query, variables, requestId: 'r' });
        answers.push(`${status} ${text} ${[...headers.keys()]}`);
      }
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toContain('{"errors":[{"message":"member not found","path":["read"],');
    });

    test.each(LOOK_UPS)(
      'takes one and the same store read and none of a standing: %s',
      async (_, query, variables) => {
        stage.calls.length = 0;
        await stage.ask({ query, variables });
        expect(stage.calls).toEqual([
          query === BY_EMAIL ? 'members.memberByEmail' : 'members.memberByExternalId',
        ]);
      },
    );

    test('of one aliased look-up leaves the others standing', async () => {
      const query = `{ a: memberByEmail(email: "unknown@example.com") { tier } b: memberByEmail(email: "both@example.com") { tier } }`;
      const { body } = await stage.ask({ query });
      expect(body.data).toEqual({ a: null, b: { tier: 'Silver' } });
      expect(body.errors?.map(({ path }) => path)).toEqual([['a']]);
    });
  });

  test('a read takes one look-up and one standing', async () => {
    stage.calls.length = 0;
    await calls.byEmail('both@example.com');
    expect(stage.calls.sort()).toEqual([
      'members.memberByEmail',
      'standings.program',
      'standings.standing',
    ]);
  });

  test('each of a partner’s keys reads the same, from the moment it is made', async () => {
    const read = await calls.byEmail('both@example.com');
    const key = await addKey(stage.stores.keys, 'alpha');
    expect(await calls.ask(BY_EMAIL, { email: 'both@example.com' }, { key })).toEqual(read);
  });
});
