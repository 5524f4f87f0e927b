// The endpoint /mcp: the official client, keys, origins, bounds, the protocol and costs.
import type { Client } from '@modelcontextprotocol/client';
import { newKey } from '@partner-loyalty/gateway';
import { BUDGET_HEADERS } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import {
  askMcp,
  CURRENT,
  callMcp,
  connectMcp,
  EARLIER,
  ENVELOPE,
  postMcp,
  type RpcResponse,
  toolCall,
} from '../support/service/mcp.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';

const ORIGIN = 'https://assistant.example';
const FIND = ['find_member', { email: 'both@example.com' }] as const;

let service: InProcessService;
let key: string;

beforeAll(async () => {
  const settings = { TRUSTED_PROXIES: '127.0.0.1', CORS_ORIGINS: ORIGIN };
  const budget = { RATE_LIMIT_BUDGET: '100000', RATE_LIMIT_WINDOW_SECONDS: '3600' };
  service = await startInProcess({ env: { ...settings, ...budget } });
  key = await mcpKey('alpha');
});
afterAll(() => service.close());

const mcpKey = (partnerId: string, limits = {}) =>
  addKey(service.stores.keys, partnerId, 'sandbox', { endpoint: 'mcp', ...limits });
const from = (address: string) => ({ 'x-forwarded-for': address });
const post = (message: unknown, headers: Record<string, string | undefined> = {}, own = key) =>
  postMcp(service.url, typeof message === 'string' ? message : JSON.stringify(message), {
    'x-api-key': own,
    ...headers,
  });
const hasBudget = ({ headers }: RpcResponse) => BUDGET_HEADERS.every((name) => headers.has(name));

/** That a response is a refusal of this form. */
function expectRefused(response: RpcResponse, status: number, code: string, id: unknown = null) {
  expect([response.status, response.body]).toEqual([
    status,
    {
      jsonrpc: '2.0',
      id,
      error: {
        code: expect.any(Number),
        message: expect.any(String),
        data: expect.objectContaining({ code, requestId: response.headers.get('x-request-id') }),
      },
    },
  ]);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
}

describe.each([
  ['the current revision', 'auto', CURRENT],
  ['the revision that the client chooses by default', undefined, '2025-11-25'],
] as const)('the official client on %s', (_, mode, revision) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectMcp(service.url, key, mode);
  });
  afterAll(() => client.close());

  test('lists the tools with schemas, and as reads', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    const names = ['find_member', 'member_standing', 'list_changes', 'describe_schema'];
    expect(tools.map(({ name }) => name)).toEqual(names);
    for (const { inputSchema, outputSchema, annotations } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect([inputSchema.additionalProperties, outputSchema?.type]).toEqual([false, 'object']);
      // Some hosts know neither of these.
      for (const name of ['$schema', 'oneOf']) expect(inputSchema).not.toHaveProperty(name);
    }
  });

  test.each([
    [...FIND, { memberId: 'm-both', tier: 'Silver', points: 250, externalId: 'shared-1' }],
    ['find_member', { externalId: 'shared-1' }, { memberId: 'm-both' }],
    ['find_member', { memberId: 'm-both', email: null }, { memberId: 'm-both' }],
    ['member_standing', { memberId: 'm-both' }, { partnerId: 'alpha', points: 250 }],
    ['list_changes', { first: 1, types: ['YEAR_ENDED'] }, { edges: [] }],
    ['describe_schema', {}, { sdl: expect.stringContaining('type PartnerMemberRead ') }],
    ['find_member', { memberId: 'm-beta' }, { code: 'MEMBER_NOT_FOUND' }],
    ['find_member', { email: 'no address' }, { code: 'MEMBER_NOT_FOUND' }],
    ['member_standing', { memberId: 'm-none' }, { code: 'MEMBER_NOT_FOUND' }],
    ['list_changes', { first: 'one' }, { code: 'BAD_USER_INPUT', argument: 'first' }],
    ['find_member', {}, { code: 'BAD_USER_INPUT' }],
    ['find_member', { email: 'both@example.com', memberId: 'm-both' }, { code: 'BAD_USER_INPUT' }],
    ['find_member', { externalId: '' }, { code: 'BAD_USER_INPUT', argument: 'externalId' }],
    ['find_member', { phone: '1' }, { code: 'BAD_USER_INPUT', argument: 'phone' }],
    ['member_standing', {}, { code: 'BAD_USER_INPUT', argument: 'memberId' }],
  ])('calls %s with %j', async (name, args, expected) => {
    const result = await client.callTool({ name, arguments: args });
    expect(result.structuredContent).toMatchObject(expected);
    expect(result.isError).toBe('code' in expected ? true : undefined);
    const text = JSON.stringify(result.structuredContent);
    expect(result.content).toEqual([{ type: 'text', text }]);
  });
});

