// What a publication checks.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Took } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { datedSdl } from '@partner-loyalty/gateway/schema/dated.ts';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import type { SubgraphResponse } from '@partner-loyalty/runtime/transport/types.ts';
import { askSubgraph, faultOfSubgraph } from './asked.ts';
import { assess, missingFromRunning } from './assess.ts';
import { policyFaults, type Step, withSubgraph } from './assessment.ts';
import { defaultFaults, proseFaults } from './bounds.ts';
import { surfaceChanges, surfaceSchemas, versionChanges } from './changes.ts';
import { composeSupergraph } from './compose.ts';
import { committedContent } from './content.ts';
import { CompositionError, TooLargeError } from './faults.ts';
import { missingFrom } from './missing.ts';
import { costNeeds, sizeNeeds, tookOf, typesIn } from './size.ts';

// What a running subgraph lacks of the schema that it is to be published with.

const SDL = `
  type Query { offer(id: ID!): Offer }
  type Offer @key(fields: "id") { id: ID! title(language: String): String }
  input Wish { title: String }
`;

test.each<[string, string, string[]]>([
  ['the same schema', SDL, []],
  [
    'a larger one, with what stock subgraphs add',
    `${SDL} extend type Query { _service: _Service! _entities(representations: [_Any!]!): [_Entity]! }
     type _Service { sdl: String }`,
    [],
  ],
  ['extensions', SDL.replaceAll('type', 'extend type'), []],
  [
    'another name of the root type',
    `schema { query: Root } ${SDL.replace('type Query', 'type Root')}`,
    [],
  ],
  ['no field', SDL.replace('id: ID! title', 'title'), ['Offer.id']],
  ['no argument', SDL.replace('(language: String)', ''), ['Offer.title(language:)']],
  ['no input field', SDL.replace('title: String }', 'word: String }'), ['Wish.title']],
  [
    'other types',
    'type Query { a: Int }',
    [
      ...['Query.offer', 'Query.offer(id:)', 'Offer.id', 'Offer.title', 'Offer.title(language:)'],
      'Wish.title',
    ],
  ],
])('of a running subgraph with %s', (_name, running, missing) => {
  expect(missingFrom(running, SDL)).toEqual(missing);
});

test('the federation fields of a published schema are not asked for', () => {
  expect(missingFrom(SDL, `${SDL} extend type Query { _service: _Service }`)).toEqual([]);
});

const HEALTHY = { data: { __typename: 'Query' } };
test.each<[string, SubgraphResponse, string | undefined, string | undefined]>([
  ['all of it', HEALTHY, SDL, undefined],
  ['nothing', { data: null }, SDL, 'does not answer {__typename}'],
  ['no schema', HEALTHY, undefined, 'does not answer {_service{sdl}}'],
  ['a schema that is none', HEALTHY, '<html>', 'answers {_service{sdl}} with a syntax error'],
  [
    'another schema',
    HEALTHY,
    'type Query { a: Int }',
    'lacks Query.offer, Query.offer(id:), Offer.id, Offer.title, Offer.title(language:) and 1 more',
  ],
])('a subgraph that answers %s', async (_name, health, sdl, fault) => {
  const schema = { data: { _service: sdl === undefined ? null : { sdl } } };
  const transport = {
    execute: ({ query }: { query: string }) => (query === '{__typename}' ? health : schema),
  };
  expect(await faultOfSubgraph(transport, SDL, 'r1')).toBe(fault);
});

