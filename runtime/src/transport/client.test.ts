// The HTTP transport: what arrives, and what becomes of each operation if something fails.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema, type GraphQLFieldResolver } from 'graphql';
import { until } from '../../../test/support/until.ts';
import { createCaches } from '../cache/caches.ts';
import {
  createHttpTransport,
  createInProcessTransport,
  createLog,
  fail,
  type Scope,
  type Subgraph,
  type SubgraphReply,
  type SubgraphRequest,
  serveSubgraph,
  type Transport,
} from '../index.ts';
import { encodeReply } from './wire.ts';

const SECRET = 'the secret of the tests';
const UNAVAILABLE = {
  data: null,
  errors: [
    {
      message: 'the service is unavailable for the moment',
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    },
  ],
};
const log = createLog('silent');
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('a subgraph over HTTP', () => {
  test('gives the same replies as in process', async () => {
    const { transport, subgraph } = await serveThings();
    const inProcess = createInProcessTransport(subgraph, log, createCaches());
    for (const each of [
      request('{ scope }'),
      request('query($t:String!){ echo(text:$t) }', { t: 'ü🎈\n"' }),
      request('{ a:refused b:scope }'),
      request('{ broken }'),
      request('{ nothing }'),
      request('mutation { change }'),
      request('query A { scope } query B { echo(text:"b") }', undefined, 'B'),
    ]) {
      const local = JSON.parse(JSON.stringify(await inProcess.execute(each)));
      expect(await transport.execute(each)).toEqual(local);
    }
  });

  test('answers 200 operations of one tick in their own scopes, in few requests', async () => {
    const { transport, seen } = await serveThings();
    const scopes: Scope[] = Array.from({ length: 200 }, (_, n) =>
      n % 2 === 0
        ? { kind: 'partner', partnerId: `p${n}ü` }
        : { kind: 'member', memberId: `m${n}`, partnerId: `p${n}` },
    );
    const replies = await Promise.all(
      scopes.map((scope, n) =>
        transport.execute({
          ...request(n % 3 === 0 ? '{ scope }' : '{ later scope }'),
          scope,
          requestId: `r${n}`,
        }),
      ),
    );
    expect(replies.map((reply) => JSON.parse(String(reply.data?.scope)))).toEqual(
      scopes.map((scope, n) => ({ scope, requestId: `r${n}` })),
    );
    expect(seen.requests).toBeLessThanOrEqual(10);
  });

  test('answers a quick operation while a slow one of the same tick is running', async () => {
    const { transport, release } = await serveThings();
    const slow = transport.execute(request('{ slow }'));
    expect(await transport.execute(request('{ scope }'))).toMatchObject({ data: {} });
    release();
    expect(await slow).toEqual({ data: { slow: 'released' } });
  });

  test('is SERVICE_UNAVAILABLE only for the operation that misses its deadline', async () => {
    const { transport } = await serveThings({ deadlineMs: 500 });
    const [never, quick] = await Promise.all([
      transport.execute(request('{ slow }')),
      transport.execute(request('{ later }')),
    ]);
    expect(never).toEqual(UNAVAILABLE);
    expect(quick).toEqual({ data: { later: 'later' } });
    expect(await transport.execute(request('{ later }'))).toEqual({ data: { later: 'later' } });
  });

  test('does not let the error of one operation affect the others', async () => {
    const { transport } = await serveThings();
    const replies = await Promise.all(
      ['{ refused }', '{ scope }', '{ broken }', '{', '{ scope }'].map((query) =>
        transport.execute(request(query)),
      ),
    );
    expect(replies.map(codeOf)).toEqual([
      'MEMBER_NOT_FOUND',
      'OK',
      'INTERNAL_SERVER_ERROR',
      'INTERNAL_SERVER_ERROR',
      'OK',
    ]);
  });

  test('is SERVICE_UNAVAILABLE if the secrets differ', async () => {
    const { transport } = await serveThings({ secret: 'another secret of the tests' });
    expect(await transport.execute(request('{ scope }'))).toEqual(UNAVAILABLE);
    await expect(transport.ready()).rejects.toThrow('not ready');
  });

  test('is ready if its store is', async () => {
    const { transport, subgraph } = await serveThings();
    await transport.ready();
    subgraph.ready = () => Promise.reject(new Error('down'));
    await expect(transport.ready()).rejects.toThrow('not ready');
  });

  test('is SERVICE_UNAVAILABLE if nobody listens', async () => {
    const { url } = await serveFake(() => {});
    await closing.pop()?.();
    const transport = connectTo(url);
    expect(await transport.execute(request('{ scope }'))).toEqual(UNAVAILABLE);
    await expect(transport.ready()).rejects.toThrow();
  });

  test('is SERVICE_UNAVAILABLE after the transport is closed', async () => {
    const { transport } = await serveThings();
    await transport.close();
    expect(await transport.execute(request('{ scope }'))).toEqual(UNAVAILABLE);
  });
});

