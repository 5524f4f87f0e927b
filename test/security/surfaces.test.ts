// Every field of the graph on every surface: either it is there, or it seems not to exist.
import { readFileSync } from 'node:fs';
import { SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  parse,
  printSchema,
  validate,
} from 'graphql';
import type { ApiResponse, Client } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

// The surfaces as docs/callers/requests.md, Surfaces, describes them, repeated here on purpose.
const READS = `
  type Standing { partnerId: ID!  partnerName: String!  tier: String!  points: Int!  stays: Int!  nextTier: String  pointsToNextTier: Int
    yearStart: DateTime!  yearEnd: DateTime!  asOf: DateTime!
    tierFrom: DateTime!  tierValidUntil: DateTime!  previousYear: YearStanding }
  type YearStanding { tier: String!  points: Int!  stays: Int!  yearStart: DateTime!  yearEnd: DateTime! }
  type ActivityConnection { edges: [ActivityEdge!]!  pageInfo: PageInfo! }
  type ActivityEdge { node: Activity!  cursor: String! }
  type PageInfo { hasNextPage: Boolean!  hasPreviousPage: Boolean!  startCursor: String  endCursor: String }
  type Activity { activityId: ID!  partnerId: ID!  points: Int!  stays: Int!  occurredAt: DateTime!  membershipYear: String! }
  scalar DateTime @specifiedBy(url: "https://scalars.graphql.org/andimarek/date-time.html")
`;
const PARTNER = buildSchema(`
  ${READS}
  type Query { memberByEmail(email: String!): PartnerMemberRead  memberByExternalId(externalId: String!): PartnerMemberRead
    memberById(memberId: ID!): PartnerMemberRead  memberLookups(keys: [MemberKey!]!): [MemberLookup!]  node(id: ID!): Node
    members("1 to 500." first: Int = 100, after: String, updatedSince: DateTime, status: EnrollmentStatus = ACTIVE): MemberConnection
    events(first: Int = 100, after: String, types: [EventType!]): EventConnection
    program: Program  viewer: Viewer  sandboxMails(email: String!): [SandboxMail!] }
  type SandboxMail { id: ID!  to: String!  subject: String!  text: String!  html: String  sentAt: DateTime! }
  type Viewer { partnerId: ID!  partnerName: String!  keyId: ID!  scopes: [String!]!  expiresAt: DateTime
    budget: Int!  windowSeconds: Int!  environment: String! }
  type Program { membershipYearStart: String!  timeZone: String!  tierValidity: TierValidity!  tiers: [Tier!]! }
  enum TierValidity { YEAR  NEXT_YEAR }
  type Tier { name: String!  points: Int! }
  type Mutation { enrollMember(input: EnrollMemberInput!): EnrollMemberPayload  endEnrollment(memberId: ID!): EndEnrollmentPayload
    requestMagicLink(email: String!): RequestMagicLinkPayload  exchangeMagicLink(token: String!): MagicLinkSession
    inviteMember(input: EnrollMemberInput!): InviteMemberPayload
    changeExternalId(memberId: ID!, externalId: String): PartnerMemberRead
    updateMember(memberId: ID!, input: UpdateMemberInput!): PartnerMemberRead
    recordActivities(activities: [ActivityInput!]!): [RecordedActivity!] }
  interface Node { id: ID! }
  type PartnerMemberRead implements Node { id: ID!  memberId: ID!  email: String!  firstName: String  lastName: String  tier: String!  points: Int!
    externalId: String  enrolledAt: DateTime
    standing: Standing  activities(first: Int = 20, after: String): ActivityConnection! }
  input MemberKey { email: String  externalId: String  memberId: ID }
  type MemberLookup { member: PartnerMemberRead  status: LookupStatus! }
  enum LookupStatus { FOUND  NOT_FOUND  ENDED  ERASED  INVALID }
  type MemberConnection { edges: [MemberEdge!]!  pageInfo: PageInfo! }
  type MemberEdge { memberId: ID!  node: PartnerMemberRead  cursor: String!  updatedAt: DateTime!  status: EnrollmentStatus! }
  enum EnrollmentStatus { ACTIVE  ENDED }
  input EnrollMemberInput { email: String!  externalId: String  firstName: String  lastName: String }
  input UpdateMemberInput { firstName: String  lastName: String }
  type EnrollMemberPayload { member: PartnerMemberRead!  created: Boolean! }
  type EndEnrollmentPayload { memberId: ID! }
  type InviteMemberPayload { accepted: Boolean! }
  type RequestMagicLinkPayload { accepted: Boolean! }
  type MagicLinkSession { memberId: ID!  idToken: String!  expiresAt: String! }
  input ActivityInput { activityId: ID!  memberId: ID!  points: Int!  stays: Int = 0  occurredAt: DateTime! }
  type RecordedActivity { activityId: ID!  outcome: ActivityOutcome!  argument: String }
  enum ActivityOutcome { RECORDED  ALREADY_RECORDED  CONFLICT  OUT_OF_RANGE  NOT_ENROLLED  INVALID }
  type EventConnection { edges: [EventEdge!]!  pageInfo: PageInfo! }
  type EventEdge { node: Event!  cursor: String! }
  type Event { id: ID!  type: EventType!  occurredAt: DateTime!  memberId: ID  externalId: String  member: PartnerMemberRead
    mergedMemberId: ID  tierBefore: String  tierAfter: String  points: Int  activityId: ID }
  enum EventType { MEMBER_ENROLLED  ENROLLMENT_ENDED  MEMBER_UPDATED  EXTERNAL_ID_CHANGED  MEMBER_ERASED  MEMBER_MERGED
    POINTS_CHANGED  TIER_CHANGED  YEAR_ENDED  PROGRAM_CHANGED }
`);
const MEMBER = buildSchema(`
  ${READS}
  type Query { memberProfile(id: ID!): MemberProfile }
  type Mutation { requestEmailChange(email: String!): RequestEmailChangePayload  confirmEmailChange(token: String!): MemberProfile
    updateProfile(input: UpdateProfileInput!): MemberProfile }
  input UpdateProfileInput { firstName: String  lastName: String }
  type MemberProfile { memberId: ID!  email: String!  firstName: String  lastName: String
    membershipYearStats: MembershipYearStats!  partnerStandings: [PartnerStanding!]!
    standings: [Standing!]!  activities(first: Int = 20, after: String): ActivityConnection! }
  type MembershipYearStats { akinPoints: Int!  totalStays: Int! }
  type PartnerStanding { partnerId: ID!  tier: String!  points: Int! }
  type RequestEmailChangePayload { accepted: Boolean! }
`);

