// Graphs whose entities have several keys, keys that are null, and lists of lists of references.
import type { Data, TestGraph } from './graph.ts';

const people = [
  { id: '1', email: 'one@x', org: { id: 'o' }, number: 7, age: 30 },
  { id: '2', email: null, org: null, number: 8, age: null },
];

/** Each subgraph knows an entity by another key, some of which are null. */
export const severalKeys: TestGraph = {
  subgraphs: {
    people: {
      sdl: `
        type Query { people: [Person]! person(id: ID!): Person }
        type Person @key(fields: "id") @key(fields: "email") @key(fields: "org { id } number") {
          id: ID! email: String org: Org number: Int! age: Int }
        type Org { id: ID! }`,
      roots: {
        people: [people[0], null, people[1]],
        person: ({ id }: Data) => people.find((person) => person.id === id),
      },
      entities: { Person: people },
    },
    mail: {
      sdl: `
        type Query { inbox: [Letter!] }
        type Letter { text: String from: Person to: [Person!] }
        type Person @key(fields: "email") { email: String letters: [Letter] unread: Int! }`,
      roots: {
        inbox: [
          { text: 'hi', from: { email: 'one@x' }, to: [{ email: 'one@x' }] },
          { text: null, from: { email: null }, to: null },
          { text: 'lost', from: { email: 'nobody' }, to: [{ email: 'nobody' }] },
        ],
      },
      entities: {
        Person: [
          { email: 'one@x', letters: [{ text: 'a', from: { email: 'one@x' } }, null], unread: 1 },
        ],
      },
    },
    badges: {
      sdl: `
        type Person @key(fields: "org { id } number") { org: Org number: Int! badge: String door: [[Door]] }
        type Org { id: ID! }
        type Door @key(fields: "code") { code: ID! }`,
      entities: {
        Person: [
          { org: { id: 'o' }, number: 7, badge: 'gold', door: [[{ code: 'd1' }, null], []] },
        ],
      },
    },
    doors: {
      sdl: `type Door @key(fields: "code") { code: ID! name: String! opens: [[Person!]!] }
            type Person @key(fields: "id", resolvable: false) { id: ID! }`,
      entities: { Door: [{ code: 'd1', name: 'front', opens: [[{ id: '1' }, { id: '2' }], []] }] },
    },
  },
  values: { id: ['1', '2', 'x'] },
  operations: [
    '{ inbox { text from { age badge } to { id unread } } }',
    '{ people { badge unread door { name opens { email badge } } } }',
    '{ person(id: "2") { badge email } }',
  ],
  stockIsWrong: [
    {
      query: '{ people { id: email email: id number: badge badge: number as__id: unread } }',
      data: {
        people: [
          { id: 'one@x', email: '1', number: 'gold', badge: 7, as__id: 1 },
          null,
          { id: null, email: '2', number: null, badge: 8, as__id: 1 },
        ],
      },
      why: 'it looks up entities by what the caller named as a key',
    },
  ],
};

const cell = (n: number) => ({ id: `c${n}` });

/** Lists of lists of entities, and values that break the schema. */
export const nestedLists: TestGraph = {
  subgraphs: {
    grid: {
      sdl: `
        type Query { grid: [[Cell]] strict: [[Cell!]!] cubes: [[[Cell!]]!] }
        type Cell @key(fields: "id") { id: ID! next: [Cell] }`,
      roots: {
        grid: [[cell(1), null, cell(2)], null, []],
        strict: [[cell(1)], [cell(2), cell(9)]],
        cubes: [[[cell(1), cell(2)], null], [[cell(3)]]],
      },
      entities: { Cell: [1, 2, 3].map((n) => ({ ...cell(n), next: [cell(n + 1), null] })) },
    },
    colors: {
      sdl: `
        enum Color { RED BLUE }
        type Cell @key(fields: "id") { id: ID! color: Color! shades: [[Color!]] tags: [String!] }`,
      entities: {
        Cell: [
          { ...cell(1), color: 'RED', shades: [['RED'], null], tags: ['a'] },
          { ...cell(2), color: 'BLUE', shades: [[null]], tags: [null] },
          {
            ...cell(3),
            color() {
              throw new Error('no color');
            },
          },
        ],
      },
    },
  },
  operations: [
    '{ grid { color } strict { color } cubes { color } }',
    '{ cubes { shades tags next { color next { tags } } } }',
  ],
};

/** Keys of which only some lead into a subgraph. */
export const unresolvableKeys: TestGraph = {
  subgraphs: {
    first: {
      sdl: `
        type A @key(fields: "id") @key(fields: "code", resolvable: false) {
          id: ID! code: ID! name: String! parts: Parts! @shareable }
        type Parts @shareable { one: ID! two: ID! }`,
      entities: { A: [{ id: '1', code: 'c1', name: 'A1', parts: { one: 'x', two: 'y' } }] },
    },
    second: {
      sdl: `
        type Query { box: Box }
        type Box @key(fields: "id") { id: ID! all: [A!]! }
        type A @key(fields: "code", resolvable: false) @key(fields: "id parts { two }") {
          id: ID! code: ID! parts: Parts! @shareable name: String! @external
          title: String! @requires(fields: "name") }
        type Parts @shareable { one: ID! two: ID! }`,
      roots: { box: { id: 'b', all: [{ id: '1', code: 'c1', parts: { one: 'x', two: 'y' } }] } },
      entities: {
        A: [
          {
            id: '1',
            code: 'c1',
            title(this: Data) {
              return `the ${this.name}`;
            },
          },
        ],
      },
    },
  },
  operations: ['{ box { id all { id name } } }'],
  writtenOnly: 'stock is wrong wherever a title is selected',
  stockIsWrong: [
    {
      query: '{ box { id all { id title } } }',
      data: { box: { id: 'b', all: [{ id: '1', title: 'the A1' }] } },
      why: 'it returns to a subgraph with a key that does not lead there',
    },
  ],
};
