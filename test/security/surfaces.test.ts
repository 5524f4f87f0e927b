// Every coordinate of the graph on every surface: there, or as if it had never been.
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
  lexicographicSortSchema,
  parse,
  printSchema,
  validate,
} from 'graphql';
import type { Answer, Client } from '../support/service/client.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';

// What the contract shows to each (section 3), written here a second time on purpose.
const PARTNER = buildSchema(`
  type Query { memberByEmail(email: String!): PartnerMemberRead  memberByExternalId(externalId: String!): PartnerMemberRead }
  type Mutation { enrollMember(input: EnrollMemberInput!): EnrollMemberPayload  endEnrollment(memberId: ID!): EndEnrollmentPayload
    requestMagicLink(email: String!): RequestMagicLinkPayload  exchangeMagicLink(token: String!): MagicLinkSession }
  type PartnerMemberRead { memberId: ID!  email: String!  firstName: String  lastName: String  tier: String!  points: Int! }
  input EnrollMemberInput { email: String!  externalId: String  firstName: String  lastName: String }
  type EnrollMemberPayload { member: PartnerMemberRead!  created: Boolean! }
  type EndEnrollmentPayload { memberId: ID! }
  type RequestMagicLinkPayload { accepted: Boolean! }
  type MagicLinkSession { memberId: ID!  idToken: String!  expiresAt: String! }
`);
const MEMBER = buildSchema(`
  type Query { memberProfile(id: ID!): MemberProfile }
  type Mutation { requestEmailChange(email: String!): RequestEmailChangePayload  confirmEmailChange(token: String!): MemberProfile }
  type MemberProfile { memberId: ID!  email: String!  firstName: String  lastName: String
    membershipYearStats: MembershipYearStats!  partnerStandings: [PartnerStanding!]! }
  type MembershipYearStats { akinPoints: Int!  totalStays: Int! }
  type PartnerStanding { partnerId: ID!  tier: String!  points: Int! }
  type RequestEmailChangePayload { accepted: Boolean! }
`);

/** A document that selects a field of a type, on whatever surface. */
const SELECTIONS: Record<string, (field: string) => string> = {
  Query: (field) => `{ ${withArguments(field)} }`,
  Mutation: (field) => `mutation { ${withArguments(field)} }`,
  PartnerMemberRead: (field) => `{ memberByEmail(email: "both@example.com") { ${field} } }`,
  EnrollMemberPayload: (field) =>
    `mutation { enrollMember(input: { email: "both@example.com" }) { ${withArguments(field)} } }`,
  EndEnrollmentPayload: (field) => `mutation { endEnrollment(memberId: "m-beta") { ${field} } }`,
  MemberProfile: (field) => `{ memberProfile(id: "m-both") { ${withArguments(field)} } }`,
  MembershipYearStats: (field) =>
    `{ memberProfile(id: "m-both") { membershipYearStats { ${field} } } }`,
  RequestMagicLinkPayload: (field) =>
    `mutation { requestMagicLink(email: "both@example.com") { ${field} } }`,
  MagicLinkSession: (field) => `mutation { exchangeMagicLink(token: "ml_none") { ${field} } }`,
  RequestEmailChangePayload: (field) =>
    `mutation { requestEmailChange(email: "next@example.com") { ${field} } }`,
  ConfirmedChange: (field) => `mutation { confirmChange(token: "ec_none") { ${field} } }`,
  PartnerStanding: (field) => `{ memberProfile(id: "m-both") { partnerStandings { ${field} } } }`,
};

const ARGUMENTS: Record<string, string> = {
  memberByEmail: '(email: "both@example.com") { memberId }',
  memberByExternalId: '(externalId: "shared-1") { memberId }',
  memberProfile: '(id: "m-both") { memberId }',
  enrollMember: '(input: { email: "both@example.com" }) { created }',
  endEnrollment: '(memberId: "m-beta") { memberId }',
  requestMagicLink: '(email: "both@example.com") { accepted }',
  exchangeMagicLink: '(token: "ml_none") { memberId }',
  requestEmailChange: '(email: "next@example.com") { accepted }',
  confirmEmailChange: '(token: "ec_none") { memberId }',
  signIn: '(token: "ml_none") { memberId }',
  confirmChange: '(token: "ec_none") { memberId }',
  undoChange: '(token: "eu_none") { memberId }',
  member: ' { memberId }',
  membershipYearStats: ' { totalStays }',
  partnerStandings: ' { tier }',
};

