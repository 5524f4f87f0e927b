// The HTTP transport: what arrives, and what becomes of each operation if something fails.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { buildSchema, type GraphQLFieldResolver } from 'graphql';
import { startDns } from '../../../test/support/servers/dns.ts';
import { until } from '../../../test/support/until.ts';
import { createCaches } from '../cache/caches.ts';
import { fail } from '../errors.ts';
import type { Dns } from '../http/dns.ts';
import { serveHttp } from '../http/server.ts';
import type { LogFields } from '../observe/fields.ts';
import { createLog } from '../observe/log.ts';
import { createInProcessTransport } from '../subgraph/inprocess.ts';
import { createSubgraphHandler } from '../subgraph/server.ts';
import type { Subgraph } from '../subgraph/types.ts';
import { Circuit } from './circuit.ts';
import { createHttpTransport } from './client.ts';
import type { AllowsHost } from './hosts.ts';
import { countParts, createReadBudget, hasLongName } from './parts.ts';
import { isFlood, reasonOf } from './refusals.ts';
import { oneSecret, type SubgraphSecrets } from './secrets.ts';
import { createArrays } from './send.ts';
import type { Caller, SubgraphRequest, SubgraphResponse, Transport } from './types.ts';
import { encodeLine } from './wire.ts';

const SECRET = 'the secret of the tests';
const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/graphql-response+jsonl';
const CODES = ['MEMBER_NOT_FOUND', 'OFFER_EXPIRED'];
const UNAVAILABLE = {
  data: null,
  errors: [
    {
      message: 'the service is unavailable for the moment',
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    },
  ],
};
const TOO_LARGE = {
  data: null,
  errors: [
    {
      message: 'this part of the response is too large',
      extensions: { code: 'OPERATION_TOO_COMPLEX' },
    },
  ],
};
const MIB = 1024 * 1024;
/** For megabytes on a busy machine. */
const PATIENT = { deadlineMs: 60_000 };
const pairs = (place: number) =>
  place.toString(2).padStart(13, '0').replaceAll('0', 'Aa').replaceAll('1', 'BB');
const permuted = (place: number) =>
  Array.from(place.toString(2).padStart(13, '0'), (bit, at) => `"${bit}${at}":{}`).join();
const log = createLog('silent');
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('a subgraph over HTTP', () => {
  test('gives the same responses as in process', async () => {
    const { transport, subgraph } = await serveThings();
    const inProcess = createInProcessTransport(subgraph, log, createCaches());
    for (const each of [
      request('{ caller }'),
      request('query($t:String!){ echo(text:$t) }', { t: 'ü🎈\n"' }),
      request('{ a:refused b:caller }'),
      request('{ broken }'),
      request('{ nothing }'),
      request('mutation { change }'),
      request('query A { caller } query B { echo(text:"b") }', undefined, 'B'),
    ]) {
      const local = JSON.parse(JSON.stringify(await inProcess.execute(each)));
      expect(await transport.execute(each)).toEqual(local);
    }
  });

  test('answers 200 operations of one tick in their own callers, in few requests', async () => {
    const { transport, seen } = await serveThings();
    const callers: Caller[] = Array.from({ length: 200 }, (_, n) =>
      n % 2 === 0
        ? { kind: 'partner', partnerId: `p${n}ü` }
        : { kind: 'member', memberId: `m${n}`, partnerId: `p${n}` },
    );
    const replies = await Promise.all(
      callers.map((caller, n) =>
        transport.execute({
          ...request(n % 3 === 0 ? '{ caller }' : '{ later caller }'),
          caller,
          requestId: `r${n}`,
        }),
      ),
    );
    expect(replies.map((reply) => JSON.parse(String(reply.data?.caller)))).toEqual(
      callers.map((caller, n) => ({ caller, requestId: `r${n}` })),
    );
    expect(seen.requests).toBeLessThanOrEqual(10);
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
    expect(await transport.execute(request('{ caller }'))).toEqual(UNAVAILABLE);
    await expect(transport.ready()).rejects.toThrow('not ready');
  });
});

describe('a secret that is being changed', () => {
  const pair = (first: string | undefined, other: string | undefined) => {
    const accepted: string[] = [];
    const secrets: SubgraphSecrets = {
      first: () => first,
      other: () => other,
      accepted: (secret) => void accepted.push(secret),
    };
    return { secrets, accepted };
  };

  test('has requests signed with the other one at once, mutations too, of which each runs once', async () => {
    const { secrets, accepted } = pair('the old secret of the tests', SECRET);
    const { transport, seen } = await serveThings({ secrets });
    const queries = ['mutation { change }', '{ caller }'];
    expect((await executeAll(transport, queries)).map(codeOf)).toEqual(['OK', 'OK']);
    expect(await transport.execute(request('mutation { change }'))).toMatchObject({
      data: { change: 'changed' },
    });
    expect(seen).toEqual({ requests: 4, changes: 2 });
    expect(accepted).toEqual([SECRET, SECRET]);
  });

  test('is tried once if the subgraph takes neither, and the log says so', async () => {
    const { secrets, accepted } = pair('the old secret of the tests', 'another secret');
    const lines: LogFields[] = [];
    const { transport, seen } = await serveThings({ secrets, lines });
    expect(await transport.execute(request('mutation { change }'))).toEqual(UNAVAILABLE);
    expect([seen, accepted]).toEqual([{ requests: 2, changes: 0 }, []]);
    expect(lines).toEqual([expect.objectContaining({ reason: 'refused: the secret may differ' })]);
  });

  test('is missing at first: the subgraph is not asked', async () => {
    const lines: LogFields[] = [];
    const { secrets } = pair(undefined, undefined);
    const { transport, seen } = await serveThings({ secrets, lines });
    expect(await transport.execute(request('{ caller }'))).toEqual(UNAVAILABLE);
    await expect(transport.ready()).rejects.toThrow('not ready');
    expect(seen.requests).toBe(0);
    expect(lines).toEqual([expect.objectContaining({ reason: 'it has no secret' })]);
  });
});

