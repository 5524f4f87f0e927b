// The members subgraph as the gateway uses it: scopes, arguments and responses.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { ErrorDetails } from '@partner-loyalty/runtime/errors.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import type { Caller, SubgraphResponse } from '@partner-loyalty/runtime/transport/types.ts';
import { memberImport, newPlace, type Place } from '../test/engine.ts';
import { createMembers, type MembersStore } from './index.ts';

const INN: Caller = { kind: 'partner', partnerId: 'inn' };
const ADA: Caller = { kind: 'member', memberId: 'ada' };
const FIELDS = '{ memberId email firstName lastName }';

describe('the members subgraph', () => {
  let place: Place;
  let store: MembersStore;
  let ask: (
    caller: Caller,
    query: string,
    variables?: Record<string, unknown>,
  ) => SubgraphResponse | Promise<SubgraphResponse>;

  beforeAll(async () => {
    place = newPlace();
    store = await place.open();
    const execute = createExecutor(
      createMembers(store, { baseAddress: 'http://localhost:4000', wake: () => {} }),
      createLog('silent'),
      createCaches(),
    );
    ask = (caller, query, variables) =>
      execute({ query, ...(variables && { variables }), caller, requestId: 'r' });
    await store.importMembers([
      memberImport('Ada@Example.com', {
        memberId: 'ada',
        previous: ['old@example.com'],
        firstName: 'Ada',
        enrollments: [
          { partnerId: 'inn', externalId: 'A-1' },
          { partnerId: 'spa' },
          { partnerId: 'bar', status: 'ENDED' },
        ],
      }),
      memberImport('eve@example.com', {
        memberId: 'eve',
        enrollments: [{ partnerId: 'spa', externalId: 'A-1' }],
      }),
    ]);
  });
  afterAll(() => place.release());

  const byEmail = (caller: Caller, email: string) =>
    ask(caller, `query ($email: String!) { memberByEmail(email: $email) ${FIELDS} }`, { email });
  const byExternalId = (caller: Caller, externalId: string) =>
    ask(
      caller,
      `query ($externalId: String!) { memberByExternalId(externalId: $externalId) ${FIELDS} }`,
      { externalId },
    );
  const profile = (caller: Caller, id: string) =>
    ask(
      caller,
      'query ($id: ID!) { memberProfile(id: $id) { memberId email firstName lastName activePartnerIds } }',
      { id },
    );
  const enroll = (caller: Caller, input: Record<string, unknown>) =>
    ask(
      caller,
      `mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created member ${FIELDS} } }`,
      { input },
    );
  const end = (caller: Caller, memberId: string) =>
    ask(caller, 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }', {
      memberId,
    });

  const refused = (field: string, code: string, message: string, details: ErrorDetails = {}) => ({
    data: { [field]: null },
    errors: [{ message, path: [field], extensions: { code, ...details } }],
  });
  const notFound = (field: string) => refused(field, 'MEMBER_NOT_FOUND', 'member not found');
  const badInput = (field: string, message: string) =>
    refused(field, 'BAD_USER_INPUT', message, { argument: message.split(' ')[0] });

  test('a partner reads a member by any spelling of any address, and by external ID', async () => {
    const ada = { memberId: 'ada', email: 'Ada@Example.com', firstName: 'Ada', lastName: null };
    for (const email of ['ada@example.com', '  ADA@EXAMPLE.COM ', 'old@example.com'])
      expect(await byEmail(INN, email)).toEqual({ data: { memberByEmail: ada } });
    expect(await byExternalId(INN, ' A-1 ')).toEqual({ data: { memberByExternalId: ada } });
  });

  test('a Greek address in capitals is the same person', async () => {
    const [small, capital] = ['νίκος.παππάς@example.gr', 'ΝΊΚΟΣ.ΠΑΠΠΆΣ@example.gr'];
    const member = { email: small };
    expect(await enroll(INN, { email: small })).toMatchObject({
      data: { enrollMember: { created: true, member } },
    });
    const keys = [capital, 'νίκος.πάππας@example.gr', small].map((email) => ({ email }));
    const query =
      'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { status member { email } } }';
    const found = { status: 'FOUND', member };
    expect(await ask(INN, query, { keys })).toEqual({
      data: { memberLookups: [found, { status: 'NOT_FOUND', member: null }, found] },
    });
    expect(await byEmail(INN, capital)).toMatchObject({ data: { memberByEmail: member } });
    expect(await enroll(INN, { email: capital })).toMatchObject({
      data: { enrollMember: { created: false, member } },
    });
  });

  test('the same MEMBER_NOT_FOUND for unknown, not enrolled, ended, and for no address at all', async () => {
    for (const email of [
      'nobody@example.com',
      'eve@example.com',
      'no address',
      '@',
      'a@b@c',
      '"a"@example.com',
      '{"$gt":""}',
      '*',
    ]) {
      expect(await byEmail(INN, email)).toEqual(notFound('memberByEmail'));
    }
    expect(await byEmail({ kind: 'partner', partnerId: 'bar' }, 'ada@example.com')).toEqual(
      notFound('memberByEmail'),
    );
    for (const externalId of ['A-2', 'a-1', '__proto__', 'eve'])
      expect(await byExternalId(INN, externalId)).toEqual(notFound('memberByExternalId'));
    expect(await end(INN, 'eve')).toEqual(notFound('endEnrollment'));
    expect(await end(INN, 'nobody')).toEqual(notFound('endEnrollment'));
  });

  test('BAD_USER_INPUT names the argument and never its value', async () => {
    const enrolling = (more: object) => enroll(INN, { email: 'new@example.com', ...more });
    const long = `${'a'.repeat(243)}@example.com`;
    for (const [asked, field, message] of [
      [byEmail(INN, ' \u00a0 '), 'memberByEmail', 'email is empty'],
      [byEmail(INN, long), 'memberByEmail', 'email is longer than 254 characters'],
      [byEmail(INN, 'a\r\n@b.example'), 'memberByEmail', 'email holds control characters'],
      [byExternalId(INN, ' '), 'memberByExternalId', 'externalId is empty'],
      [
        byExternalId(INN, 'x'.repeat(256)),
        'memberByExternalId',
        'externalId is longer than 255 characters',
      ],
      [end(INN, '\udfff'), 'endEnrollment', 'memberId holds lone surrogates'],
      [profile(ADA, ''), 'memberProfile', 'id is empty'],
      [enrolling({ email: 'no' }), 'enrollMember', 'input.email is not an email address'],
      [enrolling({ externalId: '' }), 'enrollMember', 'input.externalId is empty'],
      [
        enrolling({ firstName: '\u00ad' }),
        'enrollMember',
        'input.firstName holds only invisible characters',
      ],
      [
        enrolling({ lastName: 'x'.repeat(101) }),
        'enrollMember',
        'input.lastName is longer than 100 characters',
      ],
    ] as const)
      expect(await asked).toEqual(badInput(field, message));
    expect(await byExternalId(INN, `${' '.repeat(300)}${'\u{1f3e8}'.repeat(255)}`)).toEqual(
      notFound('memberByExternalId'),
    );
    expect(await byEmail(INN, 'new@example.com')).toEqual(notFound('memberByEmail'));
  });

  test('a partner enrolls a member, again without effect, and ends the enrollment', async () => {
    const first = await enroll(INN, {
      email: ' New@Example.com ',
      externalId: ' N-1 ',
      firstName: ' Nia ',
      lastName: null,
    });
    expect(first).toMatchObject({
      data: {
        enrollMember: {
          created: true,
          member: { email: 'New@Example.com', firstName: 'Nia', lastName: null },
        },
      },
    });
    const again = await enroll(INN, {
      email: 'new@example.com',
      externalId: null,
      firstName: 'Eve',
    });
    expect(again).toMatchObject({
      data: {
        enrollMember: { created: false, member: { email: 'New@Example.com', firstName: 'Nia' } },
      },
    });
    const conflict = (message: string, reason: string) =>
      refused('enrollMember', 'EXTERNAL_ID_CONFLICT', message, { reason });
    expect(await enroll(INN, { email: 'new@example.com', externalId: 'N-2' })).toEqual(
      conflict('the member is active with another external ID', 'MEMBER_HAS_ANOTHER'),
    );
    expect(await enroll(INN, { email: 'eve@example.com', externalId: 'A-1' })).toEqual(
      conflict('the external ID is active for another member', 'TAKEN'),
    );
    const memberId = (await store.memberByExternalId('inn', 'N-1'))?.memberId ?? '';
    expect(await end(INN, ` ${memberId} `)).toEqual({ data: { endEnrollment: { memberId } } });
    expect(await end(INN, memberId)).toEqual({ data: { endEnrollment: { memberId } } });
    expect(await byExternalId(INN, 'N-1')).toEqual(notFound('memberByExternalId'));
  });

  const lookUps = (caller: Caller, ...keys: Record<string, unknown>[]) =>
    ask(
      caller,
      'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { status member { memberId externalId } } }',
      { keys },
    );
  const change = (caller: Caller, memberId: string, externalId: string | null) =>
    ask(
      caller,
      'mutation ($memberId: ID!, $externalId: String) { changeExternalId(memberId: $memberId, externalId: $externalId) { memberId externalId enrolledAt } }',
      { memberId, externalId },
    );
  const byId = (caller: Caller, memberId: string) =>
    ask(caller, `query ($id: ID!) { memberById(memberId: $id) ${FIELDS} }`, { id: memberId });

  test('a partner reads its members by ID, and nobody else’s', async () => {
    const ada = { memberId: 'ada', email: 'Ada@Example.com', firstName: 'Ada', lastName: null };
    expect(await byId(INN, ' ada ')).toEqual({ data: { memberById: ada } });
    for (const id of ['eve', 'nobody', 'ADA', 'ada@example.com', '__proto__'])
      expect(await byId(INN, id)).toEqual(notFound('memberById'));
    expect(await byId({ kind: 'partner', partnerId: 'bar' }, 'ada')).toEqual(
      notFound('memberById'),
    );
  });

  test('look-ups are in the order of their keys; what is not found is null', async () => {
    const keys = [
      { memberId: 'ada' },
      { email: 'eve@example.com' },
      { externalId: ' A-1 ' },
      { memberId: 'eve' },
      { email: 'no address', memberId: null },
      { email: 'OLD@example.com' },
    ];
    const ada = { status: 'FOUND', member: { memberId: 'ada', externalId: 'A-1' } };
    const nobody = { status: 'NOT_FOUND', member: null };
    expect(await lookUps(INN, ...keys)).toEqual({
      data: { memberLookups: [ada, nobody, ada, nobody, nobody, ada] },
    });
    const found = (memberId: string, externalId: string | null) => {
      return { status: 'FOUND', member: { memberId, externalId } };
    };
    expect(await lookUps({ kind: 'partner', partnerId: 'spa' }, ...keys)).toEqual({
      data: {
        memberLookups: [
          found('ada', null),
          found('eve', 'A-1'),
          found('eve', 'A-1'),
          found('eve', 'A-1'),
          nobody,
          found('ada', null),
        ],
      },
    });
  });

  test('a key that is not valid is INVALID and never rejects its batch', async () => {
    const invalid = { status: 'INVALID', member: null };
    const ada = { status: 'FOUND', member: { memberId: 'ada', externalId: 'A-1' } };
    const nobody = { status: 'NOT_FOUND', member: null };
    for (const [key, entry] of [
      [{}, invalid],
      [{ email: null }, invalid],
      [{ email: 'a@b.example', externalId: 'x' }, invalid],
      [{ email: ' ' }, invalid],
      [{ email: `${'a'.repeat(250)}@b.example` }, invalid],
      [{ externalId: 'x'.repeat(256) }, invalid],
      [{ externalId: '' }, invalid],
      [{ memberId: 'a\u0000' }, invalid],
      [{ memberId: 'm'.repeat(129) }, invalid],
      [{ email: 'no address' }, nobody],
      [{ memberId: 'm'.repeat(128) }, nobody],
    ] as const)
      expect(await lookUps(INN, { memberId: 'ada' }, key, { externalId: 'A-1' })).toEqual({
        data: { memberLookups: [ada, entry, ada] },
      });
    expect(await lookUps(INN, {})).toEqual({ data: { memberLookups: [invalid] } });
    const many = Array.from({ length: 101 }, () => ({ memberId: 'ada' }));
    for (const keys of [[], many])
      expect(await lookUps(INN, ...keys)).toEqual(
        badInput('memberLookups', 'keys must have 1 to 100 items'),
      );
  });

  test('ENDED and ERASED by memberId only, for members once enrolled with the caller', async () => {
    const enrollments = [{ partnerId: 'inn', externalId: 'G-1' }, { partnerId: 'spa' }];
    const gone = { memberId: 'gone', externalId: 'G-1', email: 'gone@example.com' };
    await store.importMembers([memberImport(gone.email, { memberId: gone.memberId, enrollments })]);
    const keys = [
      { memberId: gone.memberId },
      { email: gone.email },
      { externalId: gone.externalId },
    ];
    const statuses = async (partnerId: string) => {
      const { data } = await lookUps({ kind: 'partner', partnerId }, ...keys);
      return (data as { memberLookups: { status: string }[] }).memberLookups.map(
        ({ status }) => status,
      );
    };
    expect(await statuses('inn')).toEqual(['FOUND', 'FOUND', 'FOUND']);
    await end(INN, gone.memberId);
    expect(await statuses('inn')).toEqual(['ENDED', 'NOT_FOUND', 'NOT_FOUND']);
    expect(await statuses('spa')).toEqual(['FOUND', 'FOUND', 'NOT_FOUND']);
    await store.rights.erase(gone.memberId);
    for (const partnerId of ['inn', 'spa'])
      expect(await statuses(partnerId)).toEqual(['ERASED', 'NOT_FOUND', 'NOT_FOUND']);
    expect(await statuses('bar')).toEqual(['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND']);
    expect(await byId(INN, gone.memberId)).toEqual(notFound('memberById'));
    // Imported again, the member is who it was.
    await store.rights.liftMark(gone.memberId);
    await store.importMembers([
      memberImport(gone.email, { memberId: gone.memberId, enrollments: [{ partnerId: 'spa' }] }),
    ]);
    expect(await statuses('spa')).toEqual(['FOUND', 'FOUND', 'NOT_FOUND']);
    expect(await statuses('bar')).toEqual(['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND']);
  });

  test('node is a member enrolled with the caller, or null without an error', async () => {
    const node = (id: string) =>
      ask(
        INN,
        'query ($id: ID!) { node(id: $id) { __typename id ... on PartnerMemberRead { memberId email } } }',
        { id },
      );
    expect(await node('ada')).toEqual({
      data: {
        node: {
          __typename: 'PartnerMemberRead',
          id: 'ada',
          memberId: 'ada',
          email: 'Ada@Example.com',
        },
      },
    });
    for (const id of ['eve', 'nobody', 'ADA', '__proto__'])
      expect(await node(id)).toEqual({ data: { node: null } });
    expect(await node('')).toEqual(badInput('node', 'id is empty'));
  });

  test('changeExternalId: leaving the external ID out is BAD_USER_INPUT and changes nothing', async () => {
    for (const query of [
      'mutation { changeExternalId(memberId: "ada") { memberId } }',
      'mutation ($x: String) { changeExternalId(memberId: "ada", externalId: $x) { memberId } }',
    ])
      expect(await ask(INN, query)).toEqual(
        badInput('changeExternalId', 'externalId must be given; null takes the external ID away'),
      );
    expect(await byExternalId(INN, 'A-1')).toMatchObject({
      data: { memberByExternalId: { memberId: 'ada' } },
    });
  });

  test('an enrollment says when it began, and begins anew after it ended', async () => {
    const input = { email: 'since@example.com', externalId: 'S-1' };
    const read = async (): Promise<{ memberId: string; externalId: string; enrolledAt: string }> =>
      // Cast: the schema guarantees it.
      (
        (await ask(
          INN,
          '{ memberByExternalId(externalId: "S-1") { memberId externalId enrolledAt } }',
        )) as { data: { memberByExternalId: never } }
      ).data.memberByExternalId;
    const before = Date.now();
    await enroll(INN, input);
    const { memberId, externalId, enrolledAt } = await read();
    expect(externalId).toBe('S-1');
    expect(enrolledAt).toBe(new Date(enrolledAt).toISOString());
    expect(Date.parse(enrolledAt)).toBeGreaterThanOrEqual(before);
    await enroll(INN, input);
    expect(await read()).toEqual({ memberId, externalId, enrolledAt });
    while (Date.now() <= Date.parse(enrolledAt)) await new Promise(setImmediate);
    await end(INN, memberId);
    await enroll(INN, input);
    expect(Date.parse((await read()).enrolledAt)).toBeGreaterThan(Date.parse(enrolledAt));
  });

  test('an external ID is changed, taken away and given again, if no other member has it', async () => {
    await enroll(INN, { email: 'one@example.com', externalId: 'C-1' });
    await enroll(INN, { email: 'other@example.com', externalId: 'C-2' });
    const { memberId, enrollments } = (await store.member(
      (await store.memberByExternalId('inn', 'C-1'))?.memberId ?? '',
    )) ?? { memberId: '', enrollments: [] };
    const enrolledAt = new Date(enrollments[0]?.enrolledAt ?? 0).toISOString();
    const changed = (externalId: string | null) => ({
      data: { changeExternalId: { memberId, externalId, enrolledAt } },
    });
    expect(await change(INN, memberId, ' C-3 ')).toEqual(changed('C-3'));
    expect(await change(INN, memberId, 'C-3')).toEqual(changed('C-3'));
    expect(await byExternalId(INN, 'C-1')).toEqual(notFound('memberByExternalId'));
    expect(await byExternalId(INN, 'C-3')).toMatchObject({
      data: { memberByExternalId: { memberId } },
    });
    expect(await change(INN, memberId, 'C-2')).toMatchObject({
      data: { changeExternalId: null },
      errors: [{ extensions: { code: 'EXTERNAL_ID_CONFLICT' } }],
    });
    expect(await change(INN, memberId, null)).toEqual(changed(null));
    expect(await change(INN, memberId, null)).toEqual(changed(null));
    expect(await byExternalId(INN, 'C-3')).toEqual(notFound('memberByExternalId'));
    expect(await change(INN, memberId, 'C-1')).toEqual(changed('C-1'));
    for (const other of ['eve', 'nobody'])
      expect(await change(INN, other, 'C-9')).toEqual(notFound('changeExternalId'));
    expect(await change(INN, memberId, '')).toEqual(
      badInput('changeExternalId', 'externalId is empty'),
    );
  });

  test('a member reads only their own profile, with the partners they are enrolled with', async () => {
    const own = { memberId: 'ada', email: 'Ada@Example.com', firstName: 'Ada', lastName: null };
    expect(await profile(ADA, 'ada')).toEqual({
      data: { memberProfile: { ...own, activePartnerIds: ['inn', 'spa'] } },
    });
    for (const id of ['eve', 'nobody', 'ADA'])
      expect(await profile(ADA, id)).toEqual(notFound('memberProfile'));
    expect(await profile({ kind: 'member', memberId: 'nobody' }, 'nobody')).toEqual(
      notFound('memberProfile'),
    );
  });

  test('a token that a partner holds shows that partner only, and none if the enrollment has ended', async () => {
    for (const [partnerId, expected] of [
      ['spa', ['spa']],
      ['bar', []],
      ['other', []],
    ] as const) {
      expect(await profile({ ...ADA, partnerId }, 'ada')).toMatchObject({
        data: { memberProfile: { activePartnerIds: expected } },
      });
    }
  });

  test('a profile that is resolved as an entity follows the same rule', async () => {
    const query =
      'query ($r: [_Any!]!) { _entities(representations: $r) { ... on MemberProfile { memberId email activePartnerIds } } }';
    const references = ['eve', 'ada'].map((memberId) => ({
      __typename: 'MemberProfile',
      memberId,
    }));
    expect(await ask(ADA, query, { r: references })).toMatchObject({
      data: { _entities: [null, { memberId: 'ada', activePartnerIds: ['inn', 'spa'] }] },
      errors: [{ message: 'member not found', path: ['_entities', 0] }],
    });
  });

  test('the service takes over pending events, and nobody else does', async () => {
    const service: Caller = { kind: 'service' };
    const pending = (caller: Caller, first: number) =>
      ask(caller, 'query ($first: Int!) { pendingEvents(first: $first) { ack event } }', { first });
    const acknowledge = (caller: Caller, acks: string[]) =>
      ask(caller, 'mutation ($acks: [String!]!) { acknowledgeEvents(acks: $acks) }', { acks });
    type Pending = { ack: string; event: string }[];
    const found = (await pending(service, 1_000)).data?.pendingEvents as Pending;
    expect(found.map(({ event }) => JSON.parse(event))).toContainEqual({
      id: expect.any(String),
      type: 'MEMBER_ENROLLED',
      occurredAt: expect.any(Number),
      partnerId: 'inn',
      memberId: 'ada',
      externalId: 'A-1',
    });
    const acks = found.map(({ ack }) => ack);
    for (const caller of [INN, ADA])
      for (const response of [await pending(caller, 1), await acknowledge(caller, acks)])
        expect(response).toMatchObject({
          errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
        });
    for (const response of [
      await pending(service, 0),
      await pending(service, 1_001),
      await acknowledge(service, Array(1_001).fill('a')),
    ])
      expect(response).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
    expect(await pending(service, 1_000)).toEqual({ data: { pendingEvents: found } });
    expect(await acknowledge(service, acks)).toEqual({ data: { acknowledgeEvents: true } });
    expect(await pending(service, 1)).toEqual({ data: { pendingEvents: [] } });
  });

  test('a caller that has no access gets nothing, whether the member exists or not', async () => {
    const denied = [
      [byEmail, 'memberByEmail', 'ada@example.com', [ADA, { kind: 'service' }]],
      [byExternalId, 'memberByExternalId', 'A-1', [ADA, { kind: 'service' }]],
      [end, 'endEnrollment', 'ada', [ADA, { kind: 'service' }]],
      [byId, 'memberById', 'ada', [ADA, { kind: 'service' }]],
      [profile, 'memberProfile', 'ada', [INN, { kind: 'service' }]],
    ] as const;
    for (const [act, field, argument, scopes] of denied) {
      for (const caller of scopes)
        expect(await act(caller, argument)).toEqual(
          refused(field, 'INTERNAL_SERVER_ERROR', 'something went wrong on our side'),
        );
    }
    expect(await enroll(ADA, { email: 'ada@example.com' })).toEqual(
      refused('enrollMember', 'INTERNAL_SERVER_ERROR', 'something went wrong on our side'),
    );
    expect(await store.member('ada')).toMatchObject({
      enrollments: [{ status: 'ACTIVE' }, { status: 'ACTIVE' }, { status: 'ENDED' }],
    });
  });
});
