// Which addresses and external IDs lead to a member (docs/api.md, Addresses and Not found).
import {
  BY_EMAIL,
  BY_EXTERNAL_ID,
  type Calls,
  memberIdOf,
  NOON,
  startWithCalls,
} from '../support/service/calls.ts';
import { ENGINES, type InProcessService } from '../support/service/inprocess.ts';
import { addKey, address } from '../support/service/testdata.ts';

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

  describe('an email address', () => {
    test.each([
      ['in another case', 'BOTH@EXAMPLE.COM'],
      ['with spaces around it', '  both@example.com '],
      ['if it is an earlier one, in another case', 'Both.Earlier@EXAMPLE.net'],
    ])('resolves %s', async (_, email) => {
      expect(await calls.byEmail(email)).toMatchObject({
        memberId: 'm-both',
        email: 'Both@Example.com',
      });
    });

    test('resolves in both Unicode normal forms, and with its domain in Unicode or ASCII', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}-é@bücher.example` });
      expect(memberId).toEqual(expect.any(String));
      for (const email of [
        `${local}-e\u0301@bücher.example`,
        `${local}-é@xn--bcher-kva.example`,
        `${local}-É@BU\u0308CHER.example`,
        `${local}-é@XN--BCHER-KVA.EXAMPLE`,
      ]) {
        expect(memberIdOf(await calls.byEmail(email))).toBe(memberId);
      }
    });

    test('is not folded further: dots and tags distinguish addresses', async () => {
      const [one, other] = [calls.freshName(), calls.freshName()];
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

    test('is shown as it was typed, without the spaces around it', async () => {
      const local = calls.freshName();
      await calls.enroll({ email: ` Typed.${local}@Example.COM ` });
      expect(await calls.byEmail(`typed.${local}@example.com`)).toMatchObject({
        email: `Typed.${local}@Example.COM`,
      });
    });

    test('leads to the same member in every spelling that enrolls it', async () => {
      const local = calls.freshName();
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

    test('that a member had earlier finds that member on enrollment and remains an earlier one', async () => {
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

    test('that a member had earlier moves to another member who is imported with it, and leads only there', async () => {
      const [former, earlier, next] = [calls.freshName(), calls.freshName(), calls.freshName()];
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
      expect(await service.stores.members.importMembers(members)).toEqual(['added', 'added']);
      expect(memberIdOf(await calls.byEmail(`${earlier}@example.com`))).toBe(next);
      expect(memberIdOf(await calls.byEmail(`${former}@example.com`))).toBe(former);
    });
  });

  describe('an external ID', () => {
    test('belongs to one partner: the same string is another member with another partner', async () => {
      expect(memberIdOf(await calls.byExternalId('shared-1', 'alpha'))).toBe('m-both');
      expect(memberIdOf(await calls.byExternalId('shared-1', 'beta'))).toBe('m-beta');
      expect(await calls.byExternalId('shared-1', 'gamma')).toBe('MEMBER_NOT_FOUND');
    });

    test('is matched exactly, without the spaces around it', async () => {
      expect(memberIdOf(await calls.byExternalId(' shared-1 '))).toBe('m-both');
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

    test('may be any text', async () => {
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
          email: `${calls.freshName()}@example.com`,
          externalId,
        });
        expect(memberIdOf(await calls.byExternalId(externalId))).toBe(memberId);
      }
    });
  });

  describe('MEMBER_NOT_FOUND', () => {
    const LOOK_UPS: [reason: string, query: string, variables: Record<string, string>][] = [
      ['an unknown address', BY_EMAIL, { email: 'unknown@example.com' }],
      ['a member of another partner', BY_EMAIL, { email: 'beta.only@example.com' }],
      [
        'a member of another partner by an earlier address',
        BY_EMAIL,
        { email: 'beta.earlier@example.com' },
      ],
      ['an ended enrollment', BY_EMAIL, { email: 'ended@example.com' }],
      [
        'an ended enrollment by an earlier address',
        BY_EMAIL,
        { email: 'ended.earlier@example.com' },
      ],
      ['a member without enrollments', BY_EMAIL, { email: 'nobody@example.com' }],
      ['a string that is not an address', BY_EMAIL, { email: 'nobody' }],
      ['an unknown external ID', BY_EXTERNAL_ID, { externalId: 'unknown' }],
      ['an external ID of another partner', BY_EXTERNAL_ID, { externalId: 'beta-7' }],
    ];

    test('is the same response, byte for byte, whatever the reason', async () => {
      const responses: string[] = [];
      for (const [, query, variables] of LOOK_UPS) {
        const { status, text, headers } = await service.send({ query, variables, requestId: 'r' });
        responses.push(`${status} ${text} ${[...headers.keys()]}`);
      }
      expect(new Set(responses).size).toBe(1);
      expect(responses[0]).toContain('{"errors":[{"message":"member not found","path":["read"],');
    });

    test.each(LOOK_UPS)(
      'takes the same single store read and reads no standing: %s',
      async (_, query, variables) => {
        service.calls.length = 0;
        await service.send({ query, variables });
        expect(service.calls).toEqual([
          query === BY_EMAIL ? 'members.memberByEmail' : 'members.memberByExternalId',
        ]);
      },
    );

    test('of one aliased look-up does not affect the others', async () => {
      const query = `{ a: memberByEmail(email: "unknown@example.com") { tier } b: memberByEmail(email: "both@example.com") { tier } }`;
      const { body } = await service.send({ query });
      expect(body.data).toEqual({ a: null, b: { tier: 'Silver' } });
      expect(body.errors?.map(({ path }) => path)).toEqual([['a']]);
    });
  });

  test('a look-up reads one member and one standing', async () => {
    service.calls.length = 0;
    await calls.byEmail('both@example.com');
    expect(service.calls.sort()).toEqual([
      'members.memberByEmail',
      'standings.program',
      'standings.standing',
    ]);
  });

  test('each key of a partner reads the same as soon as it is created', async () => {
    const read = await calls.byEmail('both@example.com');
    const key = await addKey(service.stores.keys, 'alpha');
    expect(await calls.execute(BY_EMAIL, { email: 'both@example.com' }, { key })).toEqual(read);
  });
});
