// The scopes that root fields need, from the tags of a graph.
import { parse } from 'graphql';
import { rootScopesOf, scopeBits, scopeNames } from './scopes.ts';

const { query, mutation } = rootScopesOf(
  parse(`
  type Query {
    plain: Int @tag(name: "partner")
    tagged: Int @tag(name: "partner") @tag(name: "scope-ingest")
    hidden: Int @inaccessible
  }
  type Mutation {
    plain: Int @tag(name: "partner")
    signIn: Int @tag(name: "scope-sign-in") @tag(name: "partner")
    both: Int @tag(name: "scope-enroll") @tag(name: "scope-ingest")
    later: Int @tag(name: "scope-later")
    __proto__: Int
  }`),
);

test('a field needs the scopes of its tags; without one, read or, as a mutation, enroll', () => {
  const names = (bits: number | undefined) => scopeNames(bits ?? 0);
  expect(names(query.get('plain'))).toEqual(['read']);
  expect(names(query.get('tagged'))).toEqual(['ingest']);
  expect(names(mutation.get('plain'))).toEqual(['enroll']);
  expect(names(mutation.get('signIn'))).toEqual(['sign-in']);
  expect(names(mutation.get('both'))).toEqual(['enroll', 'ingest']);
  expect(names(mutation.get('__proto__'))).toEqual(['enroll']);
});

test('a scope that this version does not know is in no key', () => {
  const all = scopeBits(['read', 'enroll', 'sign-in', 'ingest']);
  expect((mutation.get('later') ?? 0) & ~all).not.toBe(0);
  // Cast: as a later version might have stored it.
  expect(scopeBits(['later' as 'read'])).toBe(0);
});

test('hidden fields and those that do not exist need nothing, like a misspelt one', () => {
  expect([query.get('hidden'), query.get('signIn')]).toEqual([undefined, undefined]);
});
