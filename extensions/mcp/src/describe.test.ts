// The schema as a key may use it: its root fields, and what they lead to.
import { type KeyScope, scopeBits } from '@partner-loyalty/gateway/schema/scopes.ts';
import { buildSchema, printSchema } from 'graphql';
import { createDescribe } from './describe.ts';

const schema = buildSchema(`
  directive @shown(as: Style) on FIELD
  enum Style { PLAIN }
  scalar Day
  interface Offer { id: ID! }
  type Voucher implements Offer { id: ID! day: Day }
  union Found = Person
  type Person { name: String }
  input NewPerson { name: String since: Since }
  input Since { year: Int }
  type Created { person: Person query: Query }
  type Link { url: String }
  type toString { a: Int }
  type Query { offers: [Offer!] find(name: String): Found text: toString }
  type Mutation { create(input: NewPerson!): Created link: Link }
`);
const bits = (...scopes: KeyScope[]) => scopeBits(scopes);
const rootScopes = {
  query: new Map([
    ['offers', bits('read')],
    ['find', bits('read')],
  ]),
  mutation: new Map([
    ['create', bits('enroll')],
    ['link', bits('sign-in')],
  ]),
};
const graph = { surfaces: { partner: { schema, sdl: printSchema(schema), rootScopes } } };
// Cast: nothing else of a graph is read.
const describeFor = createDescribe({ current: () => graph } as never);

/** The names that a schema defines. */
const defined = (...scopes: KeyScope[]) =>
  [...describeFor(bits(...scopes)).matchAll(/^(?:directive @|\w+ )(\w+)/gm)]
    .map(([, name]) => name)
    .sort();

const READ = ['Day', 'Found', 'Offer', 'Person', 'Query', 'Style', 'Voucher', 'shown', 'toString'];

test('a key that reads has the queries, what implements their interfaces, and no mutation', () => {
  expect(defined('read')).toEqual(READ);
});

test('a key with another scope has its mutations and their inputs, not the others', () => {
  const sdl = describeFor(bits('read', 'enroll'));
  expect(defined('read', 'enroll')).toEqual(
    [...READ, 'Created', 'Mutation', 'NewPerson', 'Since'].sort(),
  );
  expect(sdl).not.toContain('link');
  expect(buildSchema(sdl).getMutationType()?.getFields()).toHaveProperty('create');
});

test('it is printed once for each set of scopes', () => {
  expect(describeFor(bits('read'))).toBe(describeFor(bits('read')));
});