describe('a connection that ends', () => {
  test('before any answer has its queries sent again, but not its mutations', async () => {
    const received: string[][] = [];
    const { transport } = await serveFake((operations, response) => {
      received.push(operations.map(({ query }) => query));
      if (received.length === 1) response.destroy();
      else response.end(operations.map((_, i) => `{"i":${i},"data":{"again":true}}\n`).join(''));
    });
    const queries = [
      '{ a }',
      'mutation { change }',
      'query B { b }',
      'query C { c } mutation D { d }',
      'fragment F on Query { f } mutation { change }',
    ];
    const replies = await Promise.all(queries.map((query) => transport.execute(request(query))));
    expect(received).toEqual([queries, ['{ a }', 'query B { b }']]);
    expect(replies.map(codeOf)).toEqual([
      'OK',
      'SERVICE_UNAVAILABLE',
      'OK',
      'SERVICE_UNAVAILABLE',
      'SERVICE_UNAVAILABLE',
    ]);
  });

  test('twice is SERVICE_UNAVAILABLE', async () => {
    let times = 0;
    const { transport } = await serveFake((_, response) => {
      times++;
      response.destroy();
    });
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
    expect(times).toBe(2);
  });

  test('half-way keeps the answers that have arrived, and sends nothing again', async () => {
    let times = 0;
    const { transport } = await serveFake((_, response) => {
      times++;
      response.write('{"i":1,"data":{"b":1}}\n{"i":0,"da', () => response.destroy());
    });
    const replies = await Promise.all([
      transport.execute(request('{ a }')),
      transport.execute(request('{ b }')),
    ]);
    expect(replies).toEqual([UNAVAILABLE, { data: { b: 1 } }]);
    expect(times).toBe(1);
  });

  test('after the deadline has nothing sent again', async () => {
    let times = 0;
    const { transport } = await serveFake(
      (_, response) => {
        times++;
        setTimeout(() => response.destroy(), 200);
      },
      { deadlineMs: 50 },
    );
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
    await closing.pop()?.();
    expect(times).toBe(1);
  });
});

