// What changes mean to the callers of each surface, and whose use they affect.
import type { FieldUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import { type SurfaceSchemas, servedSurfaces, surfaceChanges, surfaceSchemas } from './changes.ts';
import { composeSupergraph } from './compose.ts';
import { CompositionError } from './faults.ts';
import { withUsage } from './inuse.ts';

// `@partner` and `@member` stand for the tags of these surfaces.
const SDL = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])
  type Query {
    book(id: ID!, edition: Int = 1, filter: Filter): Book @partner
    shelf: Shelf @partner @member
    find: [Found!] @partner
    secret: Int
  }
  type Mutation {
    lend(input: Filter): Shelf @partner
  }
  type Book {
    id: ID! @partner
    title: String @partner
    genre: Genre @partner
    pages: Int! @partner
  }
  type Shelf {
    size: Int! @partner @member
    lock: String @member
  }
  input Filter { genre: Genre  word: String }
  enum Genre { NOVEL POEM }
  union Found = Book | Shelf
`;

const schemasOf = (sdl: string): SurfaceSchemas =>
  surfaceSchemas(
    composeSupergraph([
      {
        name: 'library',
        sdl: sdl.replace(/@(partner|member)/g, '@tag(name: "$1")'),
        file: 'library.graphql',
      },
    ]),
  );
const before = schemasOf(SDL);
const after = (from: string, to: string) => {
  expect(SDL).toContain(from);
  return schemasOf(SDL.replace(from, to));
};

/** Each change is its surface, its level and its coordinate, with whose use it affects. */
test.each<[what: string, from: string, to: string, ...changes: string[]]>([
  ['nothing', 'secret: Int', 'secret: Int'],
  ['a field of no surface', 'secret: Int', 'secret: String'],
  ['a new field', 'secret: Int', 'secret: Int  total: Int @member', 'member safe Query.total'],
  [
    'a new type, as one change for each of what leads to it and itself',
    'lock: String @member',
    'lock: String @member  owner: Owner @member }  type Owner { name: String @member',
    'member safe Owner',
    'member safe Shelf.owner',
  ],
  ['a removed field', 'title: String @partner', '', 'partner breaking Book.title: Book.title'],
  [
    'a tag that moves to the other surface',
    'lock: String @member',
    'lock: String @partner',
    'partner safe Shelf.lock',
    'member breaking Shelf.lock: Shelf.lock',
  ],
  [
    'a field of both surfaces',
    'size: Int!',
    'size: String!',
    'partner breaking Shelf.size: Shelf.size',
    'member breaking Shelf.size: Shelf.size',
  ],
  [
    'a field that may be null',
    'pages: Int!',
    'pages: Int',
    'partner breaking Book.pages: Book.pages',
  ],
  ['a field that is never null', 'title: String', 'title: String!', 'partner safe Book.title'],
  [
    'a field of another type that is described now',
    'pages: Int!',
    '"How many." pages: String!',
    'partner breaking Book.pages: Book.pages',
    'partner safe Book.pages',
  ],
  [
    'a removed field of a type that is described and implements an interface now',
    'type Book {\n    id: ID! @partner\n    title: String @partner',
    'interface Thing { id: ID! @partner } "Printed." type Book implements Thing { id: ID! @partner',
    'partner breaking Book.title: Book.title',
    'partner dangerous Book',
    'partner safe Thing',
    'partner safe Book',
  ],
  ['a deprecated argument', '= 1, ', '= 1 @deprecated, ', 'partner safe Query.book(edition:)'],
  ['a deprecated field', 'title: String', 'title: String @deprecated', 'partner safe Book.title'],
  ['a new optional argument', '= 1', '= 1, copy: Int', 'partner dangerous Query.book(copy:)'],
  [
    'a new required argument, which every use of the field lacks',
    'edition: Int = 1',
    'edition: Int = 1, copy: Int!',
    'partner breaking Query.book(copy:): Query.book',
  ],
  [
    'an argument that becomes required',
    'filter: Filter): Book',
    'filter: Filter!): Book',
    'partner breaking Query.book(filter:): Query.book',
  ],
  [
    'a removed argument',
    'edition: Int = 1, ',
    '',
    'partner breaking Query.book(edition:): Query.book(edition:)',
  ],
  [
    'an argument of another type',
    'edition: Int = 1',
    'edition: String = "1"',
    'partner breaking Query.book(edition:): Query.book(edition:)',
    'partner dangerous Query.book(edition:)',
  ],
  ['another default', '= 1', '= 2', 'partner dangerous Query.book(edition:)'],
  ['a removed input field', 'word: String', '', 'partner breaking Filter.word: Filter.word'],
  [
    'an input field that becomes required, which every use of the input may lack',
    'word: String',
    'word: String!',
    'partner breaking Filter.word: Filter.genre Filter.word Mutation.lend(input:) Query.book(filter:)',
  ],
  [
    'a removed enum value, which concerns what has the enum as its type',
    'NOVEL POEM',
    'NOVEL',
    'partner breaking Genre.POEM: Book.genre Filter.genre',
  ],
  ['a new enum value', 'NOVEL POEM', 'NOVEL POEM ESSAY', 'partner dangerous Genre.ESSAY'],
  ['a removed member of a union', ' | Shelf', '', 'partner breaking Found: Query.find'],
  [
    'a removed root type',
    '  type Mutation {\n    lend(input: Filter): Shelf @partner\n  }',
    '',
    'partner breaking Mutation: Mutation.lend',
  ],
])('%s', async (_what, from, to, ...changes) => {
  const found = await surfaceChanges(before, after(from, to));
  const texts = found.map(({ surface, level, coordinate, affected }) => {
    const change = `${surface} ${level} ${coordinate}`;
    return affected.length > 0 ? `${change}: ${[...affected].sort().join(' ')}` : change;
  });
  expect(texts).toEqual(changes);
});

test('a breaking change has the callers that used it on its surface, the most frequent first', async () => {
  const changes = await surfaceChanges(before, after('size: Int!', 'size: String!'));
  const used = (surface: FieldUsage['surface'], partnerId: string | undefined, count: number) => ({
    day: '2031-05-17',
    surface,
    partnerId,
    coordinate: 'Shelf.size',
    count,
  });
  const usage: FieldUsage[] = [
    used('partner', 'acme', 2),
    { ...used('partner', 'acme', 3), day: '2031-05-18' },
    used('partner', 'blue', 9),
    used('member', undefined, 1),
    { ...used('partner', 'pub', 7), coordinate: 'Shelf.lock' },
  ];
  expect(withUsage(changes, usage)).toMatchObject([
    {
      surface: 'partner',
      usedBy: [
        { partnerId: 'blue', count: 9 },
        { partnerId: 'acme', count: 5 },
      ],
    },
    { surface: 'member', usedBy: [{ count: 1 }] },
  ]);
});

test('of several coordinates that one change affects, a caller has the count of the one used most', async () => {
  const changes = await surfaceChanges(before, after('NOVEL POEM', 'NOVEL'));
  const use = (coordinate: string, count: number): FieldUsage => ({
    day: '2031-05-17',
    surface: 'partner',
    partnerId: 'acme',
    coordinate,
    count,
  });
  expect(withUsage(changes, [use('Book.genre', 4), use('Filter.genre', 6)])).toMatchObject([
    { coordinate: 'Genre.POEM', usedBy: [{ partnerId: 'acme', count: 6 }] },
  ]);
});

test('a surface that shows a type without visible fields is a fault', () => {
  const sdl = SDL.replaceAll(/(size|lock): (\S+).*/g, '$1: $2');
  expect(() => schemasOf(sdl)).toThrow(
    'the partner surface: Mutation shows Shelf, which has no visible field on the partner surface',
  );
});

/** The schemas with another field of no surface, and other types. */
const withMore = (field: string, types = '') =>
  schemasOf(SDL.replace('secret: Int', `secret: Int ${field}`) + types);

test.each(['{a: [1, {}]}', '[{}, 1]', '9007199254740993'])(
  'the default value %s of a custom scalar is no fault, and no change',
  async (value) => {
    const field = `later(filter: Any = ${value}, all: [Any] = ${value}): Int @partner`;
    const [one, other] = [withMore(field, 'scalar Any'), withMore(field, 'scalar Any scalar More')];
    expect(await surfaceChanges(one, other)).toEqual([]);
  },
);

test.each([
  ['enum', 'enum Level { LOW HIGH }'],
  ['scalar', 'scalar Level'],
  ['input', 'input Level { at: Depth } enum Depth { LOW }'],
])(
  "a subgraph's own directive may have an argument of an %s type, which callers do not see",
  (_, type) => {
    const sdl = SDL.replace('"@tag"]', '"@tag", "@composeDirective"]').replace(
      'secret: Int',
      'secret: Int @audit',
    );
    const { partner, member } = schemasOf(`${sdl}
    extend schema @link(url: "https://acme.example/audit/v1.0", import: ["@audit"])
      @composeDirective(name: "@audit")
    directive @audit(level: Level, all: [Level!]) on FIELD_DEFINITION
    ${type}`);
    for (const schema of [partner, member])
      expect([schema.getType('Level'), schema.getDirective('audit')]).toEqual([
        undefined,
        undefined,
      ]);
  },
);

test('what no gateway could build is a fault', () => {
  const field = 'later(of: Of): Int @partner';
  expect(() => withMore(field, 'input Of { of: Of = {} }')).toThrow(CompositionError);
});

test('a default value is compared as it is written, without those of its fields', async () => {
  const inputs = [0, 1, 2].map((n) => `input I${n} { a: I${n + 1} = {} b: I${n + 1} = {} }`);
  const [one, other] = [4, 5].map((value) =>
    withMore(
      'later(of: I0 = {}): Int @partner',
      `${inputs.join(' ')} input I3 { a: Int = ${value} }`,
    ),
  );
  const changes = one && other && (await surfaceChanges(one, other));
  expect(changes?.map(({ message }) => message)).toEqual([
    "Input field 'I3.a' default value changed from '4' to '5'",
  ]);
});

test.each(['', 'as: "marks",'])(
  'a link whose URL contains that of hiding is refused, since nothing would be hidden: %s',
  (as) => {
    const sdl = `extend schema
      @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@tag", "@composeDirective"])
      @link(url: "https://other.example/specs.apollo.dev/inaccessible/v0.1", ${as} import: ["@mark"])
      @composeDirective(name: "@mark")
      directive @mark on FIELD_DEFINITION
      type Query { shown: Int @tag(name: "partner") @tag(name: "member") @mark  hidden: Int }`;
    const supergraph = composeSupergraph([{ name: 'a', sdl, file: 'a' }]);
    expect(() => servedSurfaces(supergraph)).toThrow(CompositionError);
  },
);
