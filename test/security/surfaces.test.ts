// Every field of the graph on every surface: either it is there, or it seems not to exist.
import { readFileSync } from 'node:fs';
import { SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
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

const ROOTS = ['Query', 'Mutation'];

/** What root fields are called with. Those that no surface has need nothing. */
const ARGUMENTS: Record<string, string> = {
  memberByEmail: '(email: "both@example.com")',
  memberByExternalId: '(externalId: "shared-1")',
  memberById: '(memberId: "m-both")',
  memberLookups: '(keys: [{ memberId: "m-both" }])',
  node: '(id: "m-both")',
  sandboxMails: '(email: "a@inbox.test")',
  memberProfile: '(id: "m-both")',
  enrollMember: '(input: { email: "both@example.com" })',
  inviteMember: '(input: { email: "both@example.com" })',
  changeExternalId: '(memberId: "m-alpha", externalId: "alpha-2")',
  updateMember: '(memberId: "m-alpha", input: {})',
  updateProfile: '(input: {})',
  endEnrollment: '(memberId: "m-beta")',
  requestMagicLink: '(email: "both@example.com")',
  exchangeMagicLink: '(token: "ml_none")',
  requestEmailChange: '(email: "next@example.com")',
  confirmEmailChange: '(token: "ec_none")',
  recordActivities: `(activities: [
    { activityId: "s-1", memberId: "m-both", points: 0, occurredAt: "2026-01-01T00:00:00Z" }])`,
};

/** The shortest document that leads to a type, around a selection of it. */
function wayTo(name: string, schema: GraphQLSchema): ((selection: string) => string) | undefined {
  const seen = new Set<string>();
  const ways = [
    { type: schema.getQueryType(), open: 'query {', close: '}' },
    { type: schema.getMutationType(), open: 'mutation {', close: '}' },
  ] as { type: GraphQLObjectType | GraphQLInterfaceType; open: string; close: string }[];
  for (const { type, open, close } of ways) {
    if (type.name === name) return (selection) => `${open} ${selection} ${close}`;
    for (const field of Object.values(type.getFields())) {
      const next = getNamedType(field.type);
      if (!(isObjectType(next) || isInterfaceType(next)) || seen.has(next.name)) continue;
      seen.add(next.name);
      const call = field.name + (ROOTS.includes(type.name) ? (ARGUMENTS[field.name] ?? '') : '');
      ways.push({ type: next, open: `${open} ${call} {`, close: `${close} }` });
    }
  }
  return undefined;
}

function documentOf(schema: GraphQLSchema, [type, field]: [string, string]): string {
  const way = wayTo(type, schema) ?? wayTo(type, GRAPH);
  const of = GRAPH.getType(type);
  const isLeaf = !isObjectType(of) || isLeafType(getNamedType(of.getFields()[field]?.type));
  const call =
    field +
    (ROOTS.includes(type) ? (ARGUMENTS[field] ?? '') : '') +
    (isLeaf ? '' : ' { __typename }');
  return way?.(call) ?? `{ ${call} }`;
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
      const document = documentOf(schema, [type, field]);
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
        wayTo(surface === 'partner' ? 'PartnerMemberRead' : 'MemberProfile', schema) ?? String,
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
});

test.each([
  [
    'partner',
    'memberProfile',
    'memberProfilx',
    (field: string) => `{ ${field}(id: "m-both") { email } }`,
  ],
  [
    'member',
    'activePartnerIds',
    'activePartnerIdx',
    (field: string) => `{ memberProfile(id: "m-both") { ${field} } }`,
  ],
] as const)('on the %s surface, %s gets the response of %s, byte for byte', async (...each) => {
  const [surface, hidden, misspelt, document] = each;
  const one = await surfaces[surface]({ query: document(hidden), requestId: 'r' });
  const other = await surfaces[surface]({ query: document(misspelt), requestId: 'r' });
  expect([one.status, one.code]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
  expect(one.text.replaceAll(hidden, misspelt)).toBe(other.text);
  expect([...one.headers.keys()]).toEqual([...other.headers.keys()]);
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