const ACTIVITY =
  '{ activityId: "s-1", memberId: "m-both", points: 0, occurredAt: "2026-01-01T00:00:00Z" }';

/** By type: a document that selects one of its fields. */
const SELECTIONS: Record<string, (field: string) => string> = {
  Query: (field) =>
    field === 'node' ? '{ node(id: "m-both") { id } }' : `{ ${withArguments(field)} }`,
  Mutation: (field) => `mutation { ${withArguments(field)} }`,
  PartnerMemberRead: (field) =>
    `{ memberByEmail(email: "both@example.com") { ${withArguments(field)} } }`,
  MemberLookup: (field) =>
    `{ memberLookups(keys: [{ memberId: "m-both" }]) { ${withArguments(field)} } }`,
  Program: (field) => `{ program { ${withArguments(field)} } }`,
  Tier: (field) => `{ program { tiers { ${field} } } }`,
  Viewer: (field) => `{ viewer { ${field} } }`,
  SandboxMail: (field) => `{ sandboxMails(email: "a@inbox.test") { ${field} } }`,
  Node: (field) => `{ node(id: "m-both") { ${field} } }`,
  MemberConnection: (field) => `{ members { ${withArguments(field)} } }`,
  MemberEdge: (field) => `{ members { edges { ${withArguments(field)} } } }`,
  EnrollMemberPayload: (field) =>
    `mutation { enrollMember(input: { email: "both@example.com" }) { ${withArguments(field)} } }`,
  InviteMemberPayload: (field) =>
    `mutation { inviteMember(input: { email: "both@example.com" }) { ${field} } }`,
  EndEnrollmentPayload: (field) => `mutation { endEnrollment(memberId: "m-beta") { ${field} } }`,
  MemberProfile: (field) => `{ memberProfile(id: "m-both") { ${withArguments(field)} } }`,
  MembershipYearStats: (field) =>
    `{ memberProfile(id: "m-both") { membershipYearStats { ${field} } } }`,
  RequestMagicLinkPayload: (field) =>
    `mutation { requestMagicLink(email: "both@example.com") { ${field} } }`,
  MagicLinkSession: (field) => `mutation { exchangeMagicLink(token: "ml_none") { ${field} } }`,
  RequestEmailChangePayload: (field) =>
    `mutation { requestEmailChange(email: "next@example.com") { ${field} } }`,
  RecordedActivity: (field) =>
    `mutation { recordActivities(activities: [${ACTIVITY}]) { ${field} } }`,
  EventConnection: (field) => `{ events { ${withArguments(field)} } }`,
  EventEdge: (field) => `{ events { edges { ${withArguments(field)} } } }`,
  Event: (field) => `{ events { edges { node { ${withArguments(field)} } } } }`,
  EndedSessions: (field) => `{ endedSessions(since: 0) { ${field} } }`,
  Invitation: (field) => `{ invitation(token: "in_none") { ${field} } }`,
  ConfirmedChange: (field) => `mutation { confirmChange(token: "ec_none") { ${field} } }`,
  PartnerStanding: (field) => `{ memberProfile(id: "m-both") { partnerStandings { ${field} } } }`,
};