test('two clients at once each get what they asked for', async () => {
  const keys = [key, await mcpKey('beta')];
  const args = { externalId: 'shared-1' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => callMcp(service.url, keys[n % 2], 'find_member', args)),
  );
  expect(answers.map(({ body }) => body.result?.structuredContent)).toMatchObject(
    Array.from({ length: 20 }, (_, n) => ({ memberId: n % 2 ? 'm-beta' : 'm-both' })),
  );
});

test('a call costs what its operation costs, any other message 1, and a spent budget refuses all', async () => {
  await addPartner(service.stores.keys, { partnerId: 'assistant', budget: 3 });
  const poor = await mcpKey('assistant');
  const find = (args: Record<string, unknown>) => callMcp(service.url, poor, 'find_member', args);
  const left: unknown[] = [];
  for (const args of [{ memberId: 'm-both' }, { nonsense: 1 }])
    left.push((await find(args)).headers.get('ratelimit-remaining'));
  left.push((await askMcp(service.url, poor, 'ping')).headers.get('ratelimit-remaining'));
  expect(left).toEqual(['2', '1', '0']);
  const refused = await find({ memberId: 'm-both' });
  expectRefused(refused, 429, 'RATE_LIMITED', 1);
  const retryAfter = Number(refused.headers.get('retry-after'));
  expect(refused.body.error?.data.retryAfter).toBe(retryAfter);
  expect(retryAfter).toBeGreaterThan(0);
  await expect(connectMcp(service.url, poor)).rejects.toThrow(/RATE_LIMITED/);
});

test.each<[what: string, params: object, headers: Record<string, string>]>([
  ['without a name', {}, {}],
  ['with a number as its name', { name: 5 }, {}],
  ['with a list of arguments', { name: 'find_member', arguments: [] }, {}],
  ['with a number as its metadata', { name: 'find_member', arguments: {}, _meta: 5 }, {}],
  ['of another revision', { name: 'find_member' }, { 'mcp-protocol-version': '1999-01-01' }],
  [
    'without the headers of its revision',
    { name: 'find_member' },
    { 'mcp-protocol-version': CURRENT },
  ],
])('a call %s costs 1', async (what, params, headers) => {
  const partnerId = `assistant ${what}`.replace(/ /g, '-');
  await addPartner(service.stores.keys, { partnerId, budget: 1 });
  const poor = await mcpKey(partnerId);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const send = () => postMcp(service.url, body, { 'x-api-key': poor, ...headers });
  expect((await send()).headers.get('ratelimit-remaining')).toBe('0');
  expectRefused(await send(), 429, 'RATE_LIMITED', 1);
});

test('FORBIDDEN without the scope read, PARTNER_SUSPENDED while that lasts, and nothing runs', async () => {
  await addPartner(service.stores.keys, { partnerId: 'asleep' });
  await service.stores.keys.changePartner('asleep', { suspendedAt: new Date() });
  const enroller = await mcpKey('alpha', { scopes: ['enroll'] });
  const before = service.calls.length;
  for (const [name, args] of [FIND, ['describe_schema', {}]] as const)
    expectRefused(await callMcp(service.url, enroller, name, args), 403, 'FORBIDDEN', 1);
  const asleep = await callMcp(service.url, await mcpKey('asleep'), ...FIND);
  expect([asleep.status, asleep.body.error?.data.code]).toEqual([403, 'PARTNER_SUSPENDED']);
  expect(service.calls.slice(before)).toEqual([]);
});

