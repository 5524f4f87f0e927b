// Operations on a subgraph: the same result the first time and later.
import { buildSchema, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { createCaches } from '../cache/caches.ts';
import { fail } from '../errors.ts';
import type { LogFields } from '../observe/fields.ts';
import type { Log } from '../observe/log.ts';
import { withDeadline } from '../transport/deadline.ts';
import type { SubgraphRequest, SubgraphResponse } from '../transport/types.ts';
import { createExecutor } from './executor.ts';
import { createInProcessTransport } from './inprocess.ts';
import type { Subgraph, SubgraphContext } from './types.ts';

const SDL = `
  type Query {
    echo(text: String!): String
    caller: String
    item(id: ID!): Item
    items: [Item]
    needed: String!
    later(text: String!): String
    "As in every federated subgraph."
    _entities(representations: [_Any!]!): [_Entity]!
  }
  type Mutation { first: String  second: String }
  type Item { id: ID!  name: String  broken: String }
  scalar _Any
  union _Entity = Item
`;

type Resolver = GraphQLFieldResolver<unknown, SubgraphContext, Record<string, string>>;

/** The first use prepares the operation; the others find it prepared. */
const TIMES = [1, 2, 3];

test('responds synchronously if the resolvers are synchronous', () => {
  const { run } = subgraph({ 'Query.echo': (_, { text }) => text });
  for (const _ of TIMES)
    expect(
      run('query($t:String!){ echo(text:$t) again:echo(text:"b") __typename }', { t: 'a' }),
    ).toEqual({
      data: { echo: 'a', again: 'b', __typename: 'Query' },
    });
});

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
  test('with a code keeps its code, message and path, thrown or rejected, and is not logged', async () => {
    const { run, lines } = subgraph({
      'Query.echo': () => fail('MEMBER_NOT_FOUND'),
      'Query.later': async () => fail('BAD_USER_INPUT', 'this text is too long'),
    });
    for (const _ of TIMES) {
      expect(await run('{ a:echo(text:"") later(text:"") }')).toEqual({
        data: { a: null, later: null },
        errors: expect.arrayContaining([
          { message: 'member not found', path: ['a'], extensions: { code: 'MEMBER_NOT_FOUND' } },
          {
            message: 'this text is too long',
            path: ['later'],
            extensions: { code: 'BAD_USER_INPUT' },
          },
        ]),
      });
    }
    expect(lines).toEqual([]);
  });

  test('that is unexpected reveals nothing, and is logged with the request ID', async () => {
    const { run, lines } = subgraph({
      'Query.items': () => [{ id: 'a' }],
      'Item.broken': () => {
        throw new TypeError('secret of row 7');
      },
      'Query.later': () => Promise.reject(new Error('secret of row 8')),
    });
    for (const _ of TIMES) {
      expect(await run('{ items { id broken } later(text:"") }')).toEqual({
        data: { items: [{ id: 'a', broken: null }], later: null },
        errors: expect.arrayContaining([
          {
            message: 'something went wrong on our side',
            path: ['items', 0, 'broken'],
            extensions: { code: 'INTERNAL_SERVER_ERROR' },
          },
          {
            message: 'something went wrong on our side',
            path: ['later'],
            extensions: { code: 'INTERNAL_SERVER_ERROR' },
          },
        ]),
      });
    }
    expect(lines.map(({ level, fields }) => [level, fields.requestId, fields.code])).toEqual(
      Array(2 * TIMES.length).fill(['error', 'r', 'INTERNAL_SERVER_ERROR']),
    );
  });

  test('of an unavailable store is SERVICE_UNAVAILABLE', () => {
    const { run } = subgraph({
      'Query.echo': () => {
        throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { code: 'ECONNREFUSED' });
      },
    });
    for (const _ of TIMES) {
      expect(run('{ echo(text:"") }')).toEqual({
        data: { echo: null },
        errors: [
          {
            message: 'the service is unavailable for the moment',
            path: ['echo'],
            extensions: { code: 'SERVICE_UNAVAILABLE' },
          },
        ],
      });
    }
  });

  test.each(['{ echo(', '{ nothing }', 'query($t: Int!) { echo(text: $t) }', ''])(
    'of a document that is invalid in this schema is INTERNAL_SERVER_ERROR: %s',
    (query) => {
      const { run, lines } = subgraph({});
      for (const _ of TIMES)
        expect(run(query)).toEqual({
          errors: [
            {
              message: 'something went wrong on our side',
              extensions: { code: 'INTERNAL_SERVER_ERROR' },
            },
          ],
        });
      expect(lines).toHaveLength(TIMES.length);
    },
  );
});