/** By type on both surfaces: how a member's fields lead to it. */
const SHARED: Record<string, (field: string, standing: string) => string> = {
  Standing: (field, standing) => `${standing} { ${withArguments(field)} }`,
  YearStanding: (field, standing) => `${standing} { previousYear { ${field} } }`,
  ActivityConnection: (field) => `activities { ${withArguments(field)} }`,
  ActivityEdge: (field) => `activities { edges { ${withArguments(field)} } }`,
  PageInfo: (field) => `activities { pageInfo { ${field} } }`,
  Activity: (field) => `activities { edges { node { ${field} } } }`,
};

function documentOf(surface: 'partner' | 'member', type: string, field: string): string {
  const shared = SHARED[type];
  if (shared === undefined) return (SELECTIONS[type] ?? SELECTIONS.Query)?.(field) ?? '';
  return surface === 'partner'
    ? `{ memberByEmail(email: "both@example.com") { ${shared(field, 'standing')} } }`
    : `{ memberProfile(id: "m-both") { ${shared(field, 'standings')} } }`;
}

const ARGUMENTS: Record<string, string> = {
  memberByEmail: '(email: "both@example.com") { memberId }',
  memberByExternalId: '(externalId: "shared-1") { memberId }',
  memberById: '(memberId: "m-both") { memberId }',
  memberLookups: '(keys: [{ memberId: "m-both" }]) { member { memberId } }',
  program: ' { timeZone }',
  tiers: ' { name }',
  members: ' { edges { memberId } }',
  viewer: ' { keyId }',
  sandboxMails: '(email: "a@inbox.test") { subject }',
  memberProfile: '(id: "m-both") { memberId }',
  endedSessions: '(since: 0) { memberId }',
  invitation: '(token: "in_none") { email }',
  enrollMember: '(input: { email: "both@example.com" }) { created }',
  inviteMember: '(input: { email: "both@example.com" }) { accepted }',
  changeExternalId: '(memberId: "m-alpha", externalId: "alpha-2") { memberId }',
  updateMember: '(memberId: "m-alpha", input: {}) { memberId }',
  updateProfile: '(input: {}) { memberId }',
  endEnrollment: '(memberId: "m-beta") { memberId }',
  requestMagicLink: '(email: "both@example.com") { accepted }',
  exchangeMagicLink: '(token: "ml_none") { memberId }',
  requestEmailChange: '(email: "next@example.com") { accepted }',
  confirmEmailChange: '(token: "ec_none") { memberId }',
  signIn: '(token: "ml_none") { memberId }',
  confirmChange: '(token: "ec_none") { memberId }',
  undoChange: '(token: "eu_none") { memberId }',
  contestUndo: '(token: "co_none")',
  acceptInvitation: '(token: "in_none") { email }',
  events: '(first: 1) { pageInfo { endCursor } }',
  pendingEvents: '(first: 1) { ack }',
  acknowledgeEvents: '(acks: [])',
  recordActivities: `(activities: [${ACTIVITY}]) { outcome }`,
  everEnrolled: '(partnerId: "beta", memberIds: ["m-beta"])',
  member: ' { memberId }',
  membershipYearStats: ' { totalStays }',
  partnerStandings: ' { tier }',
  standing: ' { tier }',
  standings: ' { tier }',
  previousYear: ' { tier }',
  activities: ' { edges { cursor } }',
  edges: ' { cursor }',
  node: ' { points }',
  pageInfo: ' { endCursor }',
};

function withArguments(field: string): string {
  return field + (ARGUMENTS[field] ?? '');
}

