// The graph and the query of the public benchmark of gateways, with data of our own.
//
// https://github.com/graphql-hive/graphql-gateways-benchmark: six users, nine products and eleven
// reviews in four subgraphs, and one query whose answer says the same few things again and again.

/** In Federation 1, which every peer knows. */
export const PUBLIC_SUBGRAPHS = {
  accounts: `
    type Query {
      me: User
      user(id: ID!): User
      users: [User]
    }
    type User @key(fields: "id") {
      id: ID!
      name: String
      username: String
      birthday: Int
    }`,
  inventory: `
    extend type Product @key(fields: "upc") {
      upc: String! @external
      weight: Int @external
      price: Int @external
      inStock: Boolean
      shippingEstimate: Int @requires(fields: "price weight")
    }`,
  products: `
    extend type Query {
      topProducts(first: Int = 5): [Product]
    }
    type Product @key(fields: "upc") {
      upc: String!
      name: String
      price: Int
      weight: Int
    }`,
  reviews: `
    type Review @key(fields: "id") {
      id: ID!
      body: String
      product: Product
      author: User @provides(fields: "username")
    }
    extend type User @key(fields: "id") {
      id: ID! @external
      username: String @external
      reviews: [Review]
    }
    extend type Product @key(fields: "upc") {
      upc: String! @external
      reviews: [Review]
    }`,
};

export const PUBLIC_QUERY = `
  fragment User on User { id username name }
  fragment Review on Review { id body }
  fragment Product on Product { inStock name price shippingEstimate upc weight }
  query TestQuery {
    users {
      ...User
      reviews {
        ...Review
        product {
          ...Product
          reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } }
        }
      }
    }
    topProducts {
      ...Product
      reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } }
    }
  }`.replace(/\s+/g, ' ');

const USERS = 6;
const TOP_PRODUCTS = 5;
/** The product of each review, in order. */
const REVIEWED = [1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 4];
/** How long the text of each review is. */
const LENGTHS = [449, 285, 274, 143, 449, 285, 274, 143, 143, 143, 840];
/** Every review is by the first user, and users have the first two reviews. */
const AUTHOR = 1;
const REVIEWS_OF_USERS = [1, 2];

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const bodyOf = (review: number) =>
  'It does what it says. '.repeat(40).slice(-(LENGTHS[review - 1] ?? 0));
const priceOf = (product: number) => product * 299;
const weightOf = (product: number) => product * 50;
const inStock = (product: number) => product % 2 === 1;
const username = (user: number) => `user${user}`;
const reviewsOf = (product: number) =>
  upTo(REVIEWED.length).filter((id) => productOf(id) === product);
const productOf = (review: number) => REVIEWED[review - 1] ?? 0;
const estimate = (price: number, weight: number) => (price > 1_000 ? 0 : weight / 2);

function userOf(id: number) {
  return { id: `${id}`, username: username(id), name: `User ${id}` };
}

const reviewOf = (id: number) => ({ id: `${id}`, body: bodyOf(id) });

type Reference = { upc: string; id: string; price: number; weight: number };
type Product = { upc: string };

const product = (number: number): Product => ({ upc: `${number}` });
const review = (id: number): object => ({
  ...reviewOf(id),
  product: product(productOf(id)),
  author: () => ({ id: `${AUTHOR}`, username: username(AUTHOR) }),
});

/** The resolvers of each subgraph, as buildSubgraphSchema takes them. */
export const PUBLIC_RESOLVERS = {
  accounts: {
    Query: { users: () => upTo(USERS).map(userOf) },
    User: { __resolveReference: ({ id }: Reference) => userOf(Number(id)) },
  },
  inventory: {
    Product: {
      __resolveReference: (reference: Reference) => reference,
      inStock: ({ upc }: Product) => inStock(Number(upc)),
      shippingEstimate: ({ price, weight }: Reference) => estimate(price, weight),
    },
  },
  products: {
    Query: { topProducts: () => upTo(TOP_PRODUCTS).map(product) },
    Product: {
      __resolveReference: ({ upc }: Reference) => ({ upc }),
      name: ({ upc }: Product) => `Product ${upc}`,
      price: ({ upc }: Product) => priceOf(Number(upc)),
      weight: ({ upc }: Product) => weightOf(Number(upc)),
    },
  },
  reviews: {
    Review: { __resolveReference: ({ id }: Reference) => review(Number(id)) },
    User: {
      __resolveReference: ({ id }: Reference) => ({ id }),
      reviews: () => REVIEWS_OF_USERS.map(review),
    },
    Product: {
      __resolveReference: ({ upc }: Reference) => ({ upc }),
      reviews: ({ upc }: Product) => reviewsOf(Number(upc)).map(review),
    },
  },
};

/** The answer to the query, 87 KB as JSON. */
export function publicAnswer(): object {
  const shown = (number: number) => ({
    inStock: inStock(number),
    name: `Product ${number}`,
    price: priceOf(number),
    shippingEstimate: estimate(priceOf(number), weightOf(number)),
    upc: `${number}`,
    weight: weightOf(number),
  });
  const reviews = REVIEWS_OF_USERS.map((id) => ({
    ...reviewOf(id),
    product: shown(productOf(id)),
  }));
  const author = { ...userOf(AUTHOR), reviews };
  const reviewed = (number: number) => ({
    ...shown(number),
    reviews: reviewsOf(number).map((id) => ({ ...reviewOf(id), author })),
  });
  const users = upTo(USERS).map((id) => ({
    ...userOf(id),
    reviews: REVIEWS_OF_USERS.map((each) => ({
      ...reviewOf(each),
      product: reviewed(productOf(each)),
    })),
  }));
  return { users, topProducts: upTo(TOP_PRODUCTS).map(reviewed) };
}
