// What subgraphs get for the literals and variables of callers, whichever way a plan is run.

import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { SubgraphRequest, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { execute, GraphQLScalarType, parse, print, specifiedRules, validate } from 'graphql';
import { parseDocument } from '../document/document.ts';
import { openSurface, type Surface } from './surface.ts';

const TAG = '@tag(name: "partner") @tag(name: "member")';
const FIELDS = `
  said(text: String, n: Int, id: ID, x: Float, big: Big, all: [Big!], deep: [[Big]], in: Range, rows: [Row], row: Row): String ${TAG}
  plain: String ${TAG}`;
const STAYS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])
  scalar Big
  input Range { min: Big max: Big list: [Big] at: Mark }
  input Row { n: Big = 10.10 id: ID = 9007199254740993 all: [Big] rows: [Row!] }
  enum Mark { LOW HIGH }
  interface Asset { ${FIELDS} }
  type Villa implements Asset @key(fields: "id") { id: ID! ${TAG} ${FIELDS} }
  type Boat implements Asset { ${FIELDS} }
  type Query { asset: Asset ${TAG} villa(on: Boolean): Villa ${TAG} }
  type Mutation { move: Asset ${TAG} }`;
const PRICES = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])
  type Villa @key(fields: "id") { id: ID! price(representations: [Int]): String ${TAG} }`;

/** What the subgraph's library makes of its defaults; those of a gateway would be "json 10.1". */
const ROW = { n: 10.1, id: '9007199254740992' };

/** Its literals are their text, its variables their JSON. */
const Big = new GraphQLScalarType({
  name: 'Big',
  parseLiteral: (node) => print(node).replace(/\s/g, ''),
  parseValue: (value) => `json ${JSON.stringify(value)}`,
});
const said = (args: object) => JSON.stringify(args);
const villa = { __typename: 'Villa', id: 'v', said, plain: 'yes' };
const asked: SubgraphRequest[] = [];

function transportTo(sdl: string, resolvers: object, roots: object = {}): Transport {
  // Cast: resolvers of a test.
  const schema = buildSubgraphSchema({ typeDefs: parse(sdl), resolvers: resolvers as never });
  return {
    async execute(request) {
      asked.push(request);
      const document = parse(request.query);
      const [fault] = validate(schema, document, specifiedRules);
      if (fault !== undefined) throw fault;
      const variableValues = JSON.parse(JSON.stringify(request.variables ?? {}));
      const { data, errors } = await execute({
        schema,
        document,
        rootValue: roots,
        variableValues,
      });
      if (errors?.[0] !== undefined) throw errors[0];
      return JSON.parse(JSON.stringify({ data }));
    },
    ready: async () => {},
    close: async () => {},
  };
}

const { supergraphSdl: supergraph = '' } = composeServices(
  Object.entries({ stays: STAYS, prices: PRICES }).map(([name, sdl]) => ({
    name,
    url: `http://${name}`,
    typeDefs: parse(sdl),
  })),
);
let surface: Surface;

beforeAll(async () => {
  surface = await openSurface(
    'partner',
    supergraph,
    {
      stays: transportTo(STAYS, { Big }, { asset: villa, villa }),
      prices: transportTo(PRICES, {
        Villa: {
          __resolveReference: (reference: object) => reference,
          price: (_: unknown, args: object) => said(args),
        },
      }),
    },
    createCaches(),
  );
});
afterAll(() => surface.close());

async function ask(query: string, variables: Record<string, unknown> = {}) {
  const document = parseDocument(query);
  const operation = surface.prepare(document, document.operations[0]);
  asked.length = 0;
  const result = await surface.execute(operation, {
    variables,
    caller: { kind: 'partner', partnerId: 'p' },
    requestId: 'r',
  });
  expect([result.errors, result.nullViolations]).toEqual([[], []]);
  return JSON.parse(JSON.stringify(result.data));
}

/** Apollo's execution is needed for fields of an interface. */
const WAYS = ['asset', 'villa'];