describe('a subgraph that is to be published with batching', () => {
  type Operation = { query: string; extensions?: { scope: { kind: string } } };
  type Reply = { status?: number; body: unknown };

  /** What `answer` of a batch keeps it from, and the operations that were asked. */
  async function faultWith(
    answer: (batch: Operation[]) => Reply,
    { batching = true, padding = 0, allowed = true } = {},
  ) {
    const asked: Operation[][] = [];
    const right = ({ query }: Operation) => {
      const [, alias = '__typename'] = /^\{(\w+):/.exec(query) ?? [];
      const schema = { _service: { sdl: SDL + ' '.repeat(padding) } };
      return { data: query.includes('_service') ? schema : { [alias]: 'Query' } };
    };
    const server = createServer(async (request, response) => {
      // Cast: nothing else is sent.
      const body = (await json(request)) as Operation | Operation[];
      asked.push([body].flat());
      const reply: Reply = Array.isArray(body) ? answer(body) : { body: right(body) };
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
    const fault = await askSubgraph({
      entry: { name: 'offers', batching, codes: [] },
      ...{ url, sdl: SDL, secrets: oneSecret('a secret of this test') },
      allows: () => allowed,
    });
    server.close();
    return { fault, asked };
  }
  const aliasOf = ({ query }: Operation) => query.slice(1, query.indexOf(':'));
  const each = (batch: Operation[]) => batch.map((one) => ({ data: { [aliasOf(one)]: 'Query' } }));

  test('is asked alone, and for 100 operations of partners and members that nobody is', async () => {
    const { fault, asked } = await faultWith((batch) => ({ body: each(batch) }));
    expect(fault).toBeUndefined();
    expect(asked.map(({ length }) => length)).toEqual([1, 1, 100]);
    const batch = asked[2] ?? [];
    expect(new Set(batch.map(aliasOf)).size).toBe(100);
    const kinds = batch.map(({ extensions }) => extensions?.scope.kind);
    expect(new Set(kinds)).toEqual(new Set(['partner', 'member']));
    expect((await faultWith(() => ({ body: [] }), { batching: false })).asked).toHaveLength(2);
  });

  test.each<[string, (batch: Operation[]) => Reply, RegExp]>([
    ['no batches', () => ({ status: 400, body: { errors: [{ message: 'm' }] } }), /\(400\)$/],
    ['10 operations at most', () => ({ status: 413, body: 'too many' }), /\(413\)$/],
    ['the first operation alone', (batch) => ({ body: each(batch).slice(0, 1) }), /\(200\)$/],
    ['another order', (batch) => ({ body: each(batch).toReversed() }), /batching$/],
    ['one error', (batch) => ({ body: [...each(batch).slice(1), {}] }), /no answer, 200\)$/],
    ['errors', (batch) => ({ body: batch.map(() => ({ errors: [{}] })) }), /batching/],
  ])('is refused if it answers %s, with what it is about', async (_, answer, reason) => {
    const { fault } = await faultWith(answer);
    expect(fault).toMatch(/^does not answer a batch of 100 operations .*--no-batching/);
    expect(fault).toMatch(reason);
  });

  test('may have a schema of 4 MiB, and none of 6', async () => {
    const ask = (padding: number) => faultWith(() => ({ body: [] }), { batching: false, padding });
    expect((await ask(4 * 1024 * 1024)).fault).toBeUndefined();
    expect((await ask(6 * 1024 * 1024)).fault).toBe(
      'does not answer {_service{sdl}} (too large, 200)',
    );
  });

  test('is not dialled at an address that is not allowed, and SUBGRAPH_HOSTS is named', async () => {
    const { fault, asked } = await faultWith(() => ({ body: [] }), { allowed: false });
    expect([asked, fault]).toEqual([
      [],
      'does not answer {__typename} (SUBGRAPH_HOSTS does not allow its address, ADDRESS)',
    ]);
  });
});

// Assessing a change in a child process, and what becomes of schemas that are hostile.
describe('assess', () => {
  const LINK = `extend schema @link(
  url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag", "@cost", "@override"])`;
  const OFFERS = `${LINK}
type Query {
  offers: [Offer!] @tag(name: "partner") @cost(weight: 5)
}
type PartnerMemberRead @key(fields: "memberId") {
  memberId: ID!
  offers: [Offer!]! @tag(name: "partner")
}
type Offer { title: String @tag(name: "partner")  hint: String }
`;

  const before = committedContent();
  const entry = { name: 'offers', url: 'https://offers.example', batching: false, codes: [] };
  const step = (sdl: string): Step => ({ kind: 'subgraph', before, entry, sdl, file: 'o.graphql' });

  test('an assessment has the changes, the notices, and the content to publish', async () => {
    const { after, changes, needs, notices, policyFaults, lines } = await assess(step(OFFERS));
    expect(changes.map(({ surface, coordinate }) => `${surface} ${coordinate}`)).toEqual([
      'partner Offer',
      'partner PartnerMemberRead.offers',
      'partner Query.offers',
    ]);
    expect(lines).toHaveLength(3);
    expect([needs, policyFaults]).toEqual([[], []]);
    expect(notices.map(({ message }) => message)).toEqual([
      'o.graphql:4:42: @cost is ignored: the gateway computes the cost of an operation without it',
      'Offer.hint: no @tag, so no caller sees it',
      'PartnerMemberRead.offers: never null, so callers get no such object at all while offers is away',
    ]);
    const sdl = OFFERS.replace('@cost(weight: 5)', '@tag(name: "scope-enroll")');
    const url = 'https://new.example';
    const moved = { ...step(sdl), before: after, entry: { ...entry, url } } as Step;
    const next = await assess(moved);
    expect(next.needs).toMatchObject([{ rule: 'url', losing: [] }]);
    expect(next.notices.slice(0, 2)).toEqual([
      { level: 'notice', message: `the URL changes from https://offers.example to ${url}` },
      { level: 'notice', coordinate: 'Query.offers', message: 'needs enroll instead of read' },
    ]);
    const removed = await assess({ kind: 'removal', before: after, name: 'offers' });
    expect(removed.changes.map(({ level }) => level)).toContain('breaking');
  });

  test('what does not compose is refused with its lines', async () => {
    await expect(assess(step('type Query { a: Int'))).rejects.toMatchObject({
      faults: [expect.stringMatching(/^o\.graphql:1:20: Syntax Error/)],
    });
  });

  test('a schema that is nested too deeply is refused, and the next one is assessed', async () => {
    const deep = step(`type Query { a: ${'['.repeat(500_000)}Int${']'.repeat(500_000)} }`);
    const refused = assess(deep).catch((error: unknown) => error);
    const assessed = assess(step(OFFERS));
    expect(await refused).toBeInstanceOf(TooLargeError);
    expect((await assessed).changes).toHaveLength(3);
  });

  test('a schema that a subgraph answers with is read aside, however long that takes', async () => {
    const deep = `type A { a: ${'['.repeat(500_000)}Int${']'.repeat(500_000)} }`;
    const answers = [deep, 'type A {', 'type A { b: Int }'].map((running) =>
      missingFromRunning(running, 'type A { a: Int }'),
    );
    expect(await Promise.all(answers)).toEqual([
      { fault: 'with a schema that is too large' },
      { fault: 'with a syntax error' },
      { missing: ['A.a'] },
    ]);
  });

  test('what an assessment finds is too large if reading it would hold up the gateway', async () => {
    // Each value that goes away affects every field with the enum.
    const values = Array.from({ length: 500 }, (_, n) => `VALUE_${n}`);
    const fields = values.map((value) => `field_${value}: E @tag(name: "partner")`);
    const sdl = (names: string[]) =>
      `${LINK} type Query { ${fields.join('\n')} } enum E { ${names.join(' ')} }`;
    const { after } = await assess(step(sdl(values)));
    const removal: Step = { ...step(sdl(['OTHER'])), before: after };
    await expect(assess(removal)).rejects.toBeInstanceOf(TooLargeError);
  });

  test('what takes over half of a response to introspect is refused with the number, not shrinking it', async () => {
    const sdl = (length: number) =>
      `${LINK} type Query { offers(of: String = "${'x'.repeat(length)}"): Int @tag(name: "partner") }`;
    await expect(assess(step(sdl(600_000)))).rejects.toMatchObject({
      faults: [
        expect.stringMatching(
          /^the partner surface: its introspection has 66\d{4} bytes, and may have 524288$/,
        ),
      ],
    });
    const large = withSubgraph(before, entry, { sdl: sdl(600_000), file: 'o.graphql' });
    const shrunk = await assess({ ...step(sdl(599_999)), before: large });
    expect(shrunk.after.schemas.offers).toHaveLength(sdl(599_999).length);
  });

  test('a subgraph that takes over a quarter of the introspection needs an operator, unless it shrinks', async () => {
    const sdl = (length: number) =>
      `${LINK} type Query { offers(of: String = "${'x'.repeat(length)}"): Int @tag(name: "partner") }`;
    const { after, needs } = await assess(step(sdl(140_000)));
    expect(needs).toEqual([
      {
        rule: 'size',
        what: expect.stringMatching(
          /^offers would have 14\d{4} bytes of the introspection of the partner surface, over 131072$/,
        ),
        losing: [],
      },
    ]);
    expect((await assess({ ...step(sdl(139_999)), before: after })).needs).toEqual([]);
  });

  test('a label of @override is refused before it is composed, unless the field had it or goes back to it', async () => {
    const third = { ...entry, name: 'third' };
    const beside = withSubgraph(before, third, {
      sdl: `${LINK} type Query { a: Int b: Int }`,
      file: 't.graphql',
    });
    const labelled = (...fields: string[]) =>
      `${LINK} type Query { ${fields.map((one) => `${one}: Int @override(from: "third", label: "percent(1)")`).join(' ')} }`;
    const past = { ...beside, schemas: { ...beside.schemas, offers: labelled('a') } };
    const next = (sdl: string, from = beside): Step => ({ ...step(sdl), before: from });
    const fault =
      /^o\.graphql:2:\d+: @override with a label is not supported: leave the label out$/;
    const refused = { faults: [expect.stringMatching(fault)] };
    await expect(assess(next(labelled('a')))).rejects.toMatchObject(refused);
    const back = await assess({ ...next(labelled('a')), approved: past } as Step);
    await expect(assess(next(labelled('a', 'b'), back.after))).rejects.toMatchObject(refused);
    const same = await assess(next(`${labelled('a')} type More { c: Int }`, back.after));
    expect(same.notices.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('@override is ignored: its label has no effect'),
    );
  });

  test('a new field that another subgraph overrides already is refused, and one that it had is not', async () => {
    const third = { ...entry, name: 'third' };
    const has = (...fields: string[]) => {
      return { sdl: `${LINK} type Query { ${fields.join(': Int ')}: Int }`, file: 't.graphql' };
    };
    const overriding = ['soon', 'there'].map((name) => `${name}: Int @override(from: "third")`);
    const beside = withSubgraph(withSubgraph(before, third, has('there')), entry, {
      sdl: `${LINK} type Query { ${overriding.join(' ')} }`,
      file: 'o.graphql',
    });
    const next = (...fields: string[]) =>
      assess({ kind: 'subgraph', before: beside, entry: third, ...has('there', ...fields) });
    await expect(next('soon')).rejects.toMatchObject({
      faults: [`t.graphql: Query.soon is new, and ${entry.name} overrides it already`],
    });
    expect((await next('other')).after.subgraphs).toContainEqual(third);
    const back = (approved: typeof before) =>
      assess({ kind: 'subgraph', before: beside, entry: third, ...has('there', 'soon'), approved });
    await expect(back(before)).rejects.toMatchObject({ faults: [expect.anything()] });
    const then = withSubgraph(beside, third, has('there', 'soon'));
    expect((await back(then)).after.subgraphs).toContainEqual(third);
  });

  test('a schema that goes back needs an operator if nobody approved it beside what the team has now', () => {
    const types = (count: number) => 'type T { a: Int } '.repeat(count);
    const content = (schemas: Record<string, string>) => ({ ...before, schemas });
    const needs = (offers: string, now: Record<string, string>, beside = {}) => {
      const approved = content({ offers, ...beside });
      const back = { ...step(offers), before: content(now), approved } as Step;
      return sizeNeeds(back, ['offers', 'third']).map(({ what }) => what);
    };
    const third = types(1_000);
    expect(needs(types(1_001), { third })).toEqual([
      'offers and what its team has beside it would have 2001 types, over 2000',
    ]);
    expect(needs(types(1_000), { third })).toEqual([]);
    expect(needs(types(1_001), { third, offers: types(1_001) })).toEqual([]);
    // It was approved: alone, or beside as much.
    expect(needs(types(2_001), { third })).toEqual([]);
    expect(needs(types(1_001), { third }, { third })).toEqual([]);
  });

  test('types are counted up to what nothing could compose', () => {
    expect(typesIn(['enum '.repeat(838_000), 'type T'])).toBe(10_000);
    expect(typesIn(['enum E { A } "the type: all', 'input I { type: Int }'])).toBe(2);
  });

  const took = (ms: number, approvedMs?: number): Step => ({
    ...step(OFFERS),
    before: { ...before, took: { ms, ...(approvedMs !== undefined && { approvedMs }) } },
  });
  test.each<[string, Step, ms: number, limit: string | undefined]>([
    ['as long as it may', step(OFFERS), 5_000, undefined],
    ['longer', step(OFFERS), 5_001, 'over 5.0 s'],
    ['no longer than now', took(7_000), 7_000, undefined],
    ['longer than now', took(7_000), 7_001, 'over 7.0 s (now 7.0 s)'],
    ['half as long again as what was approved', took(5_500, 8_000), 12_000, undefined],
    ['more than half as long again', took(8_000, 8_000), 12_001, 'over 12.0 s (now 8.0 s)'],
    [
      'half as long again as what was approved of what goes back',
      { ...step(OFFERS), approved: { ...before, took: { ms: 8_000, approvedMs: 8_000 } } } as Step,
      12_000,
      undefined,
    ],
    ['long to remove something', { kind: 'removal', before, name: 'offers' }, 20_000, undefined],
    ['long to take all back', { kind: 'content', before, after: before }, 20_000, undefined],
  ])('a step that takes %s needs an operator or not', (_what, asked, ms, limit) => {
    const what = `with this schema of offers, each step of every team would take CPU for ${(ms / 1_000).toFixed(1)} s, ${limit}`;
    expect(costNeeds(asked, { ms, mb: 5 })).toEqual(
      limit === undefined ? [] : [{ rule: 'size', what, losing: [], ms }],
    );
  });

  const NEED = { rule: 'size', what: '', losing: [], ms: 6_000 } as const;
  test.each<[string, Step, ms: number, needs: readonly Need[], Took]>([
    ['was approved', took(5_500, 5_500), 6_000, [NEED], { ms: 6_000, approvedMs: 6_000 }],
    ['needed nothing', took(8_000, 8_000), 9_000, [], { ms: 9_000, approvedMs: 8_000 }],
    ['leaves little', took(8_000, 8_000), 3_000, [], { ms: 3_000 }],
    ['is the first to be measured', step(OFFERS), 900, [], { ms: 900 }],
    [
      'takes all back',
      { kind: 'content', before, after: before },
      ...([6_000, [], { ms: 6_000, approvedMs: 6_000 }] as const),
    ],
    [
      'removes what takes long to compare',
      { ...took(7_000), kind: 'removal', name: 'offers' } as Step,
      ...([9_000, [], { ms: 7_000 }] as const),
    ],
    [
      'removes something from a graph that was never measured',
      { kind: 'removal', before, name: 'offers' },
      ...([9_000, [], { ms: 5_000 }] as const),
    ],
  ])('what a step that %s leaves to later ones', (_what, made, ms, needs, expected) => {
    expect(tookOf(made, { ms, mb: 5 }, needs)).toEqual({ ...expected, mb: 5 });
  });

  test('what takes much memory of gateways needs an operator, and a later version what takes more', () => {
    const needed = (mb: number, took: Took) =>
      costNeeds({ ...step(OFFERS), before: { ...before, took } } as Step, { ms: 500, mb });
    const what =
      'with this schema of offers, the planners of each gateway would take 101 MB, over 100 MB (now 5 MB)';
    expect(needed(101, { mb: 5 })).toEqual([{ rule: 'size', what, losing: [], mb: 101 }]);
    expect(needed(150, { mb: 110, approvedMb: 100 })).toEqual([]);
    expect(needed(151, { mb: 110, approvedMb: 100 })).toHaveLength(1);
  });

  test('the memory of the planners is measured', async () => {
    const copies = Array.from({ length: 60 }, (_, n) => `p${n}: Copied @provides(fields: "x")`);
    const links = Array.from({ length: 250 }, (_, n) => `f${n}: Copied`);
    const link =
      '@link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@provides", "@shareable"])';
    const sdl = `extend schema ${link} type Query { ${copies.join(' ')} }
      type Copied @key(fields: "id") { id: ID x: ID @external ${links.join(' ')} }`;
    const own = `extend schema ${link} type Query { copied: Copied } type Copied @key(fields: "id") { id: ID x: ID @shareable }`;
    const owner = await assess({ ...step(own), entry: { ...entry, name: 'owner' } } as Step);
    expect(owner.costs.mb).toBeLessThan(15);
    const copied = await assess({ ...step(sdl), before: owner.after } as Step);
    expect(copied.costs.mb).toBeGreaterThan(40);
  });

  test('a team that published much, shrank, and goes back while others have grown is refused with the number', async () => {
    const sdlOf = (field: string, length: number) =>
      `${LINK} type Query { ${field}(of: String = "${'x'.repeat(length)}"): Int @tag(name: "partner") }`;
    const third = { ...entry, name: 'third' };
    const both = withSubgraph(
      withSubgraph(before, entry, { sdl: sdlOf('offers', 1), file: 'o.graphql' }),
      third,
      { sdl: sdlOf('third', 300_000), file: 't.graphql' },
    );
    const big = sdlOf('offers', 300_000);
    const approved = withSubgraph(before, entry, { sdl: big, file: 'o.graphql' });
    const back: Step = { kind: 'subgraph', before: both, entry, sdl: big, file: 'o', approved };
    const fault = /^the partner surface: its introspection has 66\d{4} bytes, and may have 524288$/;
    await expect(assess(back)).rejects.toMatchObject({ faults: [expect.stringMatching(fault)] });
  });

  test('what all would read is refused before it is compared', async () => {
    const sdl = `${LINK} "${'x'.repeat(1_200_000)}" type Query { offers: Int @tag(name: "partner") }`;
    await expect(assess(step(sdl))).rejects.toMatchObject({
      faults: [expect.stringContaining('have 1200000 bytes, and may have 65536')],
    });
    const inputs = Array.from(
      { length: 34 },
      (_, n) => `input I${n} { a: I${n + 1} = {} b: I${n + 1} = {} }`,
    );
    const chain = `${LINK} type Query { offers(of: I0 = {}): Int @tag(name: "partner") } ${inputs.join(' ')} input I34 { a: Int = 4 }`;
    await expect(assess(step(chain))).rejects.toMatchObject({
      faults: expect.arrayContaining([
        expect.stringMatching(
          /^the partner surface: the default value of Query.offers\(of:\) has \d{12} /,
        ),
      ]),
    });
  });
});

// What a schema may have of names and texts.

const PROSE = 's.graphql: descriptions and deprecation reasons have';

test.each<[string, string, string[]]>([
  [
    '64 KiB and a byte of descriptions',
    `"${'é'.repeat(32_768)}" scalar A type Query { "x" a: Int }`,
    [`${PROSE} 65537 bytes, and may have 65536`],
  ],
  [
    '70,000 bytes of deprecation reasons',
    `enum E { A @deprecated(reason: """${'x'.repeat(70_000)}""") }`,
    [`${PROSE} 70000 bytes, and may have 65536`],
  ],
  [
    'a megabyte of comments',
    `scalar A\n${`#${'x'.repeat(99)}\n`.repeat(10_000)}`,
    ['s.graphql: comments and blanks have 1009988 bytes, and may have 65536'],
  ],
  [
    'a megabyte of blanks and commas',
    `scalar A${' ,\n\t'.repeat(250_000)}`,
    ['s.graphql: comments and blanks have 999987 bytes, and may have 65536'],
  ],
  [
    'a megabyte of blanks in a description',
    `"""\n${' '.repeat(1_000_000)}\n""" scalar A`,
    ['s.graphql: comments and blanks have 999996 bytes, and may have 65536'],
  ],
  [
    'ten thousand fields with deep indentation',
    `type Query {\n${Array.from({ length: 10_000 }, (_, n) => `        f${n}: Int\n\n`).join('')}}`,
    [],
  ],
  ['lists five deep', 'type Query { a(b: [[[[[Int!]!]]]]): Int }', []],
  [
    'lists six deep',
    'type Query { a(b: [[[[[[Int!]!]]]]]): Int }',
    ['s.graphql:1:19: a type has lists 6 deep, and may have 5'],
  ],
  [
    'a name of 129 characters',
    `type Query { a(${'x'.repeat(129)}: Int): Int }`,
    ['s.graphql:1:16: a name has 129 characters, and may have 128'],
  ],
  [
    'a description that turns its sentence around',
    '"a \\u202E b" scalar A',
    ['s.graphql:1:1: a text must not contain format characters or line separators'],
  ],
  [
    'a default value with a zero-width space',
    'type Query { a(b: String = "\u200b"): Int }',
    ['s.graphql:1:28: a text must not contain format characters or line separators'],
  ],
  [
    'a reason with a carriage return',
    'enum E { A @deprecated(reason: "a\\rb") }',
    ['s.graphql:1:32: a text must not contain control characters'],
  ],
  [
    'a comment that turns its line around, or sends commands to a terminal',
    'scalar A # a\u202eb\n# \u001b[2J\r\n#\tc\nscalar B #',
    [
      's.graphql:1:10: a comment must not contain format characters or line separators',
      's.graphql:2:1: a comment must not contain control characters',
    ],
  ],
  [
    '64 KiB in lines, joiners, and a name of 128 characters',
    `"${'x'.repeat(65_526)}\\n\\t\u200c\u200d\u00ad" scalar ${'S'.repeat(128)}`,
    [],
  ],
  ['a byte order mark', '\ufeffscalar A', []],
])('%s', (_what, sdl, faults) => {
  expect(proseFaults(sdl, 's.graphql')).toEqual(faults);
});

// Faults of schemas, with the files and lines they are about.
describe('compose', () => {
  const LINK =
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])';
  const BOOKS = `${LINK}
type Query {
  book: Book @tag(name: "partner")
}
type Book @key(fields: "id") {
  id: ID! @tag(name: "partner")
  title: String
  cover(size: Int!): String
}
`;

  function faultsOf(reviews: string): readonly string[] {
    const link = reviews.includes('@link') ? '' : LINK;
    const sources = [
      { name: 'books', sdl: BOOKS, file: 'books.graphql' },
      { name: 'reviews', sdl: `${link}\n${reviews}`, file: 'some/reviews.graphql' },
    ];
    try {
      composeSupergraph(sources);
    } catch (error) {
      if (error instanceof CompositionError) return error.faults;
      throw error;
    }
    return [];
  }

  test.each<[string, string, RegExp[]]>([
    ['nothing', 'type Book @key(fields: "id") { id: ID! stars: Int @tag(name: "member") }', []],
    ['a syntax error', 'type Book {\n  id: ID!\n', [/^some\/reviews\.graphql:4:1: Syntax Error: /]],
    [
      'commands to a terminal in a description',
      'type Book @key(fields: "id") { id: ID!\n"\\u001b[2J" stars: Int }',
      [/^a description or another text has control characters$/],
    ],
    ['an unknown type', 'type Book {\n  id: Idd!\n}', [/^some\/reviews\.graphql:3:\d+: .*Idd/]],
    [
      'a subscription',
      'extend schema {\n subscription: Sub\n}\ntype Sub {\n  a: Int\n}',
      [/^some\/reviews\.graphql:3:2: subscriptions are not supported: use events/],
    ],
    [
      'requirements with other arguments, which no plan has both of',
      `type Book @key(fields: "id") {
      id: ID!  cover(size: Int!): String @federation__external
      a: Int @federation__requires(fields: "cover(size: 1)")
      b: Int @federation__requires(fields: "cover(size: 1)")
      c: Int @federation__requires(fields: "cover(size: 2)")
    }`,
      [
        /^some\/reviews\.graphql:6:7: Book\.c requires Book\.cover with other arguments than Book\.a,/,
      ],
    ],
    [
      'directives that no gateway enforces',
      'type Mutation {\n  a: Int @federation__authenticated\n  b: Int @requiresScopes(scopes: [["x"]])\n}',
      [
        /^some\/reviews\.graphql:3:10: @authenticated is not supported: use @tag\(name: "member"\)/,
        /^some\/reviews\.graphql:4:10: @requiresScopes is not supported: use @tag\(name: "scope-/,
      ],
    ],
    [
      "directives of its own that are named as federation's",
      `directive @policy(name: String) on FIELD_DEFINITION
    directive @my__context(name: String) on FIELD_DEFINITION
    type Mutation {
      a: Int @policy(name: "x") @my__context
    }`,
      [],
    ],
    [
      'directives that no gateway enforces, by other names',
      `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", as: "f",
      import: [{ name: "@policy", as: "@guard" }])
    directive @policy on FIELD_DEFINITION
    type Mutation {
      a: Int @guard(policies: [["x"]]) @policy
      b: Int @f__authenticated
    }`,
      [/: @policy is not supported: use @tag\(name: "scope-/, /: @authenticated is not supported/],
    ],
    [
      'directives that no gateway enforces, by a URL that is written otherwise',
      `schema @link(url: "https://specs.apollo.dev/link/v1.0") @link(
        url: "HTTPS://x@specs%2Eapollo.dev/federation/v2.9", import: [{ name: "@policy", as: "@guard" }]
      ) { mutation: Mutation }
      type Mutation { a: Int @guard(policies: [["x"]]) }
      directive @guard(policies: [[String!]!]!) on FIELD_DEFINITION`,
      [/: @policy is not supported: use @tag\(name: "scope-/],
    ],
    [
      'links by other names, behind which all directives could have others',
      `schema @core(feature: "https://specs.apollo.dev/core/v0.2")
        @my(url: "https://specs.apollo.dev/link/v1.0", as: "my") @own(as: "other")
        @link(url: "https://specs.apollo.dev/link/v1.0", as: "link") { mutation: Mutation }
      type Mutation { a: Int }`,
      [
        /^some\/reviews\.graphql:2:8: @core is not supported: use @link, by this name$/,
        /^some\/reviews\.graphql:3:9: @my is not supported: use @link, by this name$/,
      ],
    ],
    [
      'two types of one field',
      'type Book @key(fields: "id") {\n  id: ID!\n  title: Int\n}',
      [
        /^books\.graphql:7:3, some\/reviews\.graphql:4:3: Type of field "Book\.title" is incompatible/,
        /^books\.graphql:7:3, some\/reviews\.graphql:4:3: Non-shareable field "Book\.title"/,
      ],
    ],
    [
      'a scope',
      'type Mutation {\n  a: Int @tag(name: "partner") @tag(name: "scope-ingest")\n}',
      [],
    ],
    [
      'a scope that does not exist',
      'type Mutation {\n  a: Int @tag(name: "scope-write")\n}',
      [
        /^some\/reviews\.graphql:3:\d+: the @tag on a names no scope: read, enroll, sign-in, ingest$/,
      ],
    ],
    [
      'a scope below the root',
      'type Book @key(fields: "id") {\n  id: ID!\n  stars: Int @tag(name: "scope-read")\n}',
      [/^a @tag on Book\.stars names a scope, which only root fields have$/],
    ],
    [
      'a type with a name of federation',
      'type join__FieldSet { a: Int } type Query { a: join__FieldSet }',
      [/^the schemas do not compose: /],
    ],
    [
      'what leads to root fields',
      `interface Asked { all: [Query!] }
      type Query implements Asked { all: [Query!] }
      type Mutation { add: Int }
      union Found = Book | Mutation
      type Book @key(fields: "id") { id: ID! }`,
      [
        /^Asked\.all leads to Query or Mutation/,
        /^Found leads to Query or Mutation/,
        /^Asked leads to Query or Mutation/,
        /^Query\.all leads to Query or Mutation/,
      ],
    ],
    [
      'a tag on a type, and one that names no surface',
      'type Book @key(fields: "id") @tag(name: "partner") {\n  id: ID!\n  stars: Int @tag(name: "prtner")\n}',
      [
        /^some\/reviews\.graphql:2:\d+: @tag is on Book, but belongs on fields only$/,
        /^some\/reviews\.graphql:4:\d+: the @tag on stars names no surface$/,
      ],
    ],
    [
      'a tag that names no surface, in a schema that defines it and links federation',
      `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", as: "f")
      directive @tag(name: String!) repeatable on FIELD_DEFINITION
      type Mutation { a: Int @tag(name: "prtner") }`,
      [/: the @tag on a names no surface$/],
    ],
  ])('%s', (_what, reviews, expected) => {
    const faults = faultsOf(reviews);
    expect(faults).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(faults[index]).toMatch(pattern);
  });
});

// What the deprecation policy forbids: early removals, and deprecations that are too short.

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

test('changes of a version have 32 KiB at most on a surface', () => {
  const after = schemasOf(FIELD);
  const changes = Array.from({ length: 150 }, (_, place) => ({
    ...{ surface: 'partner' as const, level: 'breaking' as const, kind: 'removed' as const },
    ...{ coordinate: `Query.${'x'.repeat(124)}${place}`, message: 'm'.repeat(300) },
  }));
  const lines = versionChanges(changes, after);
  expect(lines.length).toBe(75);
});

test('a default value has at most 16 KiB with those of its fields, or what it had', () => {
  const chain = (depth: number, of = '{}') => {
    const inputs = Array.from(
      { length: depth },
      (_, n) => `input I${n} { a: I${n + 1} = {} b: [I${n + 1}] = [{}, {}] }`,
    );
    const last = `input I${depth} { a: String = "${'x'.repeat(100)}" b: Int = 1`;
    return schemasOf(`i(of: I0 = ${of}): Int @tag(name: "partner") } ${inputs.join(' ')} ${last}`);
  };
  const [small, large, deep] = [chain(3), chain(5), chain(70)];
  const fault = (coordinate: string, length: number) =>
    `the partner surface: the default value of ${coordinate} has ${length} characters with those of its fields, and may have 16384`;
  expect(defaultFaults(large, small)).toEqual([]);
  expect(defaultFaults(small, large)).toEqual([
    fault('I0.b', 17_816),
    fault('Query.i(of:)', 26_727),
  ]);
  expect(defaultFaults(large, large)).toEqual([]);
  expect(defaultFaults(small, chain(5, '{ b: [] }'))).toEqual([fault('I0.b', 17_816)]);
  expect(defaultFaults(small, deep)).toContain(fault('Query.i(of:)', 1e12));
  const written = `i(of: [String] = ["${'x'.repeat(20_000)}"]): Int @tag(name: "partner")`;
  expect(defaultFaults(small, schemasOf(written))).toEqual([]);
});
