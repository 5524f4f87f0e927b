// What the deprecation policy forbids: early removals, and deprecations that are too short.
import { datedSdl } from '@partner-loyalty/gateway/schema/dated.ts';
import { policyFaults } from './assessment.ts';
import { surfaceChanges, surfaceSchemas, versionChanges } from './changes.ts';
import { composeSupergraph } from './compose.ts';

const TODAY = new Date('2026-11-22T15:00:00Z');
const HEAD = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@tag"])
  enum Sort { OLD NEW }
  input Filter { word: String all: Boolean }
  type Query { b: Int @tag(name: "member") `;
const schemasOf = (field: string) =>
  surfaceSchemas(
    datedSdl(
      composeSupergraph([{ name: 's', sdl: `${HEAD} ${field} }`, file: 's.graphql' }]),
      TODAY,
    ),
  );
const FIELD = 'a(s: Sort, f: Filter): Int @tag(name: "partner")';
const fields = (dates: string) => `${FIELD} @deprecated(reason: "Deprecated since ${dates}.")`;

test.each<[what: string, before: string, after: string, faults: string[]]>([
  ['a new deprecation', FIELD, `${FIELD} @deprecated`, []],
  [
    'one that is too short',
    FIELD,
    fields('2026-11-22, kept until 2027-05-21'),
    ['Query.a (partner) must be kept until 2027-05-22'],
  ],
  ['a field that is new and deprecated', '', fields('2026-11-22, kept until 2026-12-01'), []],
  ['a removal without deprecation, which use decides', FIELD, '', []],
  [
    'a removal before its date',
    fields('2026-06-01, kept until 2026-12-01'),
    '',
    ['Query.a (partner) is kept until 2026-12-01'],
  ],
  ['a removal on its date', fields('2026-05-22, kept until 2026-11-22'), '', []],
  [
    'a date that moves towards today',
    fields('2026-06-01, kept until 2027-02-01'),
    fields('2026-06-01, kept until 2027-01-01'),
    ['Query.a (partner) must be kept until 2027-02-01'],
  ],
  [
    'a date that moves to no less than promised',
    fields('2026-06-01, kept until 2029-02-01'),
    fields('2026-06-01, kept until 2027-05-22'),
    [],
  ],
  [
    'a field that is hidden from the surface it was promised to',
    fields('2026-06-01, kept until 2026-12-01'),
    fields('2026-06-01, kept until 2026-12-01').replace('partner', 'member'),
    ['Query.a (partner) is kept until 2026-12-01'],
  ],
])('%s', (_what, before, after, faults) => {
  const partner = 'p: Int @tag(name: "partner") ';
  expect(policyFaults(schemasOf(partner + before), schemasOf(partner + after), TODAY)).toEqual(
    faults,
  );
});

test('the lines for the changelog have the number of additions beyond the first 20', async () => {
  const fields = Array.from({ length: 1_025 }, (_, index) => `f${index}: Int @tag(name: "member")`);
  const [before, after] = [schemasOf(FIELD), schemasOf(fields.join(' ') + FIELD)];
  const lines = versionChanges(await surfaceChanges(before, after), after);
  expect(lines).toHaveLength(21);
  expect(lines[20]).toEqual({
    surface: 'member',
    kind: 'added',
    text: '… and 1,005 more additions',
  });
});

test('the lines for the changelog have kind, coordinate and reason, for each surface', async () => {
  const before = schemasOf(`${FIELD} p: Int @tag(name: "partner")`);
  const after = schemasOf(
    `"new words" a(s: Sort, f: Filter, n: Int, x: Int @deprecated(reason: "no x")): Int
      @tag(name: "partner") @tag(name: "member") @deprecated(reason: "${'long '.repeat(100)}")`,
  );
  const lines = versionChanges(await surfaceChanges(before, after), after);
  expect(lines.map(({ surface, kind, coordinate }) => [surface, kind, coordinate])).toEqual([
    ['partner', 'removed', 'Query.p'],
    ['partner', 'added', 'Query.a(n:)'],
    ['partner', 'added', 'Query.a(x:)'],
    ['partner', 'deprecated', 'Query.a'],
    ['member', 'added', 'Filter'],
    ['member', 'added', 'Sort'],
    ['member', 'added', 'Query.a'],
  ]);
  const text = lines.find(({ kind }) => kind === 'deprecated')?.text ?? '';
  expect(text).toMatch(/^long long .*….* Deprecated since 2026-11-22, kept until 2027-05-22\.$/);
  expect(text.length).toBeLessThan(310);
});