describe('an answer', () => {
  test.each<[string, number, string]>([
    ['a page', 200, '<html>\n<body>\n'],
    ['an empty body', 200, ''],
    ['a refusal', 401, '{"errors":[]}'],
    ['an error', 500, '{"i":0,"data":{"a":1}}\n'],
    ['a redirect', 302, ''],
    ['a line of another shape', 200, '{"i":0,"data":[1]}\n'],
    [
      'an unknown code',
      200,
      '{"i":0,"errors":[{"message":"secret","extensions":{"code":"ODD"}}]}\n',
    ],
    ['an answer to an unknown operation', 200, '{"i":7,"data":{"a":1}}\n'],
  ])('is SERVICE_UNAVAILABLE if it is %s', async (_, status, body) => {
    const { transport } = await serveFake((__, response) => response.writeHead(status).end(body));
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
  });

  test('counts only the first time', async () => {
    const { transport } = await serveFake((_, response) =>
      response.end('{"i":0,"data":{"a":1}}\n{"i":0,"data":{"a":2}}\n{"i":1,"data":{"b":1}}\n'),
    );
    expect(
      await Promise.all([transport.execute(request('{ a }')), transport.execute(request('{ b }'))]),
    ).toEqual([{ data: { a: 1 } }, { data: { b: 1 } }]);
  });

  test('may arrive in pieces that split a character', async () => {
    const bytes = Buffer.from('{"i":0,"data":{"a":"ü🎈"}}\n');
    const { transport } = await serveFake(async (_, response) => {
      for (const byte of bytes)
        await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
      response.end();
    });
    expect(await transport.execute(request('{ a }'))).toEqual({ data: { a: 'ü🎈' } });
  });

  test('that is too long fails only its own operation', async () => {
    const { transport } = await serveFake((_, response) => {
      response.write(`{"i":1,"data":{"b":"${'x'.repeat(3_000_000)}"}}\n`);
      response.end('{"i":0,"data":{"a":1}}\n{"i":2,"data":{"c":1}}\n');
    });
    const replies = await Promise.all(
      ['{ a }', '{ b }', '{ c }'].map((query) => transport.execute(request(query))),
    );
    expect(replies).toEqual([{ data: { a: 1 } }, UNAVAILABLE, { data: { c: 1 } }]);
  });

  test('that never ends is cut off', async () => {
    const { transport } = await serveFake((_, response) => {
      const timer = setInterval(() => response.write('{}\n'.repeat(1000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
  });

  test('that does not come by the deadline is SERVICE_UNAVAILABLE, even if no connection was free', async () => {
    const { transport } = await serveFake(() => {}, { deadlineMs: 200 });
    const replies: (SubgraphReply | Promise<SubgraphReply>)[] = [];
    for (let tick = 0; tick < 40; tick++) {
      replies.push(transport.execute(request('{ a }')));
      await new Promise(setImmediate);
    }
    expect(await Promise.all(replies)).toEqual(replies.map(() => UNAVAILABLE));
  });
});

test('every operation is counted once, by its outcome', async () => {
  const counted: string[] = [];
  const { transport } = await serveThings({ deadlineMs: 500, counted });
  await Promise.all(
    ['{ scope }', '{ refused }', '{ slow }'].map((query) => transport.execute(request(query))),
  );
  await transport.close();
  await transport.execute(request('{ scope }'));
  expect(counted.sort()).toEqual([
    'things error',
    'things ok',
    'things timeout',
    'things unreachable',
  ]);
});

describe('a subgraph that hangs', () => {
  test('is given up after 5 missed deadlines in a row, so that no further call waits, until it answers', async () => {
    const counted: string[] = [];
    const seen: string[] = [];
    let hangs = true;
    const { transport } = await serveFake(
      (operations, response) => {
        seen.push(operations.length === 0 ? 'probe' : 'call');
        if (!hangs) response.end(encodeReply(0, { data: { scope: 'answer' } }));
      },
      { deadlineMs: 50, counted },
    );
    for (let call = 0; call < 5; call++)
      expect(codeOf(await transport.execute(request('{ scope }')))).toBe('SERVICE_UNAVAILABLE');
    // Not even a promise: the caller does not wait at all.
    for (let call = 0; call < 100; call++)
      expect(transport.execute(request('{ scope }'))).toEqual(UNAVAILABLE);
    await expect(transport.ready()).rejects.toThrow('circuit');
    expect(seen).toEqual(Array(5).fill('call'));
    expect(counted.filter((outcome) => outcome === 'circuit refused')).toHaveLength(100);
    expect(counted.filter((outcome) => outcome === 'circuit opened')).toHaveLength(1);

    await until(() => seen.length >= 7);
    expect(seen.slice(5)).toEqual(seen.slice(5).fill('probe'));
    expect(counted).not.toContain('circuit closed');
    hangs = false;
    await until(() => counted.includes('circuit closed'));
    const reply = await transport.execute(request('{ scope }'));
    expect(reply.data).toEqual({ scope: 'answer' });
  });

  test('only now and then is not given up', async () => {
    const counted: string[] = [];
    let calls = 0;
    const { transport } = await serveFake(
      (_, response) => {
        calls += 1;
        if (calls % 5 === 0) response.end(encodeReply(0, { data: { scope: 'answer' } }));
      },
      { deadlineMs: 50, counted },
    );
    for (let call = 0; call < 12; call++) await transport.execute(request('{ scope }'));
    expect(calls).toBe(12);
    expect(counted).not.toContain('circuit opened');
  });

  test('for some operations and answers others is not given up', async () => {
    const counted: string[] = [];
    const { transport } = await serveThings({ deadlineMs: 100, counted });
    const slow = Array.from({ length: 10 }, () => transport.execute(request('{ slow }')));
    expect(codeOf(await transport.execute(request('{ scope }')))).toBe('OK');
    await Promise.all(slow);
    expect(counted).not.toContain('circuit opened');
  });

  test('in this process is given up as well, and taken back when it is ready', async () => {
    const held: (() => void)[] = [];
    const subgraph = things(held);
    const counted: string[] = [];
    const metrics = {
      subgraphCall: () => {},
      circuit: (_: string, outcome: string) => void counted.push(outcome),
    };
    const transport = createInProcessTransport(subgraph, log, createCaches(), metrics);
    closing.push(() => transport.close());
    await Promise.all(Array.from({ length: 5 }, () => transport.execute(request('{ slow }'))));
    expect(transport.execute(request('{ scope }'))).toEqual(UNAVAILABLE);
    expect(counted).toEqual(['opened', 'refused']);
    await until(() => counted.includes('closed'));
    expect(codeOf(await transport.execute(request('{ scope }')))).toBe('OK');
  });
});

type Options = { secret?: string; deadlineMs?: number; counted?: string[] };

function connectTo(
  url: string,
  { secret = SECRET, counted = [], ...rest }: Options = {},
): Transport {
  const metrics = {
    subgraphCall: (subgraph: string, outcome: string) =>
      void counted.push(`${subgraph} ${outcome}`),
    circuit: (_: string, outcome: string) => void counted.push(`circuit ${outcome}`),
  };
  const transport = createHttpTransport({ name: 'things', url, secret, log, metrics, ...rest });
  closing.push(() => transport.close());
  return transport;
}

/** A subgraph behind serveSubgraph, and a transport to it. */
async function serveThings(options: Options = {}) {
  const seen = { requests: 0 };
  const held: (() => void)[] = [];
  const subgraph = things(held);
  const server = await serveSubgraph({
    subgraph,
    settings: { host: '127.0.0.1', port: 0, subgraphs: {}, subgraphSecret: SECRET },
    log,
    metrics: { request: () => void seen.requests++ },
    caches: createCaches(),
  });
  const release = () => {
    for (const go of held.splice(0)) go();
  };
  closing.push(() => server.close());
  closing.push(async () => release());
  return {
    transport: connectTo(`http://127.0.0.1:${server.port}`, options),
    subgraph,
    seen,
    release,
  };
}

/** A server that responds as the test defines, and a transport to it. */
async function serveFake(
  answer: (operations: { query: string }[], response: ServerResponse) => void,
  options: Options = {},
) {
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    response.on('error', () => {});
    answer(JSON.parse(body || '[]'), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = connectTo(url, options);
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { transport, url };
}

function things(held: (() => void)[]): Subgraph {
  const schema = buildSchema(
    'type Query { scope: String  echo(text: String!): String  refused: String  broken: String  slow: String  later: String } type Mutation { change: String }',
  );
  const resolvers: Record<
    string,
    GraphQLFieldResolver<unknown, unknown, Record<string, string>>
  > = {
    scope: (_, __, context) => JSON.stringify(context),
    echo: (_, { text }) => text,
    refused: () => fail('MEMBER_NOT_FOUND'),
    broken: () => {
      throw new Error('secret');
    },
    slow: () => new Promise((resolve) => held.push(() => resolve('released'))),
    later: () => new Promise((resolve) => setImmediate(resolve, 'later')),
    change: () => 'changed',
  };
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const [name, field] of Object.entries(type?.getFields() ?? {}))
      Object.assign(field, { resolve: resolvers[name] });
  return { name: 'things', schema, ready: async () => {}, close: async () => {} };
}

function request(
  query: string,
  variables?: Record<string, unknown>,
  operationName?: string,
): SubgraphRequest {
  return { query, variables, operationName, scope: { kind: 'service' }, requestId: 'r' };
}

function codeOf(reply: SubgraphReply): string {
  return reply.errors?.[0]?.extensions.code ?? 'OK';
}