function withArguments(field: string): string {
  return field + (ARGUMENTS[field] ?? '');
}

/** Types and fields of the whole graph, what only the gateway may ask for included. */
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

let stage: Stage;
let surfaces: { partner: Client; member: Client };

beforeAll(async () => {
  stage = await startInProcess({ env: { RATE_LIMIT_BUDGET: '100000' } });
  // A key would do for the partner; the member's budget is 120, so that each question is another member's.
  let asked = 0;
  surfaces = {
    partner: stage.ask,
    member: async (ask) => {
      asked += 1;
      const member = asked < 100 ? 'm-both' : `m-${Math.floor(asked / 100)}`;
      return stage.ask({ ...ask, token: await stage.provider.issue(member) });
    },
  };
});
afterAll(() => stage.close());

const SURFACES = [
  { surface: 'partner', schema: PARTNER },
  { surface: 'member', schema: MEMBER },
] as const;

describe.each(SURFACES)('the $surface surface', ({ surface, schema }) => {
  test.each(COORDINATES)(
    '%s.%s is answered or unknown, as the contract says',
    async (type, field) => {
      const document = (SELECTIONS[type] ?? SELECTIONS.Query)?.(field) ?? '';
      const faults = faultsOf(schema, document);
      const shown = isShown(schema, type, field);
      expect(faults.length === 0).toBe(shown);
      const answer = await surfaces[surface]({ query: document });
      if (shown) expect([answer.status, answer.body.data]).toEqual([200, expect.anything()]);
      else expect(told(answer)).toEqual(refusal(faults));
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
  ])('does not know the type %s, nor suggests it', async (name) => {
    for (const spelt of [name, name.slice(0, -1), `${name}s`, name.toLowerCase()]) {
      for (const document of [
        `{ ... on ${spelt} { __typename } }`,
        `{ ...F } fragment F on ${spelt} { __typename }`,
        `query ($a: ${spelt}) { a(b: $a) }`,
      ]) {
        expect(told(await surfaces[surface]({ query: document }))).toEqual(
          refusal(faultsOf(schema, document)),
        );
      }
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
    expect(told(await surfaces[surface]({ query: document }))).toEqual(
      refusal(faultsOf(schema, document)),
    );
  });

  test('suggests what a schema without anything hidden suggests, for names close to hidden ones', async () => {
    const names = new Set([
      ...COORDINATES.map(([, field]) => field),
      '_entities',
      '_service',
      'signingKeys',
      'activePartnerIds',
    ]);
    for (const name of names) {
      for (const spelt of [
        name.slice(0, -1),
        `${name}s`,
        `x${name}`,
        name.toUpperCase(),
        name.slice(1),
      ]) {
        for (const document of [
          `{ ${spelt} }`,
          `mutation { ${spelt} }`,
          SELECTIONS[rootOf(surface)]?.(spelt) ?? '',
        ]) {
          expect(told(await surfaces[surface]({ query: document }))).toEqual(
            refusal(faultsOf(schema, document)),
          );
        }
      }
    }
  });

  test('suggests no hidden argument or input field', async () => {
    for (const document of [
      '{ memberByEmail(email: "x", partnerId: "beta") { memberId } }',
      '{ memberProfile(id: "x", partnerId: "beta") { memberId } }',
      'mutation { enrollMember(input: { email: "x", memberId: "m-beta" }) { created } }',
    ]) {
      expect(told(await surfaces[surface]({ query: document }))).toEqual(
        refusal(faultsOf(schema, document)),
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
    const { status, body } = await stage.ask({ query: getIntrospectionQuery(options) });
    expect(status).toBe(200);
    // Cast: the answer to the introspection query.
    const shown = buildClientSchema(body.data as never);
    expect(plain(shown)).toBe(plain(PARTNER));
  });

  test('shows what is hidden as null, like what is misspelt', async () => {
    for (const { name } of TYPES) {
      const { body } = await stage.ask({ query: `{ __type(name: "${name}") { name } }` });
      expect(body).toEqual({ data: { __type: PARTNER.getType(name) ? { name } : null } });
    }
  });

  test('is not for members', async () => {
    expect((await surfaces.member({ query: '{ __schema { queryType { name } } }' })).code).toBe(
      'INTROSPECTION_DISABLED',
    );
  });

  test('comes along with a read', async () => {
    const query =
      '{ a: memberByEmail(email: "both@example.com") { memberId __typename } __schema { queryType { name } } __typename }';
    const { text } = await stage.ask({ query });
    expect(text).toBe(
      '{"data":{"a":{"memberId":"m-both","__typename":"PartnerMemberRead"},"__schema":{"queryType":{"name":"Query"}},"__typename":"Query"}}',
    );
  });
});

test('a hidden field and a misspelt one answer byte for byte the same but for their own names', async () => {
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
      'partner',
      '_entities',
      '_entitiex',
      (field) => `{ ${field}(representations: []) { __typename } }`,
    ],
    ['partner', '_service', '_servicx', (field) => `{ ${field} { sdl } }`],
    [
      'partner',
      'activePartnerIds',
      'activePartnerIdx',
      (field) => `{ memberByEmail(email: "both@example.com") { ${field} } }`,
    ],
    [
      'member',
      'memberByExternalId',
      'memberByExternalIx',
      (field) => `{ ${field}(externalId: "shared-1") { email } }`,
    ],
    [
      'member',
      'activePartnerIds',
      'activePartnerIdx',
      (field) => `{ memberProfile(id: "m-both") { ${field} } }`,
    ],
    ['member', 'points', 'pointx', (field) => `{ memberProfile(id: "m-both") { ${field} } }`],
    [
      'member',
      'enrollMember',
      'enrollMembex',
      (field) => `mutation { ${field}(input: { email: "x@example.com" }) { created } }`,
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

test('an alias with the name of a hidden field shows what was asked for under it, never the field', async () => {
  const plain =
    'memberProfile(id: "m-both") { first: email partnerStandings { partnerId } second: email }';
  const token = await stage.provider.issue('m-both');
  const { body } = await stage.ask({ query: `{ ${plain} }`, token });
  const { first, partnerStandings } = Object(body.data?.memberProfile);
  expect(partnerStandings).not.toEqual([]);
  for (const name of ['activePartnerIds', '__typename', 'memberId']) {
    const under = await stage.ask({ query: `{ ${plain.replace('first', name)} }`, token });
    expect(under.text).toBe(
      `{"data":{"memberProfile":{"${name}":${JSON.stringify(first)},${JSON.stringify({ partnerStandings, second: first }).slice(1)}}}`,
    );
  }
  const { text } = await surfaces.partner({
    query: '{ memberByEmail(email: "both@example.com") { memberId: email tier email: memberId } }',
  });
  expect(text).toMatch(
    /^\{"data":\{"memberByEmail":\{"memberId":"[^"]*@[^"]*","tier":"[^"]*","email":"m-both"\}\}\}$/,
  );
});

/** The status, and the messages in their order. */
function told({ status, code, body }: Answer) {
  return { status, code, messages: body.errors?.map(({ message }) => message) };
}

function refusal(messages: string[]) {
  return { status: 400, code: 'GRAPHQL_VALIDATION_FAILED', messages };
}

/** What graphql-js finds wrong with a document on a schema that holds nothing to hide. */
function faultsOf(schema: GraphQLSchema, document: string): string[] {
  const parsed = parse(document);
  const [operation] = parsed.definitions;
  const rootless =
    operation?.kind === 'OperationDefinition' && !schema.getRootType(operation.operation)
      ? [`The schema has no ${operation.operation} type.`]
      : [];
  return [...validate(schema, parsed).map(({ message }) => message), ...rootless];
}

function isShown(schema: GraphQLSchema, type: string, field: string): boolean {
  const found = schema.getType(type);
  return isObjectType(found) && field in found.getFields();
}

function rootOf(surface: 'partner' | 'member'): string {
  return surface === 'partner' ? 'PartnerMemberRead' : 'MemberProfile';
}

/** A schema in SDL, sorted, without its descriptions. */
function plain(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema))
    .replace(/^ *"""[\s\S]*?"""$/gm, '')
    .replace(/\n{2,}/g, '\n');
}