test.each(['127.0.0.1', 'localhost'])(
  'DNS rebinding: %s is not dialled where its address is not allowed, whatever its name',
  async (host) => {
    const { url } = await serveFake((_, response) => inJson(response).end('{"data":{"a":1}}'));
    const lines: LogFields[] = [];
    let allowed = false;
    const asked: string[] = [];
    const transport = connectTo(url.replace('127.0.0.1', host), {
      lines,
      allows: (_, address) => {
        asked.push(address);
        return allowed;
      },
    });
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
    expect(lines[0]).toMatchObject({ reason: 'SUBGRAPH_HOSTS does not allow its address' });
    allowed = true;
    expect(await transport.execute(request('{ a }'))).toEqual({ data: { a: 1 } });
    expect(asked).toContain('127.0.0.1');
  },
);

test("the name of another team's subgraph is looked up by DNS, once in some seconds", async () => {
  const { url } = await serveFake((_, response) => {
    response.setHeader('connection', 'close');
    inJson(response).end('{"data":{"a":1}}');
  });
  const server = await startDns(() => ['127.0.0.1']);
  closing.push(async () => server.close());
  const options = { dns: server.resolver, batching: false };
  const named = (name: string) =>
    connectTo(url.replace('127.0.0.1', `${name}.invalid`), { ...options, name });
  const [offers, members] = [named('offers'), named('members')];
  for (let round = 1; round <= 2; round += 1)
    for (const reply of await executeAll(offers, ['{ a }', '{ a }', '{ a }']))
      expect(reply).toEqual({ data: { a: 1 } });
  expect(await members.execute(request('{ a }'))).toEqual(UNAVAILABLE);
  expect(server.questions()).toBe(1);
});

