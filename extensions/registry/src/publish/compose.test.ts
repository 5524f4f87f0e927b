// Faults of schemas, with the files and lines they are about.
import { composeSupergraph } from './compose.ts';
import { CompositionError } from './faults.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])';
const BOOKS = `${LINK}
type Query {
  book: Book @tag(name: "partner")
}
type Book @key(fields: "id") {
  id: ID! @tag(name: "partner")
  title: String
  cover(size: Int!): String
}
`;

function faultsOf(reviews: string): readonly string[] {
  const link = reviews.includes('@link') ? '' : LINK;
  const sources = [
    { name: 'books', sdl: BOOKS, file: 'books.graphql' },
    { name: 'reviews', sdl: `${link}\n${reviews}`, file: 'some/reviews.graphql' },
  ];
  try {
    composeSupergraph(sources);
  } catch (error) {
    if (error instanceof CompositionError) return error.faults;
    throw error;
  }
  return [];
}

test.each<[string, string, RegExp[]]>([
  ['nothing', 'type Book @key(fields: "id") { id: ID! stars: Int @tag(name: "member") }', []],
  ['a syntax error', 'type Book {\n  id: ID!\n', [/^some\/reviews\.graphql:4:1: Syntax Error: /]],
  [
    'commands to a terminal in a description',
    'type Book @key(fields: "id") { id: ID!\n"\\u001b[2J" stars: Int }',
    [/^a description or another text has control characters$/],
  ],
  ['an unknown type', 'type Book {\n  id: Idd!\n}', [/^some\/reviews\.graphql:3:\d+: .*Idd/]],
  [
    'a subscription',
    'extend schema {\n subscription: Sub\n}\ntype Sub {\n  a: Int\n}',
    [/^some\/reviews\.graphql:3:2: subscriptions are not supported: use events/],
  ],
  [
    'requirements with other arguments, which no plan has both of',
    `type Book @key(fields: "id") {
      id: ID!  cover(size: Int!): String @federation__external
      a: Int @federation__requires(fields: "cover(size: 1)")
      b: Int @federation__requires(fields: "cover(size: 1)")
      c: Int @federation__requires(fields: "cover(size: 2)")
    }`,
    [
      /^some\/reviews\.graphql:6:7: Book\.c requires Book\.cover with other arguments than Book\.a,/,
    ],
  ],
  [
    'directives that no gateway enforces',
    'type Mutation {\n  a: Int @federation__authenticated\n  b: Int @requiresScopes(scopes: [["x"]])\n}',
    [
      /^some\/reviews\.graphql:3:10: @authenticated is not supported: use @tag\(name: "member"\)/,
      /^some\/reviews\.graphql:4:10: @requiresScopes is not supported: use @tag\(name: "scope-/,
    ],
  ],
  [
    "directives of its own that are named as federation's",
    `directive @policy(name: String) on FIELD_DEFINITION
    directive @my__context(name: String) on FIELD_DEFINITION
    type Mutation {
      a: Int @policy(name: "x") @my__context
    }`,
    [],
  ],
  [
    'directives that no gateway enforces, by other names',
    `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", as: "f",
      import: [{ name: "@policy", as: "@guard" }])
    directive @policy on FIELD_DEFINITION
    type Mutation {
      a: Int @guard(policies: [["x"]]) @policy
      b: Int @f__authenticated
    }`,
    [/: @policy is not supported: use @tag\(name: "scope-/, /: @authenticated is not supported/],
  ],
  [
    'two types of one field',
    'type Book @key(fields: "id") {\n  id: ID!\n  title: Int\n}',
    [
      /^books\.graphql:7:3, some\/reviews\.graphql:4:3: Type of field "Book\.title" is incompatible/,
      /^books\.graphql:7:3, some\/reviews\.graphql:4:3: Non-shareable field "Book\.title"/,
    ],
  ],
  ['a scope', 'type Mutation {\n  a: Int @tag(name: "partner") @tag(name: "scope-ingest")\n}', []],
  [
    'a scope that does not exist',
    'type Mutation {\n  a: Int @tag(name: "scope-write")\n}',
    [/^some\/reviews\.graphql:3:\d+: the @tag on a names no scope: read, enroll, sign-in, ingest$/],
  ],
  [
    'a scope below the root',
    'type Book @key(fields: "id") {\n  id: ID!\n  stars: Int @tag(name: "scope-read")\n}',
    [/^a @tag on Book\.stars names a scope, which only root fields have$/],
  ],
  [
    'a tag on a type, and one that names no surface',
    'type Book @key(fields: "id") @tag(name: "partner") {\n  id: ID!\n  stars: Int @tag(name: "prtner")\n}',
    [
      /^some\/reviews\.graphql:2:\d+: @tag is on Book, but belongs on fields only$/,
      /^some\/reviews\.graphql:4:\d+: the @tag on stars names no surface$/,
    ],
  ],
])('%s', (_what, reviews, expected) => {
  const faults = faultsOf(reviews);
  expect(faults).toHaveLength(expected.length);
  for (const [index, pattern] of expected.entries()) expect(faults[index]).toMatch(pattern);
});