describe('entities', () => {
  const query = 'query($r:[_Any!]!){ _entities(representations:$r){ ... on Item { id name } } }';
  const items = (...ids: string[]) => ({ r: ids.map((id) => ({ __typename: 'Item', id })) });

  test('resolve synchronously, in the order requested, to null if there is none', () => {
    const { run } = subgraph({}, ({ id }) =>
      id === 'none' ? null : { id, name: `name of ${id}` },
    );
    for (const _ of TIMES) {
      expect(run(query, items('a', 'none', 'b'))).toEqual({
        data: { _entities: [{ id: 'a', name: 'name of a' }, null, { id: 'b', name: 'name of b' }] },
      });
    }
  });

  test('resolve asynchronously if their resolver does', async () => {
    const { run } = subgraph({}, async ({ id }) => ({ id, name: 'late' }));
    for (const _ of TIMES)
      expect(await run(query, items('a'))).toEqual({
        data: { _entities: [{ id: 'a', name: 'late' }] },
      });
  });

  test('that fail do not affect the others', async () => {
    const { run } = subgraph({}, ({ id }) =>
      id === 'bad' ? fail('SERVICE_UNAVAILABLE') : { id, name: id },
    );
    for (const _ of TIMES) {
      expect(await run(query, items('a', 'bad', 'b'))).toEqual({
        data: { _entities: [{ id: 'a', name: 'a' }, null, { id: 'b', name: 'b' }] },
        errors: [
          {
            message: 'the service is unavailable for the moment',
            path: ['_entities', 1],
            extensions: { code: 'SERVICE_UNAVAILABLE' },
          },
        ],
      });
    }
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

describe('in process', () => {
  test('a synchronous response stays synchronous', () => {
    const { transport, request } = subgraph({ 'Query.echo': () => 'now' });
    expect(transport.execute({ ...request, query: '{ echo(text:"") }' })).toEqual({
      data: { echo: 'now' },
    });
  });

  test('a response after the deadline is SERVICE_UNAVAILABLE', async () => {
    expect(await withDeadline(new Promise(() => {}), 10)).toEqual({
      data: null,
      errors: [
        {
          message: 'the service is unavailable for the moment',
          extensions: { code: 'SERVICE_UNAVAILABLE' },
        },
      ],
    });
    expect(await withDeadline(Promise.resolve({ data: {} }), 10)).toEqual({ data: {} });
  });

  test('a subgraph that never responds is SERVICE_UNAVAILABLE after two seconds', async () => {
    const { transport, request, calls } = subgraph({ 'Query.later': () => new Promise(() => {}) });
    const reply = await withFakeTimeouts(async (passTime) => {
      const late = transport.execute({ ...request, query: '{ later(text:"") }' });
      await passTime(2_000);
      return late;
    });
    expect(reply).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    expect(calls).toEqual(['things timeout']);
  });

  test('each operation is counted by its outcome', async () => {
    const { transport, request, calls } = subgraph({
      'Query.echo': () => 'now',
      'Query.later': async () => {
        throw new Error('no');
      },
    });
    transport.execute({ ...request, query: '{ echo(text:"") }' });
    await transport.execute({ ...request, query: '{ later(text:"") }' });
    expect(calls).toEqual(['things ok', 'things error']);
  });
});

/** A subgraph with these resolvers, and with `__resolveReference` for its only entity. */
function subgraph(
  resolvers: Record<string, Resolver>,
  resolveReference?: (reference: { id: string }) => unknown,
  forward?: Subgraph['forward'],
) {
  const schema = buildSchema(SDL);
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
