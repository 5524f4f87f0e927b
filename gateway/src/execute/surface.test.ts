// What each surface shows, and how its reads are planned.

import { readFileSync } from 'node:fs';
import { composeServices } from '@apollo/composition';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { SubgraphRequest, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { buildSchema, parse, print, printSchema } from 'graphql';
import { parseDocument } from '../document/document.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { SUPERGRAPH_FILE } from '../graph/committed.ts';
import { type SurfaceName, surfaceSdl } from '../schema/surfaces.ts';
import { openExecutor } from './executor.ts';
import { fieldsOf, renameFields } from './rename.ts';
import { openSurface } from './surface.ts';

const supergraph = readFileSync(SUPERGRAPH_FILE, 'utf8');

function recording(
  answer: (request: SubgraphRequest) => Record<string, unknown>,
): Transport & { asked: SubgraphRequest[] } {
  const asked: SubgraphRequest[] = [];
  return {
    asked,
    execute: (request) => {
      asked.push(request);
      return { data: answer(request) };
    },
    ready: async () => {},
    close: async () => {},
  };
}

async function schemaOf(surface: SurfaceName): Promise<string> {
  const nothing = recording(() => ({}));
  const opened = await openExecutor(
    surface,
    supergraph,
    { gateway: nothing, members: nothing, standings: nothing },
    createCaches(),
  );
  return printSchema(opened.schema);
}

test('a surface shows only its own fields and the types they lead to', async () => {
  const partner = await schemaOf('partner');
  const member = await schemaOf('member');
  expect(partner).toContain('memberByEmail(email: String!): PartnerMemberRead');
  expect(partner).toContain('input EnrollMemberInput');
  expect(partner).not.toMatch(
    /MemberProfile|PartnerStanding|MembershipYearStats|activePartnerIds|@tag|_entities|join__/,
  );
  expect(member).toContain('memberProfile(id: ID!): MemberProfile');
  expect(member).not.toMatch(
    /PartnerMemberRead|EnrollMember|activePartnerIds|memberByEmail|_entities/,
  );
});

test('a field without a tag is on no surface, but others may be computed from it', async () => {
  const members = recording(() => ({
    memberProfile: { __typename: 'MemberProfile', memberId: 'm', activePartnerIds: ['p'] },
  }));
  const standings = recording(() => ({
    _entities: [{ partnerStandings: [{ partnerId: 'p', tier: 'GOLD', points: 7 }] }],
  }));
  const surface = await openExecutor(
    'member',
    supergraph,
    { gateway: members, members, standings },
    createCaches(),
  );
  const query = '{ memberProfile(id: "m") { partnerStandings { partnerId tier points } } }';
  const caller = { kind: 'member', memberId: 'm' } as const;
  const result = await surface.execute({
    key: query,
    variables: {},
    coerced: {},
    caller,
    requestId: 'r',
    size: new ResponseSize(),
  });
  expect(result).toMatchObject({
    data: { memberProfile: { partnerStandings: [{ partnerId: 'p', tier: 'GOLD', points: 7 }] } },
  });
  expect(standings.asked[0]).toMatchObject({
    caller,
    requestId: 'r',
    variables: { representations: [{ activePartnerIds: ['p'] }] },
  });
});

test('a read asks each subgraph once, and a look-up without a result does not ask standings', async () => {
  const found = { __typename: 'PartnerMemberRead', memberId: 'm', email: 'e' };
  const members = recording(({ query }) =>
    query.includes('as__1:') ? { as__0: found, as__1: null } : { as__0: null },
  );
  const standings = recording(() => ({ _entities: [{ tier: 'GOLD', points: 7 }] }));
  const surface = await openExecutor(
    'partner',
    supergraph,
    { gateway: members, members, standings },
    createCaches(),
  );
  const run = (query: string) =>
    surface.execute({
      key: query,
      variables: {},
      coerced: {},
      caller: { kind: 'partner', partnerId: 'p' },
      requestId: 'r',
      size: new ResponseSize(),
    });
  await run(
    '{ a: memberByEmail(email: "a") { email tier points } b: memberByEmail(email: "b") { email tier points } }',
  );
  expect([members.asked.length, standings.asked.length]).toEqual([1, 1]);
  await run('{ a: memberByEmail(email: "a") { email tier points } }');
  expect([members.asked.length, standings.asked.length]).toEqual([2, 1]);
});

test('a document shows what its variables skip and include, whatever it was executed with before', async () => {
  const found = { __typename: 'PartnerMemberRead', memberId: 'm', email: 'e', firstName: 'f' };
  const members = recording(() => ({ as__0: found }));
  const standings = recording(() => ({}));
  const surface = await openExecutor(
    'partner',
    supergraph,
    { gateway: members, members, standings },
    createCaches(),
  );
  const query = `query ($skip: Boolean!, $include: Boolean!) {
    a: memberByEmail(email: "a") { memberId email @skip(if: $skip) firstName @include(if: $include) } }`;
  for (const skip of [false, true])
    for (const include of [true, false]) {
      const variables = { skip, include };
      const { data } = await surface.execute({
        key: query,
        variables,
        coerced: variables,
        caller: { kind: 'partner', partnerId: 'p' },
        requestId: 'r',
        size: new ResponseSize(),
      });
      const shown = {
        memberId: 'm',
        ...(!skip && { email: 'e' }),
        ...(include && { firstName: 'f' }),
      };
      expect({ ...variables, data }).toEqual({ ...variables, data: { a: shown } });
    }
});

describe('a graph of another team', () => {
  const TAGS = '@tag(name: "partner") @tag(name: "member")';
  const LINK =
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@tag"])';

  async function openOn(sdl: string, data: Record<string, unknown>) {
    const offers = recording(() => data);
    const typeDefs = parse(`${LINK}\n${sdl}`);
    const { supergraphSdl: graph = '' } = composeServices([
      { name: 'offers', url: 'http://offers', typeDefs },
    ]);
    const surface = await openSurface('partner', graph, { offers }, createCaches());
    const run = async (query: string) => {
      const document = parseDocument(query);
      const operation = surface.prepare(document, document.operations[0]);
      const caller = { kind: 'partner', partnerId: 'p' } as const;
      const result = await surface.execute(operation, { variables: {}, caller, requestId: 'r' });
      return JSON.parse(JSON.stringify(result));
    };
    return { run, surface };
  }

  test.each([
    ['is direct', 'Place'],
    ["is Apollo's", 'Any'],
  ])(
    'has a list where an object is due as an error at its path, if the plan %s',
    async (_, type) => {
      const sdl = `interface Any { name: String ${TAGS} in: ${type} ${TAGS} }
      type Place implements Any { name: String ${TAGS} in: ${type} ${TAGS} }
      type Query { place: ${type} ${TAGS} }`;
      const place = { __typename: 'Place', name: 'n' };
      const nowhere = { name: 'n', in: null };
      const shapes: [given: unknown, shown: unknown, paths: string[][]][] = [
        [[], null, [['place']]],
        [[place], null, [['place']]],
        ['text', null, [['place']]],
        [{ ...place, in: [place] }, nowhere, [['place', 'in']]],
        [{ ...place, in: 7 }, nowhere, [['place', 'in']]],
      ];
      for (const [given, shown, paths] of shapes) {
        const { run, surface } = await openOn(sdl, { place: given });
        const { data, nullViolations } = await run('{ place { name in { name } } }');
        expect([data.place, nullViolations]).toEqual([shown, paths]);
        surface.close();
      }
    },
  );

  test('has names that every object of JavaScript has', async () => {
    const { run, surface } = await openOn(
      `scalar toString scalar constructor
       input valueOf { toString: toString constructor: constructor = {} }
       type hasOwnProperty { toString: toString ${TAGS} constructor: constructor ${TAGS} }
       type Query { toString(valueOf: valueOf): hasOwnProperty ${TAGS} constructor: toString ${TAGS} }`,
      { toString: { toString: { a: 1 } }, constructor: [1] },
    );
    const names = await run('{ __type(name: "valueOf") { inputFields { name defaultValue } } }');
    expect(names.data.__type.inputFields).toEqual([
      { name: 'toString', defaultValue: null },
      { name: 'constructor', defaultValue: '{}' },
    ]);
    expect(await run('{ toString { toString constructor } constructor }')).toEqual({
      data: { toString: { toString: { a: 1 }, constructor: null }, constructor: [1] },
      errors: [],
      nullViolations: [],
    });
    surface.close();
  });

  test('shows the default values of custom scalars, whatever they are', async () => {
    const values = ['{}', '{a: [1, {b: null}]}', '[]', '["x", true]', '7', 'null'];
    const args = values.map((value, index) => `a${index}: Filter = ${value}`).join(' ');
    const { run, surface } = await openOn(
      `scalar Filter type Query { later(${args} n: Int = 3 all: [Filter!] = [{}]): String ${TAGS} }`,
      {},
    );
    const { data } = await run(
      '{ __type(name: "Query") { fields { args { defaultValue } } } s: __type(name: "Filter") { name } }',
    );
    expect(data.s).toEqual({ name: 'Filter' });
    const shown = data.__type.fields[0].args.map(
      (each: { defaultValue: string }) => each.defaultValue,
    );
    expect(shown).toEqual([...values, '3', '[{}]']);
    expect(surface.sdl).toContain('a0: Filter = {}, a1: Filter = {a: [1, {b: null}]}');
    expect((await run('{ later }')).data).toEqual({ later: null });
    surface.close();
  });
});

describe('surfaceSdl', () => {
  const sdl = (body: string) => `directive @tag(name: String!) repeatable on FIELD_DEFINITION
    directive @link(url: String) repeatable on SCHEMA
    schema @link(url: "https://specs.apollo.dev/link/v1.0") { query: Query } ${body}`;

  test('hides types that no visible field leads to, including enums, inputs and unions', () => {
    const cut = surfaceSdl(
      sdl(`type Query { a(x: In): A @tag(name: "partner") b: B } type A { c: E @tag(name: "partner") d: B } type B { e: F }
        enum E { X } enum F { Y } input In { n: Nested } input Nested { s: String } input Other { s: String } union U = A | B`),
      'partner',
    );
    const hidden = (name: string) =>
      new RegExp(`(type|enum|input|union) ${name}\\b[^{=]*@inaccessible`).test(cut);
    expect(['B', 'F', 'Other', 'U'].every(hidden)).toBe(true);
    expect(['Query', 'A', 'E', 'In', 'Nested'].some(hidden)).toBe(false);
    expect(() => buildSchema(cut, { assumeValidSDL: true })).not.toThrow();
  });

  test('refuses a visible field whose type has no visible field', () => {
    expect(() =>
      surfaceSdl(sdl('type Query { a: A @tag(name: "partner") } type A { b: Int }'), 'partner'),
    ).toThrow(/A.*on the partner surface/);
  });
});

describe('renameFields', () => {
  const schema = buildSchema(`
    type Query { a: A b(n: Int): Int }
    type Mutation { add(n: Int): Int }
    type A { x: Int y(n: Int): Int a: A }`);
  const renamed = (query: string) =>
    print(
      renameFields(parse(query), schema, fieldsOf(parse(printSchema(schema)))).document,
    ).replace(/\s+/g, ' ');

  test('selects a leaf once, whatever its aliases, for each combination of arguments', () => {
    expect(renamed('{ a { p: x q: x x } }')).toBe('{ a { x } }');
    expect(renamed('{ a { p: y(n: 1) q: y(n: 1) r: y(n: 2) } }')).toBe(
      '{ a { y__0: y(n: 1) y__1: y(n: 2) } }',
    );
  });

  test('keeps leaves with different conditions', () => {
    expect(renamed('query ($c: Boolean!) { a { p: x @include(if: $c) x } }')).toBe(
      'query ($c: Boolean!) { a { x @include(if: $c) x } }',
    );
  });

  test('keeps the root fields of a mutation apart, because each of them is executed', () => {
    expect(renamed('mutation { p: add(n: 1) q: add(n: 1) }')).toBe(
      'mutation { as__0: add(n: 1) as__1: add(n: 1) }',
    );
  });

  test('operations that differ only in aliases become the same one', () => {
    const one = renamed('{ p: a { q: a { x } } a { p: y(n: 1) } }');
    expect(one).toBe('{ as__0: a { as__1: a { x } } a { y__2: y(n: 1) } }');
    expect(renamed('{ x: a { as__0: a { y: x } } a { y(n: 1) } }')).toBe(one);
  });

  test('the same alias gets one name, which no field has', () => {
    const taken = buildSchema('type Query { as__0: Query again: Query x: Int }');
    const document = parse('{ p: again { p: as__0 { x } } p: again { q: as__0 { x } } }');
    const { document: result } = renameFields(document, taken, fieldsOf(parse(printSchema(taken))));
    expect(print(result).replace(/\s+/g, ' ')).toBe(
      '{ as__1: again { as__1: as__0 { x } } as__1: again { as__2: as__0 { x } } }',
    );
  });
});
