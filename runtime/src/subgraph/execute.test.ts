// Operations on a subgraph end as graphql-js ends them, the first time and later.

import fc from 'fast-check';
import {
  buildSchema,
  execute,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
} from 'graphql';
import { drawOperation } from '../../../test/support/cases/drawn.ts';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { createCaches } from '../cache/caches.ts';
import { ApiError, ERRORS, fail } from '../errors.ts';
import type { LogFields } from '../observe/fields.ts';
import { createLog, type Log } from '../observe/log.ts';
import type { SubgraphRequest, SubgraphResponse } from '../transport/types.ts';
import { createIsValid } from '../validity.ts';
import { createExecutor } from './executor.ts';
import { createInProcessTransport } from './inprocess.ts';
import type { Subgraph, SubgraphContext } from './types.ts';

// Operations of every kind end as graphql-js ends them: in data, in errors, in what resolvers get.

const CALLER = { kind: 'service' } as const;
const SDL = `
scalar Money
scalar Json
enum Color { RED GREEN BLUE }
input Point { x: Int!  y: Int = 7  color: Color = GREEN  next: Point  tags: [String!] = ["t"]
  money: Money  id: ID  rest: Json  must: Boolean! = true }
input Choice @oneOf { text: String  number: Int  point: Point }
interface Node { id: ID!  name(color: Color, cut: Int = 3): String  self: Node }
type Thing implements Node { id: ID!  name(color: Color, cut: Int = 3, more: [String]): String
  self: Thing  size: Int  plain: String  must: String!  color: Color  colors: [Color!]
  others(first: Int! = 2): [Other]  mustBe: Other!  eithers: [Either!]!  money: Money }
type Other implements Node { id: ID!  name(color: Color, cut: Int = 3): String!  self: Node
  plain: Float  things: [[Thing!]]  flag(if: Boolean!): Boolean }
union Either = Thing | Other
type Query { thing(id: ID!, point: Point = { x: 1 }): Thing
  things(first: Int = 2, points: [Point!], matrix: [[Int]]): [Thing]  must: Thing!
  node(color: Color! = RED): Node  either(json: Json, money: Money): Either
  choose(choice: Choice, choices: [Choice!]): String  eithers(colors: [Color]): [Either!]
  text(a: String = "d", b: [ID!], c: Float, d: Boolean! = true, e: String!): String }
type Mutation { set(point: Point!, points: [[Point]]): Thing!  clear(name: String, id: ID): Thing
  add(first: Float, second: [Json!]! = [1]): Int! }
`;

let calls: string[] = [];
let seed = 0;
let isAsync = false;
const schema = resolved(buildSchema(SDL));

const USES = 2;
// Fields that conflict are executed all the same.
const isValid = createIsValid(
  specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule),
);

test('operations end as graphql-js ends them, however often they are used', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), fc.nat(), fc.boolean(), async (g, drawnSeed, drawnAsync) => {
      const { query, variables } = drawOperation(g, schema);
      fc.pre(isValid(schema, parse(query)));
      seed = drawnSeed;
      isAsync = drawnAsync;
      const stock = await observed(interpret(query, variables));
      const execute = createExecutor(
        { name: 'things', schema },
        createLog('silent'),
        createCaches(),
      );
      const request = { query, variables, caller: CALLER, requestId: 'r' };
      for (let use = 1; use <= USES; use += 1) {
        const own = await observed(async () => execute(request));
        expect({ query, variables, use, ...own }).toEqual({ query, variables, use, ...stock });
      }
    }),
    { numRuns: Number(process.env.OPERATIONS ?? 2_000) },
  );
}, 3_600_000);

test('what a list leaves behind when an item fails is handled', async () => {
  const list = buildSchema('type Query { list: [Int!] }');
  const { list: field } = list.getQueryType()?.getFields() ?? {};
  const error = new ApiError('MEMBER_NOT_FOUND');
  Object.assign(field ?? {}, { resolve: () => [Promise.reject(new Error('late')), error] });
  const execute = createExecutor(
    { name: 'list', schema: list },
    createLog('silent'),
    createCaches(),
  );
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const { data, errors } = await execute({ query: '{ list }', caller: CALLER, requestId: 'r' });
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect({ data, errors, unhandled }).toEqual({
    data: { list: null },
    errors: [
      { message: error.message, path: ['list', 1], extensions: { code: 'MEMBER_NOT_FOUND' } },
    ],
    unhandled: [],
  });
});