describe('a connection that ends', () => {
  test('before any answer has its queries sent again, but not its mutations', async () => {
    const received: string[][] = [];
    const { transport } = await serveFake((operations, response) => {
      received.push(operations.map(({ query }) => query));
      if (received.length === 1) response.destroy();
      else
        inLines(response).end(
          operations.map((_, place) => encodeLine(place, { data: { again: true } })).join(''),
        );
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

  test('half-way keeps the answers that have arrived, and sends nothing again', async () => {
    let times = 0;
    const { transport } = await serveFake((_, response) => {
      times++;
      inLines(response).write('{"requestIndex":1,"data":{"b":1}}\n{"requestIndex":0,"da', () =>
        response.destroy(),
      );
    });
    const replies = await Promise.all([
      transport.execute(request('{ a }')),
      transport.execute(request('{ b }')),
    ]);
    expect(replies).toEqual([UNAVAILABLE, { data: { b: 1 } }]);
    expect(times).toBe(1);
  });
});

describe('a connection that is never made', () => {
  /** A server that ends each handshake, and how many it has had. */
  async function serveNoHandshake() {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections += 1;
      socket.on('error', () => {}).once('data', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => server.close(() => resolve(undefined))));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url, connections: () => connections };
  }

  test("is not tried again, and 5 in a row are for another team's subgraph as if it hung", async () => {
    const { url, connections } = await serveNoHandshake();
    const counted: string[] = [];
    const transport = connectTo(url, { name: 'offers', batching: false, counted });
    for (let call = 1; call <= 5; call += 1) {
      expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
      expect(connections()).toBe(call);
    }
    await until(() => counted.includes('circuit opened'));
    await expect(transport.ready()).rejects.toThrow('circuit');
  });

  test('counts, whatever else is answered, if nobody has certified the certificate', () => {
    const [expired, closed] = ['CERT_HAS_EXPIRED', 'ECONNRESET'].map((code) => reasonOf(code));
    const counts = (reason = '', name = 'offers') => isFlood(reason, 0, name);
    expect([expired, closed]).toEqual(['certificate', 'connection']);
    expect([counts(expired), counts(closed), counts(expired, 'members')]).toEqual([
      ...[true, false, undefined],
    ]);
  });

  test('does not count for a subgraph of this service, or once the transport is closed', async () => {
    const { url, connections } = await serveNoHandshake();
    const own = connectTo(url);
    const closed = connectTo(url, { name: 'offers' });
    await closed.close();
    for (let call = 1; call <= 6; call += 1)
      for (const transport of [own, closed])
        expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
    expect(connections()).toBe(6);
    await expect(own.ready()).rejects.toThrow('not ready');
    await expect(closed.ready()).rejects.toThrow('not ready');
    expect(connections()).toBe(7);
  });
});

describe('an answer', () => {
  const ERRORS = '{"errors":[{"message":"secret","extensions":{"code":"ODD"}}]}';

  test.each<[string, number, string, string]>([
    ['a page', 200, 'text/html', '<html>\n<body>\n'],
    ['a response without a type', 200, '', '{"data":{"a":1}}'],
    ['an empty body', 200, JSON_TYPE, ''],
    ['a refusal', 401, JSON_TYPE, ERRORS],
    ["a proxy's error", 502, 'text/html', '<html>'],
    ['a redirect', 302, JSON_TYPE, '{"data":{"a":1}}'],
    ['a list', 200, JSON_TYPE, '[{"data":{"a":1}}]'],
    ['no data and no errors', 200, JSON_TYPE, '{"errors":[]}'],
    ['errors that are no list', 200, JSON_TYPE, '{"data":{"a":1},"errors":{"message":"m"}}'],
    ['half a response', 200, JSON_TYPE, '{"data":{"a":'],
    ['lines that nobody asked for', 200, LINES_TYPE, encodeLine(0, { data: { a: 1 } })],
  ])('is SERVICE_UNAVAILABLE if it is %s', async (_, status, type, body) => {
    const { transport, lines } = await serveFake((__, response) =>
      response.writeHead(status, type === '' ? {} : { 'content-type': type }).end(body),
    );
    expect(await transport.execute(request('query { x: a(b: 1) }'))).toEqual(UNAVAILABLE);
    expect(lines).toEqual([expect.objectContaining({ subgraph: 'members', field: 'a', count: 1 })]);
  });

  test.each<[string, number, number, Record<string, string>]>([
    ['refused: the secret may differ', 401, 0, {}],
    ['refused: the clocks differ', 401, -60_000, {}],
    [
      'the versions are too far apart: protocol 4 here, 6 there',
      ...([503, 0, { 'partner-loyalty-protocol': '6' }] as const),
    ],
    ['no GraphQL: text/html', 502, 0, { 'content-type': 'Text/HTML; charset=utf-8' }],
    ['no GraphQL: another content type', 502, 0, { 'content-type': 'x/secret' }],
  ])('has its reason in the log: %s', async (reason, status, offsetMs, headers) => {
    const { transport, lines } = await serveFake((_, response) => {
      response.sendDate = false;
      const date = new Date(Date.now() + offsetMs).toUTCString();
      response.writeHead(status, { 'content-type': JSON_TYPE, date, ...headers }).end(ERRORS);
    });
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
    expect(lines).toEqual([expect.objectContaining({ requestId: 'r', reason, status })]);
  });

  test.each<[string, number, string]>([
    ['JSON', 200, JSON_TYPE],
    ['GraphQL', 200, 'application/graphql-response+json'],
    ['GraphQL with a charset', 200, 'application/GraphQL-Response+JSON ; charset=utf-8'],
    ['JSON with another status', 400, JSON_TYPE],
    ['GraphQL with another status', 500, 'application/graphql-response+json; charset=utf-8'],
  ])('may be %s', async (_, status, type) => {
    const { transport } = await serveFake((__, response) =>
      response
        .writeHead(status, { 'content-type': type })
        .end('{"data":{"a":1},"errors":null,"extensions":{"cost":1}}'),
    );
    expect(await transport.execute(request('{ a }'))).toEqual({ data: { a: 1 } });
  });

  test('to a batch may be an array, of which each response counts', async () => {
    const { transport, lines } = await serveFake((_, response) =>
      response
        .writeHead(200, { 'content-type': JSON_TYPE })
        .end('[{"data":{"a":1}},7,{"data":{"c":1}},{"data":{"d":1}}]'),
    );
    expect(await executeAll(transport, ['{ a }', '{ b }', '{ c }'])).toEqual([
      { data: { a: 1 } },
      UNAVAILABLE,
      { data: { c: 1 } },
    ]);
    expect(lines).toEqual([expect.objectContaining({ field: 'b', count: 1 })]);
  });

  test('in lines counts only the first time', async () => {
    const { transport } = await serveFake((_, response) =>
      inLines(response).end(
        encodeLine(0, { data: { a: 1 } }) +
          encodeLine(0, { data: { a: 2 } }) +
          // The last line feed may be missing.
          encodeLine(1, { data: { b: 1 } }).trimEnd(),
      ),
    );
    expect(await executeAll(transport, ['{ a }', '{ b }', '{ c }'])).toEqual([
      { data: { a: 1 } },
      { data: { b: 1 } },
      UNAVAILABLE,
    ]);
  });

  test('may arrive in pieces that split a character', async () => {
    const reply = { data: { a: 'ü🎈' } };
    const { transport } = await serveFake(async (operations, response) => {
      const isBatch = operations.length > 1;
      if (isBatch) inLines(response);
      else response.setHeader('content-type', JSON_TYPE);
      const text = isBatch ? encodeLine(0, reply) + encodeLine(1, reply) : JSON.stringify(reply);
      for (const byte of Buffer.from(text))
        await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
      response.end();
    });
    expect(await transport.execute(request('{ a }'))).toEqual(reply);
    expect(await executeAll(transport, ['{ a }', '{ b }'])).toEqual([reply, reply]);
  });

  test('over 1 MiB is OPERATION_TOO_COMPLEX, and the connection is cut', async () => {
    let isCut = false;
    const { transport, lines } = await serveFake((_, response) => {
      inJson(response).write(`{"data":{"a":"`);
      const timer = setInterval(() => response.write('x'.repeat(100_000)), 1);
      response.on('close', () => {
        clearInterval(timer);
        isCut = true;
      });
    });
    expect(await transport.execute(request('{ a }'))).toEqual(TOO_LARGE);
    await until(() => isCut);
    expect(lines).toEqual([expect.objectContaining({ field: 'a', count: 1, reason: 'too large' })]);
  });

  test('of 1 MiB is taken, even a byte at a time, and one more is too much', async () => {
    for (const [length, code] of [
      [MIB, 'OK'],
      [MIB + 1, 'OPERATION_TOO_COMPLEX'],
    ] as const) {
      const body = `{"data":{"a":"${'x'.repeat(length - 17)}"}}`;
      const { transport } = await serveFake((_, response) => {
        inJson(response);
        for (const byte of body.slice(0, 20_000)) response.write(byte);
        response.end(body.slice(20_000));
      }, PATIENT);
      expect(codeOf(await transport.execute(request('{ a }')))).toBe(code);
    }
  });

  test.each<[string, (replies: object[], response: ServerResponse) => void]>([
    ['in lines', (replies, response) => answerInLines(replies, response)],
    [
      'in lines whose places come last',
      (replies, response) =>
        inLines(response).end(
          replies
            .map((reply, place) => `${JSON.stringify({ ...reply, requestIndex: place })}\n`)
            .join(''),
        ),
    ],
    ['in an array', (replies, response) => inJson(response).end(JSON.stringify(replies))],
  ])('to one operation of a batch, %s, costs only this operation', async (_, write) => {
    const asked: number[] = [];
    const { transport } = await serveFake((operations, response) => {
      asked.push(operations.length);
      const replies = operations.map(({ query }) => ({
        data: { a: 'x'.repeat(query === '{ large }' ? 1.5 * MIB : 3) },
      }));
      if (operations.length > 1) write(replies, response);
      else inJson(response).end(JSON.stringify(replies[0]));
    });
    const replies = await executeAll(transport, ['{ a }', '{ large }', 'mutation { a }']);
    expect(replies).toEqual([{ data: { a: 'xxx' } }, TOO_LARGE, { data: { a: 'xxx' } }]);
    expect(asked[0]).toBe(3);
  });

  test('of another team has a head of 4 KiB at most', async () => {
    for (const [length, code] of [
      [3_500, 'OK'],
      [4_500, 'SERVICE_UNAVAILABLE'],
    ] as const) {
      const { transport } = await serveFake(
        (_, response) =>
          inJson(response.setHeader('x-long', 'x'.repeat(length))).end('{"data":{"a":1}}'),
        { name: 'offers' },
      );
      expect(codeOf(await transport.execute(request('{ a }')))).toBe(code);
    }
  });

  test('is not read once its run has had enough', async () => {
    const { transport } = await serveFake((operations, response) => {
      const replies = operations.map(() => ({ data: { a: 'x'.repeat(1_000) } }));
      if (operations.length > 1) answerInLines(replies, response);
      else inJson(response).end(JSON.stringify(replies[0]));
    });
    let left = 2_500;
    const takes = (bytes: number) => {
      left -= bytes;
      return left >= 0;
    };
    const reading = { turn: () => undefined, takes };
    const ask = () => transport.execute({ ...request('{ a }'), reading });
    const both = await Promise.all([ask(), ask()]);
    expect([...both, await ask()].map(codeOf)).toEqual(['OK', 'OK', 'OPERATION_TOO_COMPLEX']);
    expect(await Promise.all([ask(), ask()])).toEqual([TOO_LARGE, TOO_LARGE]);
  });

  test.each([1, 2])('is read when it is the turn of who asked, of %i at once', async (count) => {
    const { transport } = await serveFake((operations, response) => {
      const replies = operations.map(() => ({ data: { a: 1 } }));
      if (operations.length > 1) answerInLines(replies, response);
      else inJson(response).end(JSON.stringify(replies[0]));
    });
    const turns: (() => void)[] = [];
    const turn = () => new Promise<void>((resolve) => turns.push(resolve));
    const reading = { turn, takes: () => true };
    let read = 0;
    const all = Array.from({ length: count }, async () => {
      const response = await transport.execute({ ...request('{ a }'), reading });
      read += 1;
      return response;
    });
    while (turns.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(read).toBe(0);
    for (const [place, resolve] of turns.entries()) {
      resolve();
      await new Promise(setImmediate);
      expect(read).toBe(place + 1);
    }
    expect((await Promise.all(all)).map(codeOf)).toEqual(Array(count).fill('OK'));
  });

  test('nested a million times costs only its operation', async () => {
    const { transport } = await serveFake((operations, response) => {
      const deep = `{"data":{"a":${'['.repeat(MIB)}${']'.repeat(MIB)}}}`;
      const flat = '{"data":{"b":1}}';
      if (operations.length > 1) inJson(response).end(`[${deep},${flat}]`);
      else inJson(response).end(operations[0]?.query === '{ a }' ? deep : flat);
    });
    const replies = await executeAll(transport, ['{ a }', '{ b }']);
    expect(replies.map(codeOf)).toEqual(['OPERATION_TOO_COMPLEX', 'OK']);
  });

  test.each<[string, (replies: object[], response: ServerResponse) => void]>([
    ['in lines', (replies, response) => answerInLines(replies, response)],
    ['in an array', (replies, response) => inJson(response).end(JSON.stringify(replies))],
  ])(
    'to a batch over 4 MiB, %s, has the queries that are left asked one by one',
    async (_, write) => {
      const asked: number[] = [];
      const { transport, lines } = await serveFake((operations, response) => {
        asked.push(operations.length);
        const replies = operations.map(() => ({ data: { a: 'x'.repeat(0.9 * MIB) } }));
        if (operations.length > 1) write(replies, response);
        else inJson(response).end(JSON.stringify(replies[0]));
      }, PATIENT);
      const queries = [...Array<string>(9).fill('{ a }'), 'mutation { a }'];
      const replies = await executeAll(transport, queries);
      expect(replies.map(codeOf)).toEqual([...Array(9).fill('OK'), 'OPERATION_TOO_COMPLEX']);
      expect(lines).toEqual([expect.objectContaining({ reason: 'too large', count: 1 })]);
      // The array was taken, so the next one is sent.
      asked.length = 0;
      await executeAll(transport, ['{ a }', '{ a }']);
      expect(asked).toEqual([2]);
    },
  );

  test.each<[string, (place: number) => string, number]>([
    ['numbers', () => '0', 300_001],
    ['empty objects', () => '{}', 75_001],
    ['objects without two alike', (place) => `{"a${place % 300}":1,"b${place}":1}`, 6_000],
    // Java's and many others' hash is the same for Aa and BB.
    ['names with equal hashes', (place) => `{"${pairs(place)}":1}`, 6_500],
    ['orders with objects in between', (place) => `{${permuted(place)}}`, 6_500],
  ])('with too many %s is SERVICE_UNAVAILABLE for its operation', async (_, item, count) => {
    const many = Array.from({ length: count }, (__, place) => item(place)).join(',');
    const { transport, lines } = await serveFake((operations, response) => {
      if (operations.length > 1)
        inLines(response).end(
          `{"requestIndex":0,"data":{"a":[${many}]}}\n${encodeLine(1, { data: { b: 1 } })}`,
        );
      else inJson(response).end(`{"data":{"a":[${many}]}}`);
    });
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
    expect(await executeAll(transport, ['{ a }', '{ b }'])).toEqual([
      UNAVAILABLE,
      { data: { b: 1 } },
    ]);
    const line = expect.objectContaining({ reason: 'too many values', field: 'a', count: 1 });
    expect(lines).toEqual([line, line]);
  });

  test.each<[string, (place: number) => object, number]>([
    ['small', (id) => ({ id, name: 'some name', v: true, w: null }), 20_000],
    ['with brackets', (id) => ({ id, label: '[{:"\\'.repeat(9), tags: [id] }), 9_500],
  ])('with a megabyte of ordinary data is taken: %s', async (_, item, length) => {
    const a = Array.from({ length }, (__, place) => item(place));
    const { transport } = await serveFake((__, response) =>
      inJson(response).end(JSON.stringify({ data: { a } })),
    );
    expect(await transport.execute(request('{ a }'))).toEqual({ data: { a } });
  });

  test.each([0, 22, 23, 24, 25, 60])(
    'what is within a string of %i characters is not counted',
    (length) => {
      const start = 'x'.repeat(length);
      for (const end of ['', '"', '\\', '\\"', '"\\', '",[{:"'])
        for (const text of [start + end, `${start}${end}y`, `${end}${start}${end}`])
          expect([2.5, 4.5]).toContain(
            countParts(Buffer.from(JSON.stringify([text, 1, text])), 100),
          );
    },
  );

  test.each<[text: string, counted: number]>([
    ['["a","b","a",{"b":"b"}]', 2],
    ['["0123456789","01234567890"]', 1],
    ['["\\u4e2d\\u6587","中文中文中文中文中文","a longer string"]', 2],
  ])('with short strings counts more for each that is new: %s', (text, counted) => {
    const others = JSON.stringify(JSON.parse(text), (_, value) =>
      typeof value === 'string' ? 1 : value,
    );
    const parts = (json: string) => countParts(Buffer.from(json), 1_000);
    expect(parts(text) - parts(others)).toBe(2 * counted);
  });

  test('with escapes that follow each other is not searched for the end of each', () => {
    const text = Buffer.from(JSON.stringify(['"'.repeat(12_000)]));
    const search = jest.spyOn(text, 'indexOf');
    expect(countParts(text, 100)).toBe(1.5);
    expect(search.mock.calls.length).toBeLessThan(1_000);
  });

  test('with surrogates as escapes counts each', () => {
    const parts = (text: string) => countParts(Buffer.from(`["${text}${'x'.repeat(40)}"]`), 1_000);
    expect(parts('\\ud83c\\uDF88\\ue000') - parts('')).toBe(2);
    const lone = Buffer.from(JSON.stringify('\ud800'.repeat(160_000)));
    expect(createReadBudget(true)(lone)).toBe('too many values');
  });

  test('with a name that V8 does not hash is not parsed', () => {
    const named = (length: number) => Buffer.from(`{"a":"","${'x'.repeat(length)}" :1}`);
    const value = Buffer.from(`{"a":"${'x'.repeat(20_000)}"}`);
    expect([named(16_383), value, named(16_384)].map(hasLongName)).toEqual([false, false, true]);
    const excessOf = createReadBudget(false);
    expect([excessOf(named(16_383)), excessOf(named(16_384))]).toEqual([
      undefined,
      'too many values',
    ]);
  });

  test('with numbers that have exponents or are names counts more, with words that have an e not', () => {
    expect(countParts(Buffer.from('[2e23,1E-7,true,false,12]'), 100)).toBe(1.5 + 4 * 0.5 + 2 * 2.5);
    const parts = (name: string) => countParts(Buffer.from(`[{"${name}":1},{"${name}":1}]`), 100);
    expect([parts('34'), parts('\\u00334')]).toEqual([parts('a') + 20, parts('a') + 20]);
  });

  test('of 140,000 values is read four times at once, and then each half second', () => {
    let now = 0;
    const excessOf = createReadBudget(false, () => now);
    const values = (count: number) => Buffer.from(`[${'{},'.repeat(count / 2)}0]`);
    const read = (count: number, times: number) =>
      Array.from({ length: times }, () => excessOf(values(count)));
    const late = 'too many values in a second';
    expect(read(140_000, 6)).toEqual([...Array(4).fill(undefined), late, late]);
    expect(read(14_000, 50)).toEqual(Array(50).fill(undefined));
    expect(read(160_000, 1)).toEqual(['too many values']);
    now += 500;
    expect(read(140_000, 2)).toEqual([undefined, late]);
    now += 60_000;
    expect(read(140_000, 6)).toEqual([...Array(4).fill(undefined), late, late]);
    now += 60_000;
    const escapes = Buffer.from(JSON.stringify('"'.repeat(500_000)));
    expect(Array.from({ length: 31 }, () => excessOf(escapes)).indexOf(late)).toBe(29);
    const ofOurs = createReadBudget(true, () => now);
    const reasons = Array.from({ length: 20 }, () => ofOurs(values(140_000)));
    expect([...reasons, ofOurs(values(160_000))]).toEqual([
      ...Array(20).fill(undefined),
      'too many values',
    ]);
  });

  test('in chunks of one byte is given up long before its end', async () => {
    const { transport, lines } = await serveFake((_, response) => {
      inJson(response).flushHeaders();
      response.socket?.write('1\r\n \r\n'.repeat(100_000));
    }, PATIENT);
    expect(await transport.execute(request('{ a }'))).toEqual(UNAVAILABLE);
    expect(lines).toEqual([expect.objectContaining({ reason: 'too many chunks' })]);
  });

  test.each([
    ['{}\n', 'more lines than operations', UNAVAILABLE],
    ['x', 'too large', TOO_LARGE],
  ])('that never ends is cut off: %j', async (piece, reason, reply) => {
    const { transport, lines } = await serveFake((operations, response) => {
      if (operations.length > 1) inLines(response);
      else inJson(response);
      const timer = setInterval(() => response.write(piece.repeat(100_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    expect(await executeAll(transport, ['{ a }', 'mutation { b }'])).toEqual([reply, reply]);
    expect(lines[0]).toEqual(expect.objectContaining({ reason }));
  });

  const chunked = `HTTP/1.1 200 OK\r\ncontent-type: ${JSON_TYPE}\r\ntransfer-encoding: chunked\r\n\r\n`;
  test.each<[string, boolean, string, string]>([
    ['extensions of a chunk', false, `${chunked}1`, ';a=b'],
    ['zeros of a size', false, chunked, '0000'],
    ['blank lines', false, '', '\r\n'],
    ['extensions of chunks', true, chunked, `1;${'a'.repeat(16_000)}\r\n \r\n`],
  ])(
    'whose %s never end is cut off, and so often that the circuit opens',
    async (_, batching, head, part) => {
      const counted: string[] = [];
      const written: number[] = [];
      let probes = 0;
      const { transport, lines } = await serveFake(
        ([operation], response) => {
          if (operation?.query === '{__typename}') {
            probes += 1;
            inJson(response).end('{"data":{"__typename":"Query"}}');
            return;
          }
          const { socket } = response;
          const place = written.push(0) - 1;
          const chunk = part.repeat(Math.ceil(65_536 / part.length));
          const more = () => {
            while (socket?.writable && (written[place] ?? 0) < 1e8 && socket.write(chunk))
              written[place] = (written[place] ?? 0) + chunk.length;
          };
          socket?.on('drain', more).write(head);
          more();
        },
        { ...PATIENT, batching, counted },
      );
      for (let call = 0; call < 5; call += 1)
        expect(await transport.execute(request('mutation { a }'))).toEqual(UNAVAILABLE);
      expect(lines[0]).toEqual(expect.objectContaining({ reason: 'too many bytes' }));
      // The rest is what the sockets buffer.
      expect(Math.max(...written)).toBeLessThan(4e7);
      await until(() => counted.includes('circuit closed'));
      expect(probes).toBe(1);
      // Probes are answered, but not this.
      expect(await transport.execute(request('mutation { a }'))).toEqual(UNAVAILABLE);
      expect(counted.filter((outcome) => outcome === 'circuit opened')).toHaveLength(2);
    },
  );
});

describe('a batch that is not answered as one', () => {
  const REFUSAL = '{"errors":[{"message":"no batches"}]}';

  test.each<[string, number, string, string]>([
    ['an error', 200, JSON_TYPE, REFUSAL],
    ['data', 200, JSON_TYPE, '{"data":{"a":1}}'],
    ['no response', 200, JSON_TYPE, '[]'],
    ['nothing', 400, '', ''],
    ['a page', 404, 'text/html', '<html>'],
    ['text', 413, 'text/plain', 'Batching is limited to 10 operations per request.'],
  ])('but with %s has its queries asked one by one: %s', async (_, status, type, body) => {
    const asked: string[][] = [];
    const { transport, lines } = await serveFake((operations, response) => {
      asked.push(operations.map(({ query }) => query));
      if (operations.length > 1)
        response.writeHead(status, type === '' ? {} : { 'content-type': type }).end(body);
      else inJson(response).end(`{"data":{"a":${JSON.stringify(operations[0]?.query)}}}`);
    });
    const queries = ['{ a }', 'mutation { b }', '{ c }'];
    expect(await executeAll(transport, queries)).toEqual([
      { data: { a: '{ a }' } },
      UNAVAILABLE,
      { data: { a: '{ c }' } },
    ]);
    expect(asked).toEqual([queries, ['{ a }'], ['{ c }']]);
    // Mutations are sent too from now on.
    expect((await executeAll(transport, queries)).map(codeOf)).toEqual(['OK', 'OK', 'OK']);
    expect(asked.slice(3)).toEqual([['{ a }'], ['mutation { b }'], ['{ c }']]);
    expect(lines.filter(({ field }) => field === undefined)).toEqual([
      { subgraph: 'members', status },
    ]);
  });

  test.each<[number, string, string]>([
    [429, JSON_TYPE, REFUSAL],
    [500, 'text/html', '<html>'],
    [401, JSON_TYPE, REFUSAL],
  ])('but with the status %i is not asked again', async (status, type, body) => {
    let asked = 0;
    const { transport } = await serveFake((_, response) => {
      asked += 1;
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    const replies = await executeAll(transport, ['{ a }', '{ b }']);
    expect([replies, asked]).toEqual([[UNAVAILABLE, UNAVAILABLE], 1]);
  });

  test('is asked 10 at a time, until the deadline of the operations, and mutations never', async () => {
    const counted: string[] = [];
    let asked = 0;
    const { transport } = await serveFake(
      (operations, response) => {
        if (operations.length > 1) inJson(response).end('{}');
        // Whether it is there again is asked, too.
        else if (operations[0]?.query === '{ a }') asked += 1;
      },
      { deadlineMs: 300, counted },
    );
    const queries = Array<string>(50).fill('{ a }');
    expect(await executeAll(transport, queries)).toEqual(queries.map(() => UNAVAILABLE));
    expect(asked).toBeLessThanOrEqual(10);
    expect(counted.filter((outcome) => outcome === 'members timeout')).toHaveLength(50);
  });
});

test('arrays are tried again a minute after one was refused, of which one warning tells', () => {
  let now = 0;
  const warnings: string[] = [];
  const arrays = createArrays('things', { warn: (_, text) => void warnings.push(text) }, () => now);
  expect(arrays.areTaken()).toBe(true);
  now = 1_000;
  arrays.refused(400);
  now = 60_999;
  arrays.refused(400);
  expect([arrays.areTaken(), warnings.length]).toEqual([false, 1]);
  now = 61_000;
  expect(arrays.areTaken()).toBe(true);
  arrays.refused(400);
  expect([arrays.areTaken(), warnings.length]).toEqual([false, 2]);
});

describe('a request', () => {
  /** The requests that a subgraph gets for these operations of one tick. */
  async function received(
    { path, ...options }: Options & { path?: string },
    ...operations: SubgraphRequest[]
  ): Promise<Received[]> {
    const all: Received[] = [];
    const answer = (
      operations: Operation[],
      response: ServerResponse,
      { headers, url, body }: Received,
    ) => {
      all.push({ headers, url, body });
      const replies = operations.map(() => ({ data: { a: 1 } }));
      inJson(response).end(JSON.stringify(body.startsWith('[') ? replies : replies[0]));
    };
    const { transport } = await serveFake(answer, options, path);
    await Promise.all(operations.map((each) => transport.execute(each)));
    return all;
  }

  const ofPartner: SubgraphRequest = {
    ...request('query A($t: Int) { a(t: $t) }', { t: 1 }, 'A'),
    caller: { kind: 'partner', partnerId: 'acme' },
    requestId: 'r1',
  };
  const ofMember: SubgraphRequest = {
    ...request('{ a }'),
    caller: { kind: 'member', memberId: 'mü' },
    requestId: 'r2',
  };
  const expectedOfPartner = {
    query: 'query A($t: Int) { a(t: $t) }',
    variables: { t: 1 },
    operationName: 'A',
  };

  test('has one operation, as GraphQL over HTTP says, unless the subgraph takes batches', async () => {
    const all = await received({ batching: false }, ofPartner, ofMember);
    const bodies = all.map(({ body }) => JSON.parse(body));
    expect(bodies).toEqual([expectedOfPartner, { query: '{ a }' }]);
    expect(all[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      'partner-loyalty-subgraph': 'members',
      'partner-loyalty-scope': 'kind=partner, partner="acme"',
      'x-request-id': 'r1',
    });
    expect(all[1]?.headers['partner-loyalty-scope']).toBe('kind=member, member=%"m%c3%bc"');
  });

  test('has an array of operations with their callers if the subgraph takes batches', async () => {
    const all = await received({ batching: true }, ofPartner, ofMember);
    expect(all.map(({ body }) => JSON.parse(body))).toEqual([
      [
        {
          ...expectedOfPartner,
          extensions: { scope: { kind: 'partner', partner: 'acme' }, requestId: 'r1' },
        },
        {
          query: '{ a }',
          extensions: { scope: { kind: 'member', member: 'mü' }, requestId: 'r2' },
        },
      ],
    ]);
    expect(all[0]?.headers).toMatchObject({
      accept: expect.stringMatching(/^application\/graphql-response\+jsonl,/),
      'partner-loyalty-scope': 'kind=batch',
      'x-request-id': 'r1',
    });
    const [alone] = await received({ batching: true }, ofPartner);
    expect(JSON.parse(alone?.body ?? '')).toEqual(expectedOfPartner);
  });

  test('of an app without all scopes has these, unless it goes to a subgraph of a team', async () => {
    const caller = { kind: 'member', memberId: 'ada', partnerId: 'spa', scopes: 'openid' } as const;
    const [batch] = await received({ batching: true }, ofPartner, { ...ofMember, caller });
    const scope = { kind: 'member', member: 'ada', partner: 'spa', scopes: 'openid' };
    expect(JSON.parse(batch?.body ?? '')[1].extensions.scope).toEqual(scope);
    const [ofTeam] = await received({ name: 'offers' }, { ...ofMember, caller });
    expect(ofTeam?.headers['partner-loyalty-scope']).toBe(
      'kind=member, member="ada", partner="spa"',
    );
  });

  test.each([
    ['', '/graphql'],
    ['/', '/graphql'],
    ['/api/graphql/', '/api/graphql/'],
  ])('to a URL with the path "%s" goes to %s', async (path, target) => {
    const [only] = await received({ path }, ofPartner);
    expect(only?.url).toBe(target);
  });

  test('never has a query string, which no signature covers', () => {
    expect(() => connectTo('http://127.0.0.1/graphql?a=b')).toThrow('query string');
  });

  test('whose variables nest too deeply to be written fails alone, in a batch too', async () => {
    const { transport } = await serveFake((_, response) =>
      inJson(response).end('{"data":{"a":1}}'),
    );
    const deep = JSON.parse(`${'['.repeat(9_000)}${']'.repeat(9_000)}`);
    const asked = [{ ...ofPartner, variables: { deep } }, ofPartner];
    expect(await Promise.all(asked.map((each) => transport.execute(each)))).toEqual([
      UNAVAILABLE,
      { data: { a: 1 } },
    ]);
  });

  test('whose caller cannot be in a header fails alone', async () => {
    const { transport } = await serveFake(
      (_, response) => inJson(response).end('{"data":{"a":1}}'),
      { batching: false },
    );
    const broken: SubgraphRequest = {
      ...ofPartner,
      caller: { kind: 'partner', partnerId: '\ud800' },
    };
    expect(await Promise.all([broken, ofPartner].map((each) => transport.execute(each)))).toEqual([
      UNAVAILABLE,
      { data: { a: 1 } },
    ]);
  });
});

test('every operation is counted once, by its outcome', async () => {
  const counted: string[] = [];
  const { transport } = await serveThings({ deadlineMs: 500, counted });
  await Promise.all(
    ['{ caller }', '{ refused }', '{ slow }'].map((query) => transport.execute(request(query))),
  );
  await transport.close();
  await transport.execute(request('{ caller }'));
  expect(counted.sort()).toEqual([
    'members error',
    'members ok',
    'members timeout',
    'members unreachable',
  ]);
});

describe('a subgraph that hangs', () => {
  test('is given up after 5 missed deadlines in a row and a probe, so that no further call waits, until it answers', async () => {
    const counted: string[] = [];
    const seen: string[] = [];
    let hangs = true;
    const { transport } = await serveFake(
      (operations, response) => {
        seen.push(operations[0]?.query === '{__typename}' ? 'probe' : 'call');
        if (!hangs) inJson(response).end('{"data":{"__typename":"Query","caller":"answer"}}');
      },
      { deadlineMs: 250, counted },
    );
    for (let call = 0; call < 5; call++)
      expect(codeOf(await transport.execute(request('{ caller }')))).toBe('SERVICE_UNAVAILABLE');
    await until(() => counted.includes('circuit opened'));
    // Not even a promise: the caller does not wait at all.
    for (let call = 0; call < 100; call++)
      expect(transport.execute(request('{ caller }'))).toEqual(UNAVAILABLE);
    await expect(transport.ready()).rejects.toThrow('circuit');
    expect(seen).toEqual([...Array(5).fill('call'), 'probe']);
    expect(counted.filter((outcome) => outcome === 'circuit refused')).toHaveLength(100);
    expect(counted.filter((outcome) => outcome === 'circuit opened')).toHaveLength(1);

    await until(() => seen.length >= 8);
    expect(seen.slice(5)).toEqual(seen.slice(5).fill('probe'));
    expect(counted).not.toContain('circuit closed');
    hangs = false;
    await until(() => counted.includes('circuit closed'));
    const reply = await transport.execute(request('{ caller }'));
    expect(reply.data).toMatchObject({ caller: 'answer' });
  });

  test('only now and then is not given up', async () => {
    const counted: string[] = [];
    let calls = 0;
    const { transport } = await serveFake(
      (_, response) => {
        calls += 1;
        if (calls % 4 === 0) inJson(response).end('{"data":{"caller":"answer"}}');
      },
      { deadlineMs: 250, counted },
    );
    for (let call = 0; call < 7; call++) await transport.execute(request('{ caller }'));
    expect(calls).toBe(7);
    expect(counted).not.toContain('circuit opened');
  });

  test('for some operations and answers others is not given up', async () => {
    const counted: string[] = [];
    const { transport } = await serveThings({ deadlineMs: 300, counted });
    const slow = Array.from({ length: 10 }, () => transport.execute(request('{ slow }')));
    expect(codeOf(await transport.execute(request('{ caller }')))).toBe('OK');
    await Promise.all(slow);
    expect(counted).not.toContain('circuit opened');
  });

  test('in floods is given up until a probe is answered, whatever else it answers', () => {
    const never = () => new Promise(() => {});
    const circuit = new Circuit({ name: 'offers', log, metrics: undefined, probe: never });
    for (let flood = 0; flood < 5; flood += 1) circuit.failed(true, performance.now());
    circuit.answered();
    expect(circuit.isOpen()).toBe(true);
    circuit.close();
  });

  test('in this process is given up as well, and taken back when it is ready', async () => {
    let isReady = false;
    const ready = () => until(() => isReady).then(() => undefined);
    const subgraph = { ...things([]), ready };
    const counted: string[] = [];
    const metrics = {
      subgraphCall: () => {},
      circuit: (_: string, outcome: string) => void counted.push(outcome),
    };
    const transport = createInProcessTransport(subgraph, log, createCaches(), metrics);
    closing.push(() => transport.close());
    await Promise.all(Array.from({ length: 5 }, () => transport.execute(request('{ slow }'))));
    await until(() => counted.includes('opened'));
    expect(transport.execute(request('{ caller }'))).toEqual(UNAVAILABLE);
    expect(counted).toEqual(['opened', 'refused']);
    isReady = true;
    await until(() => counted.includes('closed'));
    expect(codeOf(await transport.execute(request('{ caller }')))).toBe('OK');
  });

  test('attack: is not given up for slow operations of one caller, even if nobody else asks', async () => {
    const counted: string[] = [];
    const metrics = {
      subgraphCall: () => {},
      circuit: (_: string, outcome: string) => void counted.push(outcome),
    };
    const transport = createInProcessTransport(things([]), log, createCaches(), metrics);
    closing.push(() => transport.close());
    await Promise.all(Array.from({ length: 20 }, () => transport.execute(request('{ slow }'))));
    expect(codeOf(await transport.execute(request('{ caller }')))).toBe('OK');
    expect(counted).toEqual([]);
  });
});

type Options = {
  name?: string;
  secrets?: SubgraphSecrets;
  allows?: AllowsHost;
  dns?: Dns;
  deadlineMs?: number;
  batching?: boolean;
  codes?: string[];
  counted?: string[];
  /** Receives the lines of the log. */
  lines?: LogFields[];
};

function connectTo(
  url: string,
  {
    secrets = oneSecret(SECRET),
    batching = true,
    codes = CODES,
    counted = [],
    lines = [],
    ...rest
  }: Options = {},
): Transport {
  const metrics = {
    subgraphCall: (subgraph: string, outcome: string) =>
      void counted.push(`${subgraph} ${outcome}`),
    circuit: (_: string, outcome: string) => void counted.push(`circuit ${outcome}`),
  };
  const write = (fields: LogFields) => void lines.push(fields);
  const log = { ...createLog('silent'), warn: write, outage: write };
  const transport = createHttpTransport({
    name: 'members',
    url,
    secrets,
    batching,
    codes,
    log,
    metrics,
    ...rest,
  });
  closing.push(() => transport.close());
  return transport;
}

function executeAll(transport: Transport, queries: string[]): Promise<SubgraphResponse[]> {
  return Promise.all(queries.map((query) => transport.execute(request(query))));
}

function inJson(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': JSON_TYPE });
}

function answerInLines(replies: object[], response: ServerResponse): void {
  inLines(response).end(replies.map((reply, place) => encodeLine(place, reply)).join(''));
}

function inLines(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': LINES_TYPE });
}

/** A subgraph over HTTP, and a transport to it. */
async function serveThings(options: Options = {}) {
  const seen = { requests: 0, changes: 0 };
  const held: (() => void)[] = [];
  const subgraph = things(held, seen);
  const handle = createSubgraphHandler({
    subgraph,
    settings: { subgraphs: { MEMBERS: { secret: SECRET, faults: [] } } },
    log,
    metrics: { request: () => void seen.requests++, operation: () => {} },
    caches: createCaches(),
  });
  const at = { host: '127.0.0.1', port: 0, trustedProxies: [] };
  const server = await serveHttp({ ...at, handle, log });
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

type Operation = { query: string; extensions?: unknown };
type Received = { headers: IncomingHttpHeaders; url: string | undefined; body: string };

/** A server that responds as the test defines, and a transport to it. */
async function serveFake(
  answer: (operations: Operation[], response: ServerResponse, received: Received) => void,
  options: Options = {},
  path = '',
) {
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    response.on('error', () => {});
    const { headers, url } = request;
    answer([JSON.parse(body)].flat(), response, { headers, url, body });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const { lines = [] } = options;
  const transport = connectTo(url, { ...options, lines });
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { transport, url, lines };
}

function things(held: (() => void)[], seen = { changes: 0 }): Subgraph {
  const schema = buildSchema(
    'type Query { caller: String  echo(text: String!): String  refused: String  broken: String  slow: String  later: String } type Mutation { change: String }',
  );
  const resolvers: Record<
    string,
    GraphQLFieldResolver<unknown, unknown, Record<string, string>>
  > = {
    caller: (_, __, context) => JSON.stringify(context),
    echo: (_, { text }) => text,
    refused: () => fail('MEMBER_NOT_FOUND'),
    broken: () => {
      throw new Error('secret');
    },
    slow: () => new Promise((resolve) => held.push(() => resolve('released'))),
    later: () => new Promise((resolve) => setImmediate(resolve, 'later')),
    change: () => {
      seen.changes += 1;
      return 'changed';
    },
  };
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const [name, field] of Object.entries(type?.getFields() ?? {}))
      Object.assign(field, { resolve: resolvers[name] });
  return { name: 'members', schema, ready: async () => {}, close: async () => {} };
}

function request(
  query: string,
  variables?: Record<string, unknown>,
  operationName?: string,
): SubgraphRequest {
  return { query, variables, operationName, caller: { kind: 'service' }, requestId: 'r' };
}

function codeOf(reply: SubgraphResponse): string {
  return reply.errors?.[0]?.extensions.code ?? 'OK';
}
