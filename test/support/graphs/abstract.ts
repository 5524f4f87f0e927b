// Graphs of interfaces and unions, whose types some of the subgraphs do not know.
import type { Data, TestGraph } from './graph.ts';

const people = [
  { id: 'u1', kind: 'person', name: 'one' },
  { id: 'u2', kind: 'person', name: null },
];
const robots = [{ id: 'r1', kind: 'machine', model: 'T' }];
const accounts = [
  ...people.map((each) => ({ __typename: 'User', ...each })),
  ...robots.map((each) => ({ __typename: 'Robot', ...each })),
];

/** Subgraphs that know accounts, but not which types of them there are. */
export const interfaceObject: TestGraph = {
  subgraphs: {
    accounts: {
      sdl: `
        type Query { accounts: [Account]! users: [User!]! account(id: ID!): Account }
        interface Account @key(fields: "id") { id: ID! kind: String! }
        type User implements Account @key(fields: "id") { id: ID! kind: String! name: String }
        type Robot implements Account @key(fields: "id") { id: ID! kind: String! model: String }`,
      roots: {
        accounts: [accounts[0], null, accounts[2]],
        users: people,
        account: ({ id }: Data) => accounts.find((account) => account.id === id),
      },
      entities: { User: people, Robot: robots },
    },
    logins: {
      sdl: `
        type Query { latest: [Account!]! first: Account }
        type Account @key(fields: "id") @interfaceObject { id: ID! logins(last: Int = 3): Int }`,
      roots: { latest: [{ id: 'r1' }, { id: 'u1' }], first: { id: 'u2' } },
      entities: {
        Account: ['u1', 'u2', 'r1'].map((id) => ({
          id,
          logins({ last }: Data) {
            if (id === 'r1' && last === 13) throw new Error('unlucky');
            return last;
          },
        })),
      },
    },
    scores: {
      sdl: `
        type Account @key(fields: "id") @interfaceObject {
          id: ID! logins(last: Int = 3): Int @external
          score: Int @requires(fields: "logins(last: 30)") }`,
      entities: {
        Account: ['u1', 'r1'].map((id) => ({
          id,
          score(this: Data) {
            return Number(this.logins) * 2;
          },
        })),
      },
    },
  },
  values: { id: ['u1', 'u2', 'r1', 'x'], last: [1, 2, 13] },
  operations: [
    '{ latest { __typename id kind ... on Robot { model } } }',
    '{ latest { score } first { kind ... on User { name } } }',
    '{ account(id: "u1") { ... on User { name score } } }',
    '{ accounts { id: kind kind: id __typename t: __typename ... on User { as__id: name } } }',
  ],
  stockIsWrong: [
    {
      query: '{ users { score logins(last: 7) } }',
      data: {
        users: [
          { score: 60, logins: 7 },
          { score: null, logins: 7 },
        ],
      },
      why: 'a field that is required with other arguments gets the name that the caller gave it',
    },
  ],
};

/** A field of an interface object that requires one of the types behind it. */
export const interfaceObjectRequires: TestGraph = {
  subgraphs: {
    accounts: {
      sdl: `
        type Query { accounts: [Account]! users: [User!]! }
        interface Account @key(fields: "id") { id: ID! kind: String! }
        type User implements Account @key(fields: "id") { id: ID! kind: String! name: String }
        type Robot implements Account @key(fields: "id") { id: ID! kind: String! model: String }`,
      roots: { accounts, users: people },
      entities: { User: people, Robot: robots },
    },
    visits: {
      sdl: `
        type Query { last: Account }
        type Account @key(fields: "id") @interfaceObject { id: ID! visits: Int }`,
      roots: { last: { id: 'r1', visits: 1 } },
      entities: { Account: [{ id: 'r1', visits: 1 }] },
    },
    labels: {
      sdl: `
        type Query { first: Account }
        type Account @key(fields: "id") @interfaceObject {
          id: ID! kind: String! @external label: String @requires(fields: "kind") }`,
      roots: { first: { id: 'u1' } },
      entities: {
        Account: ['u1', 'r1'].map((id) => ({
          id,
          label(this: Data) {
            return `a ${this.kind}`;
          },
        })),
      },
    },
  },
  operations: [
    '{ first { label } }',
    '{ first { id label ... on User { name } } }',
    '{ users { label kind } accounts { label ... on Robot { model } } }',
    '{ last { visits label kind } }',
  ],
  writtenOnly: "Apollo's planner never ends, or gives up, for some operations on such a field",
};

const books = [
  { __typename: 'Book', id: 'b1', title: 'Sand', pages: 100 },
  { __typename: 'Book', id: 'b2', title: null, pages: 20 },
];
const toys = [{ __typename: 'Toy', id: 't1', title: 'Top', age: 3 }];
const stockOf = (id: string) => ({ id, inStock: id.length + Number(id.slice(1)) });