/** What graphql-js itself makes of an operation. */
function interpret(query: string, variableValues: Record<string, unknown>) {
  return async () => {
    const document = parse(query);
    const contextValue = { caller: CALLER, requestId: 'r' };
    const { data, errors } = await execute({ schema, document, variableValues, contextValue });
    return { data, errors: errors?.map(masked) };
  };
}

function masked({ originalError, path }: GraphQLError) {
  const place = path === undefined ? {} : { path };
  if (originalError instanceof ApiError)
    return { message: originalError.message, ...place, extensions: { code: originalError.code } };
  const { message } = ERRORS.INTERNAL_SERVER_ERROR;
  return { message, ...place, extensions: { code: 'INTERNAL_SERVER_ERROR' } };
}

async function observed(
  run: () => Promise<{ data?: unknown; errors?: readonly unknown[] | undefined }>,
) {
  calls = [];
  const { data, errors = [] } = await run();
  // In JSON, the order of fields counts.
  return {
    data: JSON.stringify(data),
    errors: errors.map((error) => JSON.stringify(error)),
    calls,
  };
}

/** Half of the fields have resolvers, which note what they get. */
function resolved(built: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(built.getTypeMap())) {
    if (isScalarType(type) && type.name === 'Money')
      Object.assign(type, {
        parseValue: (value: unknown) =>
          typeof value === 'number' ? { cents: value } : fail('BAD_USER_INPUT'),
        parseLiteral: (node: { value: unknown }) => ({ cents: Number(node.value) }),
        serialize: (value: unknown) => (typeof value === 'number' ? value : undefined),
      });
    if (isEnumType(type) && type.name === 'Color')
      for (const [index, value] of type.getValues().entries())
        Object.assign(value, { value: [0, '', { blue: true }][index] });
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields()))
      if (field.args.length > 0 || hash(field.name) % 2 === 0 || type.name === 'Query')
        field.resolve = resolverOf(type.name, field.type);
  }
  return built;
}

function resolverOf(
  typeName: string,
  type: GraphQLOutputType,
): GraphQLFieldResolver<unknown, { caller: unknown }> {
  return (source, args, context, info) => {
    const path: unknown[] = [];
    for (let at: typeof info.path | undefined = info.path; at; at = at.prev) path.unshift(at.key);
    calls.push(
      JSON.stringify([
        typeName,
        info.fieldName,
        String(source),
        args,
        info.variableValues,
        context.caller,
        path,
        info.fieldNodes.length,
      ]),
    );
    return outcome(`${seed} ${path.join()} ${JSON.stringify(args)}`, type);
  };
}

/** What a field has, by a number that its place decides. */
function outcome(key: string, type: GraphQLOutputType): unknown {
  const number = hash(key) % 24;
  if (number === 0) return failing(() => null);
  if (number === 1) return failing(() => fail('MEMBER_NOT_FOUND'));
  if (number === 2) return failing(() => new Error('returned'));
  if (number === 3)
    return failing(() => {
      throw 'a text';
    });
  const value = resultOf(key, type);
  return isAsync && number % 2 === 0 ? Promise.resolve(value) : value;
}

/** In asynchronous runs, whatever fails does so later. */
function failing(make: () => unknown): unknown {
  return isAsync ? Promise.resolve().then(make) : make();
}

function resultOf(key: string, type: GraphQLOutputType): unknown {
  if (isNonNullType(type)) return resultOf(key, type.ofType);
  const number = hash(`${key} result`);
  if (number % 23 === 0) return failing(() => ({ wrong: true }));
  // If an item fails at once, graphql-js leaves the promises of those before it without a handler.
  if (isListType(type))
    return Array.from({ length: number % (isAsync ? 2 : 4) }, (_, index) =>
      outcomeOrError(`${key} ${index}`, type.ofType),
    );
  if (isEnumType(type)) return ['', 0][number % 2];
  if (isScalarType(type))
    return type.name === 'Boolean' ? true : type.name === 'Money' ? number : `${number % 100}`;
  const names = isAbstractType(type)
    ? schema.getPossibleTypes(type).map(({ name }) => name)
    : [type.name];
  return objectOf(key, names[number % names.length] ?? '');
}

/** An object whose properties are what its fields have; some are functions. */
function objectOf(key: string, typename: string): unknown {
  const type = schema.getType(typename);
  const fields = isObjectType(type) ? type.getFields() : {};
  const get = (_: object, name: string | symbol) => {
    if (name === '__typename') return typename;
    if (name === 'toString') return () => key;
    const field =
      typeof name === 'string' && Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return undefined;
    const read = () => outcomeOrError(`${key}.${field.name}`, field.type);
    return hash(key) % 5 === 0 ? read : read();
  };
  return new Proxy({}, { get });
}