/** Types and fields of the whole graph, including those that only the gateway may select. */
const GRAPH = buildSchema(readFileSync(SUPERGRAPH_FILE, 'utf8'), { assumeValidSDL: true });
const TYPES = Object.values(GRAPH.getTypeMap()).filter(
  (type) =>
    !/^(__|join__|link__)/.test(type.name) &&
    (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)),
);
const COORDINATES = TYPES.flatMap((type) =>
  isObjectType(type)
    ? Object.keys(type.getFields()).map((field): [type: string, field: string] => [
        type.name,
        field,
      ])
    : [],
);

let service: InProcessService;
let surfaces: { partner: Client; member: Client };

beforeAll(async () => {
  service = await startInProcess({ env: { RATE_LIMIT_BUDGET: '100000' } });
  // A member's budget is 120, so requests of up to 5 root fields are spread over several members.
  let sent = 0;
  surfaces = {
    partner: service.send,
    member: async (request) => {
      sent += 1;
      const isAnswered =
        sent <= COORDINATES.length && validationErrors(MEMBER, String(request.query)).length === 0;
      const member = isAnswered ? 'm-both' : `m-${Math.floor(sent / 20)}`;
      return service.send({ ...request, token: await service.provider.issue(member) });
    },
  };
});
afterAll(() => service.close());

const SURFACES = [
  { surface: 'partner', schema: PARTNER },
  { surface: 'member', schema: MEMBER },
] as const;

describe.each(SURFACES)('the $surface surface', ({ surface, schema }) => {
  test.each(COORDINATES)(
    '%s.%s is answered if it is on the surface, and unknown if not',
    async (type, field) => {
      const document = documentOf(surface, type, field);
      const errors = validationErrors(schema, document);
      const visible = isVisible(schema, type, field);
      expect(errors.length === 0).toBe(visible);
      const response = await surfaces[surface]({ query: document });
      if (visible) expect([response.status, response.body.data]).toEqual([200, expect.anything()]);
      else expect(summary(response)).toEqual(refusal(errors));
    },
  );

  const hidden = TYPES.map(({ name }) => name).filter((name) => schema.getType(name) === undefined);

  test.each([
    ...hidden,
    '_Any',
    '_Entity',
    '_Service',
    'join__Graph',
    'link__Import',
    'join__FieldSet',
  ])('does not know the type %s and does not suggest it', async (name) => {
    // A response has at most 5 errors.
    const spellings = [name, name.slice(0, -1), `${name}s`, name.toLowerCase()];
    for (const document of [
      `{ ${spellings.map((type) => `... on ${type} { __typename }`).join(' ')} }`,
      `{ ${spellings.map((_, n) => `...F${n}`).join(' ')} }
        ${spellings.map((type, n) => `fragment F${n} on ${type} { __typename }`).join(' ')}`,
      `query (${spellings.map((type, n) => `$a${n}: ${type}`).join(' ')}) {
        a(b: [${spellings.map((_, n) => `$a${n}`).join(' ')}]) }`,
    ]) {
      expect(summary(await surfaces[surface]({ query: document }))).toEqual(
        refusal(validationErrors(schema, document)),
      );
    }
  });

  test.each([
    'tag',
    'key',
    'inaccessible',
    'requires',
    'external',
    'link',
    'join__field',
    'join__type',
    'defer',
  ])('does not know the directive @%s', async (name) => {
    const document = `{ __typename @${name} }`;
    expect(summary(await surfaces[surface]({ query: document }))).toEqual(
      refusal(validationErrors(schema, document)),
    );
  });

  test('suggests for names close to hidden ones what a schema without hidden parts suggests', async () => {
    const names = new Set([
      ...COORDINATES.map(([, field]) => field),
      '_entities',
      '_service',
      'signingKeys',
      'activePartnerIds',
    ]);
    for (const name of names) {
      const spellings = [
        name.slice(0, -1),
        `${name}s`,
        `x${name}`,
        name.toUpperCase(),
        name.slice(1),
      ];
      for (const documentOfField of [
        (field: string) => `{ ${field} }`,
        (field: string) => `mutation { ${field} }`,
        SELECTIONS[rootOf(surface)] ?? String,
      ]) {
        const document = documentOfField(spellings.join(' '));
        const errors = validationErrors(schema, document);
        expect(summary(await surfaces[surface]({ query: document }))).toEqual(refusal(errors));
      }
    }
  });

  test('suggests no hidden argument or input field', async () => {
    for (const document of [
      '{ memberByEmail(email: "x", partnerId: "beta") { memberId } }',
      '{ memberProfile(id: "x", partnerId: "beta") { memberId } }',
      'mutation { enrollMember(input: { email: "x", memberId: "m-beta" }) { created } }',
    ]) {
      expect(summary(await surfaces[surface]({ query: document }))).toEqual(
        refusal(validationErrors(schema, document)),
      );
    }
  });
});

