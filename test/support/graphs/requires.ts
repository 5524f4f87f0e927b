// Graphs in which a field needs values of other subgraphs.
import type { Data, TestGraph } from './graph.ts';

const prices = ({ currency }: Data): number => (currency === 'EUR' ? 20 : 10);

/** With arguments, some of which callers use with other values. */
export const requiresArguments: TestGraph = {
  subgraphs: {
    products: {
      sdl: `
        type Query { products: [Product] }
        type Product @key(fields: "upc") {
          upc: ID! price(currency: String! = "USD"): Int weight: Int category: Category }
        type Category { average(currency: String!): Int parts(first: Int): [Int!] }`,
      roots: { products: [{ upc: 'p1' }, null, { upc: 'p2' }].map(productOf) },
      entities: { Product: ['p1', 'p2'].map((upc) => productOf({ upc }) ?? {}) },
    },
    shipping: {
      sdl: `
        type Product @key(fields: "upc") {
          upc: ID!
          weight: Int @external
          price(currency: String! = "USD"): Int @external
          category: Category @external
          shipping: Int @requires(fields: "price(currency: \\"EUR\\") weight")
          isDear: Boolean @requires(fields: "category { average(currency: \\"USD\\") parts(first: 2) }") }
        type Category @external { average(currency: String!): Int parts(first: Int): [Int!] }`,
      entities: {
        Product: ['p1', 'p2'].map((upc) => ({
          upc,
          shipping(this: Data) {
            return Number(this.price) * Number(this.weight);
          },
          isDear(this: Data) {
            const { average, parts } = this.category as { average: number; parts: number[] };
            return average > 5 && parts.length === 2;
          },
        })),
      },
    },
  },
  values: { currency: ['USD', 'EUR'], first: [1, 2] },
  operations: [
    '{ products { shipping isDear } }',
    '{ products { shipping one: price other: price(currency: "EUR") } }',
    '{ products { isDear category { e: average(currency: "EUR") p: parts(first: 1) } } }',
  ],
  stockIsWrong: [
    {
      query: '{ products { shipping price } }',
      data: { products: [{ shipping: 60, price: 10 }, null, { shipping: 0, price: 10 }] },
      why: 'a field that is required with other arguments gets the name that the caller gave it',
    },
    {
      query: '{ products { isDear category { parts(first: 1) } } }',
      data: {
        products: [
          { isDear: true, category: { parts: [1] } },
          null,
          { isDear: true, category: { parts: [1] } },
        ],
      },
      why: 'the same, below the required field',
    },
  ],
};

function productOf(product: { upc: string } | null): Data | null {
  if (product === null) return null;
  const category = {
    average: prices,
    parts: ({ first }: Data) => [1, 2, 3].slice(0, Number(first)),
  };
  return { ...product, price: prices, weight: product.upc === 'p1' ? 3 : null, category };
}

/** Fields that need fields that need fields, of entities, lists and values. */
export const requiresChains: TestGraph = {
  subgraphs: {
    orders: {
      sdl: `
        type Query { orders: [Order!]! order(id: ID!): Order }
        type Order @key(fields: "id") { id: ID! lines: [Line!]! customer: Customer }
        type Line { sku: String! amount: Int! }
        type Customer @key(fields: "email") { email: ID! region: String }`,
      roots: { orders: ['o1', 'o2', 'o3'].map(orderOf), order: ({ id }: Data) => orderOf(`${id}`) },
      entities: {
        Order: ['o1', 'o2', 'o3'].map(orderOf),
        Customer: [{ email: 'c1', region: 'north' }],
      },
    },
    taxes: {
      sdl: `
        type Order @key(fields: "id") {
          id: ID! lines: [Line!]! @external customer: Customer @external
          net: Int! @requires(fields: "lines { amount }")
          tax: Int @requires(fields: "customer { region }") }
        type Line @external { amount: Int! }
        type Customer @key(fields: "email") { email: ID! region: String @external }`,
      entities: {
        Order: ['o1', 'o2', 'o3'].map((id) => ({
          id,
          net(this: Data) {
            return (this.lines as { amount: number }[]).reduce(
              (sum, { amount }) => sum + amount,
              0,
            );
          },
          tax(this: Data) {
            const { region } = (this.customer ?? {}) as Data;
            if (id === 'o3') throw new Error('no tax');
            return region === 'north' ? 5 : null;
          },
        })),
        Customer: [{ email: 'c1' }],
      },
    },
    totals: {
      sdl: `
        type Order @key(fields: "id") {
          id: ID! net: Int! @external tax: Int @external
          gross: Int! @requires(fields: "net tax") receipt: Receipt @requires(fields: "net") }
        type Receipt { text: String! order: Order! }`,
      entities: {
        Order: ['o1', 'o2', 'o3'].map((id) => ({
          id,
          gross(this: Data) {
            return Number(this.net) + Number(this.tax);
          },
          receipt(this: Data) {
            return this.net === undefined ? null : { text: `net ${this.net}`, order: { id } };
          },
        })),
      },
    },
  },
  values: { id: ['o1', 'o2', 'o3', 'x'] },
  operations: [
    '{ orders { gross } }',
    '{ orders { receipt { text order { gross receipt { text } } } } }',
    '{ order(id: "o1") { tax customer { email region } net } }',
  ],
};

