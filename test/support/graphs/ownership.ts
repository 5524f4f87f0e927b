// Graphs that say which subgraph resolves a field, and which fields callers see.
import type { Data, TestGraph } from './graph.ts';

const emma = { id: 'n1', title: 'Emma', author: { id: 'a1', name: 'Jane' } };

/** Fields that a subgraph provides on some paths only. */
export const provides: TestGraph = {
  subgraphs: {
    books: {
      sdl: `
        type Query { books: [Book] any: [Media] union: [Any] }
        interface Media { id: ID! title: String }
        union Any = Book | Film
        type Book implements Media @key(fields: "id") { id: ID! title: String @shareable author: Author @shareable }
        type Film implements Media @key(fields: "id") { id: ID! title: String @shareable }
        type Author @key(fields: "id") { id: ID! name: String @shareable }`,
      roots: {
        books: [emma, null],
        any: [{ __typename: 'Book', ...emma }],
        union: [{ __typename: 'Film', id: 'f1', title: 'Dune' }],
      },
      entities: {
        Book: [emma],
        Film: [{ id: 'f1', title: 'Dune' }],
        Author: [{ id: 'a1', name: 'Jane' }],
      },
    },
    featured: {
      sdl: `
        type Query {
          best: Book @provides(fields: "title author { name }") plain: Book
          media: [Media!] @provides(fields: "... on Book { title }")
          things: [Any] @provides(fields: "... on Film { title }") }
        interface Media { id: ID! }
        union Any = Book | Film
        type Book implements Media @key(fields: "id") {
          id: ID! title: String @external author: Author @external rank: Int related: [Book!] @provides(fields: "title") }
        type Film implements Media @key(fields: "id") { id: ID! title: String @external rank: Int }
        type Author @key(fields: "id") { id: ID! name: String @external }`,
      roots: {
        best: { ...emma, rank: 1, related: [{ id: 'n1', title: 'Emma', rank: 1 }] },
        plain: { id: 'n1', rank: 2 },
        media: [
          { __typename: 'Book', ...emma, rank: 3 },
          { __typename: 'Film', id: 'f1', rank: 4 },
        ],
        things: [{ __typename: 'Film', id: 'f1', title: 'Dune', rank: 5 }, null],
      },
      entities: {
        Book: [{ id: 'n1', rank: 6, related: [{ id: 'n1', title: 'Emma' }] }],
        Film: [{ id: 'f1', rank: 7 }],
      },
    },
  },
  operations: [
    '{ best { title author { name } } plain { title author { name } } }',
    '{ media { id ... on Book { title rank } ... on Film { title rank } } }',
    '{ things { ... on Film { title } ... on Book { related { title author { name } } } } }',
  ],
};

/** Fields that moved to another subgraph, whole or in part, and that others require. */
export const override: TestGraph = {
  subgraphs: {
    old: {
      sdl: `
        type Query { things: [Thing!]! moved: String }
        type Thing @key(fields: "id") { id: ID! name: String size: Int color: String }`,
      roots: {
        things: [{ id: '1', name: 'old', size: 1, color: 'old' }],
        moved: 'from old',
      },
      entities: { Thing: [{ id: '1', name: 'old', size: 1, color: 'old' }] },
    },
    new: {
      sdl: `
        type Query { moved: String @override(from: "old") }
        type Thing @key(fields: "id") {
          id: ID! name: String @override(from: "old")
          color: String @override(from: "old", label: "percent(50)")
          size: Int @external area: Int @requires(fields: "size") }`,
      roots: { moved: 'from new' },
      entities: {
        Thing: [
          {
            id: '1',
            name: 'new',
            color: 'new',
            area(this: Data) {
              return Number(this.size) ** 2;
            },
          },
        ],
      },
    },
    other: {
      sdl: `
        type Query { thing: Thing gone: Thing @override(from: "nobody") }
        type Thing @key(fields: "id") {
          id: ID! name: String @external slogan: String @requires(fields: "name") }`,
      roots: { thing: { id: '1' }, gone: { id: '9' } },
      entities: {
        Thing: [
          {
            id: '1',
            slogan(this: Data) {
              return `${this.name}!`;
            },
          },
        ],
      },
    },
  },
  operations: ['{ things { name color area slogan } moved thing { slogan area } }'],
};