describe('introspection', () => {
  test.each([
    undefined,
    {
      descriptions: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
      specifiedByUrl: true,
    },
  ])('with a partner key shows exactly the partner surface', async (options) => {
    const { status, body } = await service.send({ query: getIntrospectionQuery(options) });
    expect(status).toBe(200);
    // Cast: the result of an introspection query describes a schema.
    const visible = buildClientSchema(body.data as never);
    expect(sortedSdl(visible)).toBe(sortedSdl(PARTNER));
    if (options !== undefined) expect(specifications(visible)).toEqual(specifications(PARTNER));
  });

  test('shows hidden types as null, like misspelt ones', async () => {
    for (const { name } of TYPES) {
      const { body } = await service.send({ query: `{ __type(name: "${name}") { name } }` });
      expect(body).toEqual({ data: { __type: PARTNER.getType(name) ? { name } : null } });
    }
  });

  test('works beside a look-up in one operation', async () => {
    const query =
      '{ a: memberByEmail(email: "both@example.com") { memberId __typename } __schema { queryType { name } } __typename }';
    const { text } = await service.send({ query });
    expect(text).toBe(
      '{"data":{"a":{"memberId":"m-both","__typename":"PartnerMemberRead"},"__schema":{"queryType":{"name":"Query"}},"__typename":"Query"}}',
    );
  });
});

test('a hidden field and a misspelt one get the same response, byte for byte except for their names', async () => {
  const pairs: [
    surface: 'partner' | 'member',
    hidden: string,
    misspelt: string,
    document: (field: string) => string,
  ][] = [
    [
      'partner',
      'memberProfile',
      'memberProfilx',
      (field) => `{ ${field}(id: "m-both") { email } }`,
    ],
    [
      'member',
      'activePartnerIds',
      'activePartnerIdx',
      (field) => `{ memberProfile(id: "m-both") { ${field} } }`,
    ],
  ];
  for (const [surface, hidden, misspelt, document] of pairs) {
    const one = await surfaces[surface]({ query: document(hidden), requestId: 'r' });
    const other = await surfaces[surface]({ query: document(misspelt), requestId: 'r' });
    expect([one.status, one.code]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
    expect(one.text.replaceAll(hidden, misspelt)).toBe(other.text);
    expect([...one.headers.keys()]).toEqual([...other.headers.keys()]);
  }
});

/** The status, the code and the messages in order. */
function summary({ status, code, body }: ApiResponse) {
  return { status, code, messages: body.errors?.map(({ message }) => message) };
}

function refusal(messages: string[]) {
  return { status: 400, code: 'GRAPHQL_VALIDATION_FAILED', messages };
}

/** The errors of graphql-js for a document, on a schema without hidden parts. */
function validationErrors(schema: GraphQLSchema, document: string): string[] {
  const parsed = parse(document);
  const [operation] = parsed.definitions;
  const rootless =
    operation?.kind === 'OperationDefinition' && !schema.getRootType(operation.operation)
      ? [`The schema has no ${operation.operation} type.`]
      : [];
  return [...validate(schema, parsed).map(({ message }) => message), ...rootless];
}

function isVisible(schema: GraphQLSchema, type: string, field: string): boolean {
  const found = schema.getType(type);
  return isObjectType(found) && field in found.getFields();
}

function rootOf(surface: 'partner' | 'member'): string {
  return surface === 'partner' ? 'PartnerMemberRead' : 'MemberProfile';
}

/** The scalars, each with the URL of its specification. */
function specifications(schema: GraphQLSchema) {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isScalarType(type) && !isSpecifiedScalarType(type) ? [[type.name, type.specifiedByURL]] : [],
  );
}

/** A schema as sorted SDL, without descriptions and specifications. */
function sortedSdl(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema))
    .replace(/^ *"""[\s\S]*?"""$/gm, '')
    .replace(/ @specifiedBy\(.*\)/g, '')
    .replace(/\n{2,}/g, '\n')
    .trim();
}