describe('keys', () => {
  test('401 in the same words for a key that is missing, unknown, malformed or a partner key', async () => {
    const texts = new Set<string>();
    for (const wrong of [
      undefined,
      '',
      'nonsense',
      newKey('sandbox', 'mcp'),
      service.keys.alpha,
      newKey('production'),
    ]) {
      const response = await callMcp(service.url, wrong, ...FIND);
      expectRefused(response, 401, 'UNAUTHENTICATED', 1);
      expect(response.headers.get('www-authenticate')).toBe('ApiKey');
      expect(hasBudget(response)).toBe(false);
      texts.add(response.body.error?.message ?? '');
    }
    expect([...texts]).toEqual([expect.stringContaining('x-api-key')]);
  });

  test('guesses are counted by address: 60 are read, then 429 without a budget', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 65; n += 1) {
      const response = await callMcp(
        service.url,
        newKey('sandbox', 'mcp'),
        ...FIND,
        from('198.51.100.1'),
      );
      statuses.push(response.status);
      expect(hasBudget(response)).toBe(false);
    }
    expect(statuses).toEqual([...Array(60).fill(401), ...Array(5).fill(429)]);
    const valid = await callMcp(service.url, key, ...FIND, from('198.51.100.1'));
    expect([valid.status, hasBudget(valid)]).toEqual([200, true]);
  });
});