/** An interface in several subgraphs, with other fields and other implementations in each. */
export const interfaces: TestGraph = {
  subgraphs: {
    catalog: {
      sdl: `
        type Query { items: [Item!]! item(id: ID!): Item pairs: [[Item]] }
        interface Item { id: ID! title: String }
        interface Printed { id: ID! pages: Int }
        type Book implements Item & Printed @key(fields: "id") { id: ID! title: String pages: Int }
        type Toy implements Item @key(fields: "id") { id: ID! title: String age: Int! similar: [Item] }`,
      roots: {
        items: [...books, ...toys],
        item: ({ id }: Data) => [...books, ...toys].find((item) => item.id === id),
        pairs: [[books[0], toys[0]], null, [null, books[1]]],
      },
      entities: { Book: books, Toy: toys.map((toy) => ({ ...toy, similar: [books[0], null] })) },
    },
    warehouse: {
      sdl: `
        type Query { stocked: [Item] }
        interface Item { id: ID! inStock: Int }
        type Book implements Item @key(fields: "id") { id: ID! inStock: Int shelf: Shelf }
        type Toy implements Item @key(fields: "id") { id: ID! inStock: Int }
        type Shelf @key(fields: "name") { name: String! first: Item items: [Item!] }`,
      roots: {
        stocked: [
          { __typename: 'Toy', ...stockOf('t1') },
          { __typename: 'Book', ...stockOf('b1') },
        ],
      },
      entities: {
        Book: ['b1', 'b2'].map((id) => ({ ...stockOf(id), shelf: { name: 's' } })),
        Toy: [stockOf('t1')],
        Shelf: [
          {
            name: 's',
            first: { __typename: 'Book', ...stockOf('b2') },
            items: [{ __typename: 'Toy', ...stockOf('t1') }],
          },
        ],
      },
    },
    labels: {
      sdl: `
        type Shelf @key(fields: "name") { name: String! label: String! best: Labelled }
        interface Labelled { label: String! }
        type Book implements Labelled @key(fields: "id") { id: ID! label: String! }`,
      entities: {
        Shelf: [{ name: 's', label: 'S', best: { __typename: 'Book', id: 'b1', label: 'B' } }],
        Book: [{ id: 'b1', label: 'B' }],
      },
    },
  },
  values: { id: ['b1', 'b2', 't1', 'x'] },
  operations: [
    '{ items { id inStock ... on Printed { pages } ... on Book { shelf { label best { label } } } } }',
    '{ stocked { title inStock ... on Toy { age similar { inStock } } } }',
    '{ pairs { __typename title inStock } }',
  ],
};

const film = { __typename: 'Film', id: 'f1', title: 'Dune' };
const game = { __typename: 'Game', id: 'g1', title: 'Go' };
const novel = { __typename: 'Novel', id: 'n1', title: 'Emma' };
const named = (objects: readonly Data[]) =>
  objects.map(({ id, __typename }) => ({ id, __typename, price: `${id}!` }));

/** Unions that have other members in each subgraph. */
export const unions: TestGraph = {
  subgraphs: {
    left: {
      sdl: `
        type Query { left: [Any] shelf: Shelf! }
        union Any = Film | Novel
        type Shelf @key(fields: "id") { id: ID! left: [Any!] top: Any @shareable }
        type Film @key(fields: "id") { id: ID! title: String @shareable next: Any }
        type Novel @key(fields: "id") { id: ID! title: String @shareable }`,
      roots: { left: [film, null, novel], shelf: { id: 's', left: [novel, film], top: film } },
      entities: {
        Shelf: [{ id: 's', left: [novel, film], top: film }],
        Film: [{ ...film, next: novel }],
        Novel: [novel],
      },
    },
    right: {
      sdl: `
        type Query { right: [Any!]! }
        union Any = Film | Game
        type Shelf @key(fields: "id") { id: ID! right: [Any] top: Any @shareable }
        type Film @key(fields: "id") { id: ID! title: String @shareable }
        type Game @key(fields: "id") { id: ID! title: String owner: Shelf }`,
      roots: { right: [game, film] },
      entities: {
        Shelf: [{ id: 's', right: [game, null], top: film }],
        Film: [film],
        Game: [{ ...game, owner: { id: 's' } }],
      },
    },
    prices: {
      sdl: `
        type Film @key(fields: "id") { id: ID! price: String! }
        type Game @key(fields: "id") { id: ID! price: String }
        type Novel @key(fields: "id") { id: ID! price: String rank: Int }`,
      entities: {
        Film: named([film]),
        Game: named([game]),
        Novel: named([novel]).map((each) => ({ ...each, rank: 1 })),
      },
    },
  },
  operations: [
    '{ right { ... on Game { price owner { left { ... on Novel { rank } } right { __typename } } } } }',
    '{ shelf { top { ... on Film { p: price next { ... on Novel { price } } } } } }',
    '{ left { __typename ... on Film { title p: price } ... on Novel { title price } ... on Game { title } } }',
  ],
};