/** Types and root fields that several subgraphs resolve, or that none shows. */
export const shared: TestGraph = {
  subgraphs: {
    one: {
      sdl: `
        type Query { version: String @shareable here: Place! page: Page @shareable secret: Hidden @inaccessible }
        type Place @shareable { x: Int! y: Int! spot: Spot }
        type Spot @shareable { name: String }
        type Page { one: String both: Int @shareable }
        type Item @key(fields: "id") { id: ID! code: Int @inaccessible label: String }
        type Hidden @inaccessible { id: ID! }`,
      roots: {
        version: '1',
        here: { x: 1, y: 2, spot: { name: 'n' } },
        page: { one: '1', both: 3 },
      },
      entities: { Item: [{ id: 'i1', code: 9, label: 'L' }] },
    },
    two: {
      sdl: `
        type Query { version: String @shareable there: [Place] page: Page @shareable items: [Item!] }
        type Place @shareable { x: Int! y: Int! spot: Spot }
        type Spot @shareable { name: String }
        type Page { two: Place both: Int @shareable }
        type Item @key(fields: "id") {
          id: ID! code: Int @external doubled: Int @requires(fields: "code") place: Place hidden: Int @inaccessible }`,
      roots: {
        version: '1',
        there: [{ x: 3, y: 4, spot: { name: 'm' } }, null],
        page: { two: { x: 5, y: 6 }, both: 3 },
        items: [{ id: 'i1', place: { x: 7, y: 8 } }, { id: 'i2' }],
      },
      entities: {
        Item: [
          {
            id: 'i1',
            place: { x: 7, y: 8 },
            doubled(this: Data) {
              return Number(this.code) * 2;
            },
          },
        ],
      },
    },
  },
  operations: ['{ page { one two { x } both } items { doubled label place { y } } version }'],
};

const SHIRTS = [
  { id: 's1', size: 'SMALL', tone: 'DARK' },
  { id: 's2', size: 'HUGE', tone: 'SECRET' },
];

/** Enums and inputs: what all subgraphs take, and what any of them gives. */
export const values: TestGraph = {
  subgraphs: {
    shirts: {
      sdl: `
        type Query {
          shirts(filter: Filter): [Shirt!] bySize(sizes: [Wanted!]! = [SMALL]): [Shirt] echo(text: String = "a"): String }
        type Mutation { order(id: ID!, filter: Filter): Shirt cancel(id: ID!): String }
        type Shirt @key(fields: "id") { id: ID! size: Size tone: Tone fits(filter: Filter): Boolean! }
        enum Size { SMALL BIG HUGE }
        enum Tone { DARK LIGHT SECRET @inaccessible }
        enum Wanted { SMALL BIG }
        input Filter { size: Wanted! = SMALL limit: Int own: String nested: Filter }`,
      roots: {
        shirts: ({ filter }: Data) => SHIRTS.slice(0, Number((filter as Data | null)?.limit ?? 2)),
        bySize: ({ sizes }: Data) => (sizes as string[]).map((size) => ({ id: 's1', size })),
        echo: ({ text }: Data) => text,
        order: ({ id }: Data) => SHIRTS.find((shirt) => shirt.id === id),
        cancel: ({ id }: Data) => `cancelled ${id}`,
      },
      entities: {
        Shirt: SHIRTS.map((shirt) => ({
          ...shirt,
          fits: ({ filter }: Data) => (filter as Data | null)?.size === 'SMALL',
        })),
      },
    },
    stock: {
      sdl: `
        type Query { left(filter: Filter!): Int }
        type Mutation { refill(id: ID!): Shirt }
        type Shirt @key(fields: "id") { id: ID! left(wanted: Wanted = BIG, filter: Filter): Int wants: Size }
        enum Size { SMALL BIG TINY }
        enum Wanted { BIG SMALL OTHER }
        input Filter { size: Wanted! = SMALL limit: Int nested: Filter }`,
      roots: {
        left: ({ filter }: Data) => (filter as Data).limit,
        refill: ({ id }: Data) => ({ id, wants: 'TINY', left: 100 }),
      },
      entities: {
        Shirt: SHIRTS.map(({ id }) => ({
          id,
          wants: 'TINY',
          left: ({ wanted, filter }: Data) =>
            (wanted === 'BIG' ? 1 : 2) * Number((filter as Data | null)?.limit ?? 10),
        })),
      },
    },
  },
  values: {
    filter: [{ size: 'SMALL', limit: 1 }, { limit: 2, nested: { size: 'BIG' } }, null],
    sizes: [['SMALL', 'BIG'], []],
    wanted: ['SMALL', 'BIG'],
    id: ['s1', 's2', 'x'],
    text: ['b'],
  },
  operations: [
    'mutation { a: order(id: "s1") { left wants } refill(id: "s2") { size tone left } cancel(id: "x") }',
    'mutation { refill(id: "x") { left size } a: cancel(id: "1") b: cancel(id: "1") }',
    '{ shirts { size tone fits(filter: { size: BIG }) wants } }',
  ],
};