function outcomeOrError(key: string, type: GraphQLOutputType): unknown {
  try {
    return outcome(key, type);
  } catch {
    return new ApiError('INVALID_TOKEN');
  }
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 16_777_619);
  return (value ^ (value >>> 15)) >>> 0;
}

// Operations on a subgraph: the same result the first time and later.

const ITEMS = `
type Query {
  echo(text: String!): String
  caller: String
  items: [Item]
  later(text: String!): String
  _entities(representations: [_Any!]!): [_Entity]!
}
type Item { id: ID!  name: String }
scalar _Any
union _Entity = Item
`;

type Resolver = GraphQLFieldResolver<unknown, SubgraphContext, Record<string, string>>;

/** The first use prepares the operation; the others find it prepared. */
const TIMES = [1, 2, 3];

test('only the service hands requests over, and a failure is masked', async () => {
  const asked = { method: 'GET', path: '/', search: '', headers: {}, body: '' };
  const forwarded = { ...asked, clientAddress: '192.0.2.1', language: 'en' };
  const { execute, request } = subgraph({}, undefined, async ({ path }) =>
    path === '/' ? { status: 200, headers: {}, body: 'page' } : Promise.reject(new Error('secret')),
  );
  const handed = (more: Partial<SubgraphRequest>) => execute({ ...request, forwarded, ...more });
  expect(await handed({})).toEqual({ data: { status: 200, headers: {}, body: 'page' } });
  const refused = await handed({ caller: { kind: 'partner', partnerId: 'p' } });
  expect(refused.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  const failed = await handed({ forwarded: { ...forwarded, path: '/x' } });
  expect(failed.errors?.[0]?.extensions.code).toBe('INTERNAL_SERVER_ERROR');
  expect(JSON.stringify(failed)).not.toContain('secret');
});

test('resolvers receive the caller and the ID of their own request', () => {
  const { execute } = subgraph({
    'Query.caller': (_, __, { caller, requestId }) => `${JSON.stringify(caller)} ${requestId}`,
  });
  for (const n of TIMES) {
    const reply = execute({
      query: '{ caller }',
      caller: { kind: 'partner', partnerId: `p${n}` },
      requestId: `r${n}`,
    });
    expect(reply).toEqual({ data: { caller: `{"kind":"partner","partnerId":"p${n}"} r${n}` } });
  }
});

describe('an error', () => {
  const raise = (error: Error) => {
    throw error;
  };
  const unavailable = Object.assign(new Error('connect 10.0.0.7'), { code: 'ECONNREFUSED' });

  test.each<[string, () => unknown, string, number]>([
    ['of a caller', () => fail('MEMBER_NOT_FOUND'), 'MEMBER_NOT_FOUND', 0],
    ['that is unexpected', () => raise(new TypeError('10.0.0.7')), 'INTERNAL_SERVER_ERROR', 1],
    ['of an unavailable store', () => raise(unavailable), 'SERVICE_UNAVAILABLE', 1],
  ])(
    '%s reveals nothing, and has a line with the request ID if it is ours',
    (_, resolve, code, count) => {
      const { run, lines } = subgraph({ 'Query.echo': resolve });
      for (const _ of TIMES)
        expect(run('{ a:echo(text:"") }')).toEqual({
          data: { a: null },
          errors: [
            { message: expect.not.stringContaining('10.0'), path: ['a'], extensions: { code } },
          ],
        });
      expect(lines.map(({ fields }) => [fields.requestId, fields.code])).toEqual(
        Array(count * TIMES.length).fill(['r', code]),
      );
    },
  );

  test.each(['{ echo(', '{ nothing }', 'query($t: Int!) { echo(text: $t) }', ''])(
    'of a document that is invalid in this schema is INTERNAL_SERVER_ERROR: %s',
    (query) => {
      const { run, lines } = subgraph({});
      for (const _ of TIMES)
        expect(run(query)).toMatchObject({
          errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
        });
      expect(lines).toHaveLength(TIMES.length);
    },
  );
});

describe('entities', () => {
  const query = 'query($r:[_Any!]!){ _entities(representations:$r){ ... on Item { id name } } }';
  const r = ['a', 'none', 'bad', 'b'].map((id) => ({ __typename: 'Item', id }));
  const resolve = ({ id }: { id: string }) => {
    if (id === 'bad') throw new ApiError('SERVICE_UNAVAILABLE');
    return id === 'none' ? null : { id, name: `name of ${id}` };
  };
  const expected = {
    data: {
      _entities: [{ id: 'a', name: 'name of a' }, null, null, { id: 'b', name: 'name of b' }],
    },
    errors: [
      {
        message: expect.any(String),
        path: ['_entities', 2],
        extensions: { code: 'SERVICE_UNAVAILABLE' },
      },
    ],
  };

  test('resolve synchronously, in the order requested, to null if there is none or it fails', () => {
    const { run } = subgraph({}, resolve);
    for (const _ of TIMES) expect(run(query, { r })).toEqual(expected);
  });

  test('resolve asynchronously if their resolver does', async () => {
    const { run } = subgraph({}, async (reference) => resolve(reference));
    for (const _ of TIMES) expect(await run(query, { r })).toEqual(expected);
  });

  test('of an unknown type do not affect the others', async () => {
    const { run } = subgraph({}, ({ id }) => ({ id, name: id }));
    const representations = {
      r: [{ __typename: 'Other', id: 'x' }, { id: 'y' }, { __typename: 'Item', id: 'a' }],
    };
    for (const _ of TIMES)
      expect(await run(query, representations)).toMatchObject({
        data: { _entities: [null, null, { id: 'a' }] },
        errors: [{}, {}],
      });
  });
});

test('in process, each operation is counted by its outcome, and one that never ends is given up after two seconds', async () => {
  const { transport, request, calls } = subgraph({
    'Query.echo': () => 'now',
    'Query.items': async () => {
      throw new Error('no');
    },
    'Query.later': () => new Promise(() => {}),
  });
  const execute = (query: string) => transport.execute({ ...request, query });
  // It is no promise.
  expect(execute('{ echo(text:"") }')).toEqual({ data: { echo: 'now' } });
  await execute('{ items { id } }');
  const reply = await withFakeTimeouts(async (passTime) => {
    const late = execute('{ later(text:"") }');
    await passTime(2_000);
    return late;
  });
  expect(reply).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
  expect(calls).toEqual(['things ok', 'things error', 'things timeout']);
});

/** A subgraph with these resolvers, and with `__resolveReference` for its only entity. */
function subgraph(
  resolvers: Record<string, Resolver>,
  resolveReference?: (reference: { id: string }) => unknown,
  forward?: Subgraph['forward'],
) {
  const schema = buildSchema(ITEMS);
  for (const [coordinate, resolve] of Object.entries(resolvers)) {
    const [type = '', field = ''] = coordinate.split('.');
    fieldsOf(schema, type)[field] = Object.assign(fieldsOf(schema, type)[field] ?? {}, {
      resolve,
    }) as never;
  }
  Object.assign(schema.getType('Item') ?? {}, {
    extensions: { apollo: { subgraph: { resolveReference } } },
  });
  const lines: { level: string; fields: LogFields }[] = [];
  const write = (level: string) => (fields: LogFields) => void lines.push({ level, fields });
  const log: Log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    outage: write('warn'),
    recovered: write('info'),
    refused: write('info'),
    infoJson: () => {},
    flush: () => {},
  };
  const execute = createExecutor({ name: 'things', schema, forward }, log, createCaches());
  const request: SubgraphRequest = { query: '', caller: { kind: 'service' }, requestId: 'r' };
  const run = (
    query: string,
    variables?: Record<string, unknown>,
  ): SubgraphResponse | Promise<SubgraphResponse> =>
    plain(execute({ ...request, query, variables }));
  const calls: string[] = [];
  const metrics = {
    subgraphCall: (name: string, outcome: string) => void calls.push(`${name} ${outcome}`),
    circuit: () => {},
  };
  const transport = createInProcessTransport(
    { name: 'things', schema, ready: async () => {}, close: async () => {} },
    log,
    createCaches(),
    metrics,
  );
  return { execute, run, lines, transport, request, calls };
}

function fieldsOf(schema: GraphQLSchema, name: string): Record<string, object> {
  const type = schema.getType(name);
  return isObjectType(type) ? type.getFields() : {};
}

/** A copy with prototypes, without which objects compare as unequal. */
function plain(
  reply: SubgraphResponse | Promise<SubgraphResponse>,
): SubgraphResponse | Promise<SubgraphResponse> {
  return 'then' in reply ? reply.then((late) => structuredClone(late)) : structuredClone(reply);
}
