// Surfaces and their schemas.

import { buildSchema, parse } from 'graphql';
import { datesOfUse } from '../document/deprecateduse.ts';
import { parseDocument } from '../document/document.ts';
import { executableOperation } from '../document/executable.ts';
import { datedSdl } from './dated.ts';
import { datesFrom, datesIn, dayOf, withDates } from './dates.ts';
import { deprecationsOf } from './deprecations.ts';
import { rootScopesOf, scopeBits, scopeNames } from './scopes.ts';

// The scopes that root fields need, from the tags of a graph.

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

// The dates of deprecations: written into a supergraph, read from a schema, found for an operation.

const days = (dates: { since: number; until: number } | undefined) =>
  dates && [dayOf(dates.since), dayOf(dates.until)];

test.each([
  ['Use b. Deprecated since 2026-11-01, kept until 2027-06-01.', ['2026-11-01', '2027-06-01']],
  ['Deprecated since 2026-11-01, kept until 2027-06-01. Or not.', ['2026-11-01', '2027-06-01']],
  ['Deprecated since 2026-11-01, kept until 2026-11-01.', undefined],
  ['Deprecated since 2026-02-30, kept until 2027-06-01.', undefined],
  ['Deprecated since 2026-13-01, kept until 2027-06-01.', undefined],
  ['Deprecated since 2026-11-01.', undefined],
  ['', undefined],
])('the reason %j has the dates %j', (reason, expected) => {
  expect(days(datesIn(reason))).toEqual(expected);
});

test.each([
  ['2026-11-22T23:59:59.999Z', '2026-11-22', '2027-05-22'],
  ['2026-08-31T00:00:00Z', '2026-08-31', '2027-02-28'],
  ['2027-08-31T00:00:00Z', '2027-08-31', '2028-02-29'],
])('what is deprecated at %s is so since %s and kept until %s', (instant, since, until) => {
  expect(days(datesFrom(new Date(instant)))).toEqual([since, until]);
});

test.each([
  ['use b', 'use b. Deprecated since 2026-11-22, kept until 2027-05-22.'],
  [' Use b! ', 'Use b! Deprecated since 2026-11-22, kept until 2027-05-22.'],
  ['', 'Deprecated since 2026-11-22, kept until 2027-05-22.'],
])('the dates go to the end of the reason %j', (reason, expected) => {
  const dates = datesFrom(new Date('2026-11-22'));
  expect(withDates(reason, dates)).toBe(expected);
  expect(datesIn(expected)).toEqual(dates);
});

const SDL = `
  "@deprecated, in a description"
  type Query {
    a(x: Int @deprecated, y: [In!], s: Sort = NEW): Int @deprecated(reason: "say \\"b\\"")
    b(y: In, s: [Sort]): Int
    c: Int @deprecated(reason: "Deprecated since 2026-01-01, kept until 2027-01-01.")
  }
  enum Sort { OLD @deprecated(reason: """no
    longer""") NEW }
  input In { p: Int q: Int @deprecated(reason: "no q") next: In }
`;
const dated = datedSdl(SDL, new Date('2026-11-22T12:00:00Z'));
const schema = buildSchema(dated);
const deprecations = deprecationsOf(schema);
const SINCE = 'Deprecated since 2026-11-22, kept until 2027-05-22.';

test('every deprecation gets dates but those that have them', () => {
  expect(Array.from(deprecations, ([name, { reason }]) => [name, reason])).toEqual([
    ['Query.a', `say "b". ${SINCE}`],
    ['Query.a(x:)', `No longer supported. ${SINCE}`],
    ['Query.c', 'Deprecated since 2026-01-01, kept until 2027-01-01.'],
    ['Sort.OLD', `no\nlonger. ${SINCE}`],
    ['In.q', `no q. ${SINCE}`],
  ]);
  const rest = (sdl: string) => sdl.replaceAll(/@deprecated(?:\([^)]*\))?/g, '');
  expect(rest(dated)).toBe(rest(SDL));
  expect(datedSdl(dated, new Date('2030-01-01'))).toBe(dated);
});

test('what was deprecated before keeps its dates, and text without deprecations is not parsed', () => {
  const more = SDL.replace('p: Int', 'p: Int @deprecated');
  const next = deprecationsOf(buildSchema(datedSdl(more, new Date('2027-01-15'), dated)));
  expect(days(next.get('Query.a'))).toEqual(['2026-11-22', '2027-05-22']);
  expect(days(next.get('In.p'))).toEqual(['2027-01-15', '2027-07-15']);
  expect(datedSdl('no SDL', new Date())).toBe('no SDL');
});

/** What an operation uses, and the dates of a request. */
function use(query: string, variables: Record<string, unknown> = {}) {
  const { node, operations } = parseDocument(query);
  const [operation] = operations;
  if (operation === undefined) throw new Error('the document has an operation');
  const { deprecated, logged } = executableOperation(node, operation, schema, deprecations);
  return {
    coordinates: deprecated?.coordinates,
    days: days(deprecated && datesOfUse(deprecated, variables)),
    logged,
  };
}
const NEW = ['2026-11-22', '2027-05-22'];

test.each([
  ['{ b }', undefined, undefined],
  ['{ __typename b(y: { p: 1 }, s: [NEW]) }', undefined, undefined],
  ['{ other: a }', ['Query.a'], NEW],
  ['{ ...F } fragment F on Query { a }', ['Query.a'], NEW],
  ['{ b(s: [NEW, OLD]) }', ['Sort.OLD'], NEW],
  ['{ b(s: OLD) }', ['Sort.OLD'], NEW],
  ['{ b(y: { next: { next: { q: 1 } } }) }', ['In.q'], NEW],
  ['{ a(x: 1) }', ['Query.a', 'Query.a(x:)'], NEW],
  ['query ($s: [Sort] = [OLD]) { b(s: $s) }', ['Sort.OLD'], NEW],
  ['{ a c }', ['Query.a', 'Query.c'], ['2026-01-01', '2027-01-01']],
])('%s uses %j', (query, coordinates, dates) => {
  expect(use(query)).toMatchObject({ coordinates, days: dates });
});

test.each([
  [{}, undefined],
  [{ y: null, s: null }, undefined],
  [{ y: { p: 1 }, s: 'NEW' }, undefined],
  [{ y: { q: null } }, NEW],
  [{ y: { next: { next: { q: 1 } } } }, NEW],
  [{ s: 'OLD' }, NEW],
  [{ s: ['NEW', 'OLD'] }, NEW],
  [{ s: ['toString', 7] }, undefined],
])('the variables %j have the dates %j', (variables, dates) => {
  expect(use('query ($y: In, $s: [Sort]) { b(y: $y, s: $s) }', variables).days).toEqual(dates);
});

test('a log line names what the document uses', () => {
  expect(use('{ b }').logged).not.toContain('deprecated');
  expect(use('{ a(x: 1) }').logged).toContain('"deprecated":["Query.a","Query.a(x:)"]');
});