function orderOf(id: string): Data {
  const lines =
    id === 'o2'
      ? []
      : [
          { sku: 'a', amount: 2 },
          { sku: 'b', amount: 3 },
        ];
  return { id, lines, customer: id === 'o2' ? null : { email: 'c1', region: 'north' } };
}

/** Fragments: what is needed depends on the type. */
export const requiresFragments: TestGraph = {
  subgraphs: {
    content: {
      sdl: `
        type Query { posts: [Post!]! }
        type Post @key(fields: "id") { id: ID! body: Body! extra: Extra }
        interface Body { size: Int! }
        type Text implements Body { size: Int! words: Int }
        type Clip implements Body { size: Int! seconds: Int! }
        union Extra = Text | Clip`,
      roots: {
        posts: [
          { id: 'p1', body: text(4), extra: clip(9) },
          { id: 'p2', body: clip(8), extra: null },
        ],
      },
      entities: {
        Post: [
          { id: 'p1', body: text(4), extra: clip(9) },
          { id: 'p2', body: clip(8), extra: null },
        ],
      },
    },
    effort: {
      sdl: `
        type Post @key(fields: "id") {
          id: ID! body: Body! @external extra: Extra @external
          effort: Int @requires(fields: "body { size ... on Text { words } ... on Clip { seconds } }")
          bonus: Int @requires(fields: "extra { ... on Clip { seconds } }") }
        interface Body { size: Int! }
        type Text implements Body @external { size: Int! words: Int }
        type Clip implements Body @external { size: Int! seconds: Int! }
        union Extra = Text | Clip`,
      entities: {
        Post: ['p1', 'p2'].map((id) => ({
          id,
          effort(this: Data) {
            const { size, words, seconds } = this.body as Data;
            return Number(size) * 100 + Number(words ?? seconds);
          },
          bonus(this: Data) {
            return this.extra ? (this.extra as Data).seconds : null;
          },
        })),
      },
    },
  },
  operations: [
    '{ posts { effort bonus } }',
    '{ posts { effort body { size ... on Clip { seconds } } } }',
  ],
};

function text(words: number): Data {
  return { __typename: 'Text', size: 1, words };
}

function clip(seconds: number): Data {
  return { __typename: 'Clip', size: 2, seconds };
}

/** Two subgraphs that need each other, over references that lead back. */
export const circular: TestGraph = {
  subgraphs: {
    posts: {
      sdl: `
        type Query { feed: [Post] }
        type Post @key(fields: "id") {
          id: ID! novice: Boolean! @external expert: Boolean! @requires(fields: "novice") answers: [Post!] }
        type Author @key(fields: "id") { id: ID! years: Int! posts: [Post] }`,
      roots: { feed: ['1', '2'].map(postOf) },
      entities: {
        Post: ['1', '2', '3'].map((id) => ({
          ...postOf(id),
          expert(this: Data) {
            return this.novice === false;
          },
        })),
        Author: ['a', 'b'].map((id) => ({
          id,
          years: id === 'a' ? 1 : 9,
          posts: [postOf('2'), null],
        })),
      },
    },
    authors: {
      sdl: `
        type Query { authors: [Author!]! }
        type Post @key(fields: "id") {
          id: ID! author: Author! novice: Boolean! @requires(fields: "author { years }") }
        type Author @key(fields: "id") { id: ID! years: Int! @external best: Post mentor: Author }`,
      roots: { authors: ['a', 'b'].map((id) => ({ id, best: { id: '1', author: { id } } })) },
      entities: {
        Post: ['1', '2', '3'].map((id) => ({
          id,
          author: { id: id === '2' ? 'b' : 'a' },
          novice(this: Data) {
            return Number((this.author as Data).years) < 5;
          },
        })),
        Author: ['a', 'b'].map((id) => ({
          id,
          best: { id: '2', author: { id: 'b' } },
          mentor: id === 'a' ? { id: 'b' } : null,
        })),
      },
    },
  },
  operations: [
    '{ feed { expert author { years best { expert } } } }',
    '{ authors { mentor { mentor { id } years posts { author { mentor { years } } } } } }',
  ],
};

function postOf(id: string): Data {
  return { id, answers: id === '1' ? [{ id: '2' }, { id: '3' }] : null };
}