describe('origins', () => {
  test.each(['null', `${ORIGIN}.evil.example`])(
    '403 for a page of %j, whatever it asks',
    async (origin) => {
      for (const method of ['POST', 'GET', 'OPTIONS']) {
        const headers = { 'x-api-key': key, origin, 'access-control-request-method': 'POST' };
        const response = await postMcp(service.url, '{}', headers, method);
        expectRefused(response, 403, 'FORBIDDEN');
        expect(response.headers.get('access-control-allow-origin')).toBeNull();
      }
    },
  );

  test('a page of a configured origin may send its key and read the response', async () => {
    const preflight = await postMcp(
      service.url,
      '',
      {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key',
      },
      'OPTIONS',
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')?.split(', ')).toEqual([
      'x-api-key',
      'content-type',
      'x-request-id',
      'traceparent',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
    ]);
    const { status, headers } = await callMcp(service.url, key, ...FIND, { origin: ORIGIN });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-expose-headers')).toContain('ratelimit-remaining');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('bounds', () => {
  const ping = (more: object) => ({ jsonrpc: '2.0', id: 7, method: 'ping', ...more });
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);

  test.each([
    ['a body that is not JSON', '{', -32700],
    ['an empty body', '', -32700],
    ['a batch', [ping({})], -32600],
    ['a string', '"ping"', -32600],
    ['another version of JSON-RPC', ping({ jsonrpc: '1.0' }), -32600],
    ['a response', { jsonrpc: '2.0', id: 7, result: {} }, -32600],
    ['a method of 129 characters', ping({ method: 'm'.repeat(129) }), -32600],
    ['an ID of 129 characters', ping({ id: 'i'.repeat(129) }), -32600],
    ['an ID that is null', ping({ id: null }), -32600],
    ['a fraction as ID', ping({ id: 1.5 }), -32600],
    ['params that are a list', ping({ params: [1] }), -32600],
    [
      'params 30,000 levels deep',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${deep}}}`,
      -32600,
    ],
    [
      'params of over 500 values',
      ping({
        params: { _meta: Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, {}])) },
      }),
      -32600,
    ],
  ])('400 for %s', async (_, message, code) => {
    const response = await post(message);
    expectRefused(response, 400, 'BAD_REQUEST');
    expect(response.body.error?.code).toBe(code);
    expect(hasBudget(response)).toBe(true);
  });

  test('413 for a body over 64 KiB, 415 for another type, 405 for another method', async () => {
    const large = await post(ping({ params: { text: 'x'.repeat(64 * 1024) } }));
    expectRefused(large, 413, 'PAYLOAD_TOO_LARGE');
    expectRefused(
      await post(ping({}), { 'content-type': 'text/plain' }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
      const headers = { 'x-api-key': key, accept: 'text/event-stream' };
      const response = await postMcp(service.url, '', headers, method);
      expectRefused(response, 405, 'METHOD_NOT_ALLOWED');
      expect(response.headers.get('allow')).toBe('POST');
      expect(hasBudget(response)).toBe(true);
    }
  });

  test('no message opens a stream or a session, and every one costs at least 1', async () => {
    for (const method of ['subscriptions/listen', 'ping', 'tools/list', 'no/such', '__proto__']) {
      const responses = [
        await askMcp(service.url, key, method),
        await post({ jsonrpc: '2.0', id: 1, method }, { accept: 'text/event-stream' }),
      ];
      for (const { headers, body } of responses) {
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(headers.get('mcp-session-id')).toBeNull();
        expect(body).toMatchObject({ jsonrpc: '2.0', id: 1 });
      }
      const [left = 0, after = 0] = responses.map(({ headers }) =>
        Number(headers.get('ratelimit-remaining')),
      );
      expect(left - after).toBe(1);
    }
  });
});

describe('the protocol', () => {
  const find = { name: 'find_member', arguments: { memberId: 'm-both' } };

  test.each([
    ['another name in the header', { 'mcp-name': 'member_standing' }, -32020],
    ['another method in the header', { 'mcp-method': 'tools/list' }, -32020],
    ['no method in the header', { 'mcp-method': undefined }, -32020],
    ['no version in the header', { 'mcp-protocol-version': undefined }, -32020],
    ['another version in the header', { 'mcp-protocol-version': EARLIER }, -32020],
  ])('400 for %s', async (_, headers, code) => {
    const response = await askMcp(service.url, key, 'tools/call', find, headers);
    expectRefused(response, 400, 'BAD_REQUEST', 1);
    expect(response.body.error?.code).toBe(code);
  });

  test('400 for a revision that nobody knows, with those that are served', async () => {
    const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
    const unknown = await post(message, {
      'mcp-protocol-version': '2099-01-01',
      'mcp-method': 'tools/list',
    });
    expectRefused(unknown, 400, 'BAD_REQUEST', 1);
    expect(unknown.body.error).toMatchObject({ code: -32022, data: { supported: [CURRENT] } });
  });

  test('400 for the current revision without its envelope, and 404 for an unknown method', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const bare = await post(message, {
      'mcp-protocol-version': CURRENT,
      'mcp-method': 'tools/list',
    });
    expectRefused(bare, 400, 'BAD_REQUEST', 1);
    expect(bare.body.error?.code).toBe(-32602);
    const unknown = await askMcp(service.url, key, 'resources/list');
    expectRefused(unknown, 404, 'NOT_FOUND', 1);
    expect(unknown.body.error?.code).toBe(-32601);
  });

  test('400 for an unknown tool, and for a call without a name', async () => {
    const unknown = await callMcp(service.url, key, '__proto__', {});
    expectRefused(unknown, 400, 'BAD_REQUEST', 1);
    expect(unknown.body.error?.code).toBe(-32602);
    const nameless = await askMcp(service.url, key, 'tools/call', { arguments: {} });
    expect(nameless.body.error).toMatchObject({ code: -32602, data: { code: 'BAD_REQUEST' } });
    expect(nameless.body.error?.message).not.toMatch(/[[\n]/);
  });

  test.each([undefined, EARLIER, '2025-11-25'])(
    '200 for an unknown tool on the earlier revision %s',
    async (revision) => {
      const unknown = await post(toolCall('nope', {}), { 'mcp-protocol-version': revision });
      expectRefused(unknown, 200, 'BAD_REQUEST', 1);
      expect(unknown.body.error).toMatchObject({
        code: -32602,
        message: 'there is no tool with this name: see tools/list',
      });
      expect(unknown.headers.has('ratelimit-remaining')).toBe(true);
    },
  );

  test.each([
    ['initialize', undefined],
    ['initialize', { protocolVersion: 5, capabilities: {}, clientInfo: {} }],
    ['tools/list', { cursor: 5 }],
    ['tools/call', { name: 5 }],
  ])('%s with the params %j is no error of the service', async (method, params) => {
    const response = await post({ jsonrpc: '2.0', id: 1, method, params });
    expectRefused(response, 200, 'BAD_REQUEST', 1);
    expect(response.body.error?.code).toBe(-32602);
    expect(response.body.error?.message).not.toMatch(/[[\n]/);
  });

  test('202 without a body for a notification', async () => {
    for (const method of [
      'notifications/initialized',
      'notifications/cancelled',
      'notifications/x',
    ]) {
      const { status, text } = await post({ jsonrpc: '2.0', method });
      expect([status, text]).toEqual([202, '']);
    }
  });
});