describe.each(WAYS)('below %s', (root) => {
  const argsOf = async (args: string, variables = '', values = {}) => {
    const data = await ask(`query ${variables} { ${root} { said(${args}) } }`, values);
    return JSON.parse(data[root].said);
  };

  test.each([
    ['big: 9007199254740993', { big: '9007199254740993' }],
    ['big: 10.10', { big: '10.10' }],
    ['big: 1e400', { big: '1e400' }],
    ['big: LOW', { big: 'LOW' }],
    ['big: "10.10"', { big: 'json "10.10"' }],
    [
      'big: {a: [9007199254740993, {b: 1.50}], c: "x"}',
      { big: '{a:[9007199254740993,{b:1.50}],c:"x"}' },
    ],
    ['all: [1.10, 2]', { all: ['1.10', '2'] }],
    ['all: {a: 1.10}', { all: ['{a:1.10}'] }],
    ['deep: [[1.10], null]', { deep: [['1.10'], null] }],
    [
      'in: {min: 10.10, list: [0.10], at: HIGH}',
      { in: { min: '10.10', list: ['0.10'], at: 'HIGH' } },
    ],
    ['row: {}', { row: ROW }],
    ['rows: [{}, null]', { rows: [ROW, null] }],
    ['rows: [{n: 9007199254740993, id: "x"}]', { rows: [{ n: '9007199254740993', id: 'x' }] }],
    [
      'row: {rows: [{id: 12345678901234567890, all: [LOW, 1.50]}]}',
      { row: { ...ROW, rows: [{ ...ROW, id: '12345678901234567890', all: ['LOW', '1.50'] }] } },
    ],
    ['id: 12345678901234567890', { id: '12345678901234567890' }],
    ['x: 10000000000000000000000', { x: 1e22 }],
  ])('(%s) arrives digit for digit', async (args, expected) => {
    expect(await argsOf(args)).toEqual(expected);
  });

  test('so do default values, and numbers beside variables', async () => {
    expect(await argsOf('big: $a', '($a: Big = 9007199254740993)')).toEqual({
      big: '9007199254740993',
    });
    expect(await argsOf('big: $a', '($a: Big = 9007199254740993)', { a: 1 })).toEqual({
      big: 'json 1',
    });
    expect(await argsOf('big: {min: $a, max: 10.10}', '($a: Int)', { a: 2 })).toEqual({
      big: '{min:$a,max:10.10}',
    });
    expect(await argsOf('all: [10.10, $a]', '($a: Big!)', { a: 2 })).toEqual({
      all: ['10.10', 'json 2'],
    });
  });

  test('equal literals are one, also under a condition and in an object or a list', async () => {
    for (const args of [
      'text: "en"',
      'n: 1, in: {min: 1, max: 2.50}',
      'all: [1]',
      'big: {a: 1, b: 2}',
    ]) {
      const again = args
        .replace('min: 1, max: 2.50', 'max: 2.50, min: 1')
        .replace('a: 1, b: 2', 'b: 2, a: 1');
      const query = `query ($on: Boolean!) { ${root} {
        said(${args}) ... on Villa { said(${again}) } ... @include(if: $on) { said(${args}) } plain } }`;
      for (const on of [true, false]) {
        const data = await ask(query, { on });
        expect(data[root]).toEqual({ said: expect.any(String), plain: 'yes' });
      }
    }
  });

  test('literals that differ stay apart', async () => {
    const data = await ask(
      `{ ${root} { a: said(text: "1") b: said(id: "1") c: said(text: "2") } }`,
    );
    expect(data[root]).toEqual({ a: '{"text":"1"}', b: '{"id":"1"}', c: '{"text":"2"}' });
  });
});

test('operations with other literals have one plan, which holds none of them', async () => {
  await ask('{ villa { said(big: 10.10, text: "secret") } }');
  const [first] = asked;
  await ask('{ villa { said(big: 20.20, text: "other") } }');
  expect(first?.query).toContain('10.10');
  expect(first?.query).not.toContain('secret');
  expect(asked[0]?.query).toBe(first?.query.replace('10.10', '20.20'));
});

test.each(['query', 'mutation'])(
  'what a literal leaves out of a %s is not asked for',
  async (kind) => {
    const field = kind === 'query' ? 'asset' : 'move';
    for (const left of ['@skip(if: true)', '@include(if: false)'])
      expect(
        await ask(`${kind} ($on: Boolean = true, $off: Boolean = false) {
        ... @include(if: $on) { ${field} ${left} { plain @include(if: $off) } } }`),
      ).toEqual({});
    expect(asked).toEqual([]);
  },
);

test.each(WAYS)('%s is an object, even if conditions leave it no field', async (root) => {
  for (const left of [
    'plain @skip(if: true)',
    'plain @include(if: $off)',
    '... on Villa @include(if: $off) { price }',
    '... @skip(if: true) { ... on Asset { plain } }',
    '...Left',
  ])
    expect(
      await ask(`query ($off: Boolean = false) { ${root} @skip(if: $off) { ${left} } }
        ${left === '...Left' ? 'fragment Left on Villa { price @include(if: $off) }' : ''}`),
    ).toEqual({ [root]: {} });
});

test.each(['representations', 'literal0', 'literal1', 'toString', 'constructor'])(
  'a variable may be named %s, with literals and entities beside it',
  async (name) => {
    const query = (root: string) => `query ($${name}: [Int], $on: Boolean!) {
      ${root} { said(text: "x", n: 1) ... on Villa { price(representations: $${name}) } plain @include(if: $on) } }`;
    for (const root of WAYS) {
      const data = await ask(query(root), { [name]: [7], on: false });
      expect(data[root]).toEqual({
        said: '{"text":"x","n":1}',
        price: '{"representations":[7]}',
      });
      expect((await ask(query(root), { on: true }))[root]).toEqual({
        said: '{"text":"x","n":1}',
        price: '{}',
        plain: 'yes',
      });
    }
    const undeclared = Object.fromEntries([0, 1, 2].map((number) => [`${name}${number}`, [7]]));
    expect(
      await ask(
        `query ($${name}: [Int]) { villa { price(representations: $${name}) } }`,
        undeclared,
      ),
    ).toEqual({ villa: { price: '{}' } });
    const condition = `query ($${name}: Boolean = true) { villa(on: $${name}) { id @skip(if: $${name}) price } }`;
    expect(await ask(condition)).toEqual({ villa: { price: '{}' } });
    expect(await ask(condition, { [name]: false })).toEqual({ villa: { id: 'v', price: '{}' } });
  },
);
