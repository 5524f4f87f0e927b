// The tools at /mcp, called with the protocol's official client: results, errors, cost and records.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';

import { parse } from 'graphql';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { run } from '../support/servers/process.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { callMcp, connectMcp } from '../support/service/mcp.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

const MEMBER = {
  memberId: 'm-both',
  email: 'Both@Example.com',
  firstName: 'Teal',
  lastName: 'Heron',
  tier: 'Silver',
  points: 250,
  externalId: 'shared-1',
  enrolledAt: expect.any(String),
};
const NOT_FOUND = {
  isError: true,
  structuredContent: {
    code: 'MEMBER_NOT_FOUND',
    message: 'member not found',
    requestId: expect.any(String),
  },
};

let service: InProcessService;
let folder: Folder;
let auditLog: string;
let key: string;

beforeAll(async () => {
  folder = temporaryFolder();
  auditLog = join(folder.path, 'audit.log');
  service = await startInProcess({
    env: { AUDIT_LOG: auditLog, RATE_LIMIT_WINDOW_SECONDS: '3600' },
  });
  key = await mcpKey('alpha');
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

const mcpKey = (partnerId: string, limits = {}) =>
  addKey(service.stores.keys, partnerId, 'sandbox', { endpoint: 'mcp', ...limits });

/** Prints whether the protocol's library is among the scripts of the process. */
const LOADED = `
  import { Session } from 'node:inspector/promises';
  await import('@partner-loyalty/mcp/extension.ts');
  const session = new Session();
  session.connect();
  const urls = [];
  session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
  await session.post('Debugger.enable');
  const count = (part) => urls.filter((url) => url.includes(part)).length;
  console.log(count('/extensions/mcp/src/mcp.ts'), count('@modelcontextprotocol'));
  process.exit();
`;

test('a gateway does not load the library of the protocol before it is used', async () => {
  const node = ['--import', 'tsx', '--input-type=module', '--eval', LOADED];
  expect(await run(process.execPath, node)).toBe('1 0\n');
});

describe.each([
  ['the current revision', 'auto', '2026-07-28'],
  ['the revision that the client chooses by default', undefined, '2025-11-25'],
] as const)('on %s', (_, mode, revision) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectMcp(service.url, key, mode);
  });
  afterAll(() => client.close());

  const call = (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });

  test('changes are listed as `events` has them', async () => {
    const { structuredContent } = await call('list_changes', { first: 1, types: ['YEAR_ENDED'] });
    expect(structuredContent).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, endCursor: expect.any(String) },
    });
    const after = { first: 'one' };
    expect((await call('list_changes', after)).structuredContent).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'first',
      message: 'the argument must be an integer',
    });
  });

  test('the tools are listed with schemas, and as reads', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'find_member',
      'member_standing',
      'list_changes',
      'describe_schema',
    ]);
    for (const tool of tools) {
      expect(tool).toMatchObject({
        title: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: 'object', additionalProperties: false },
        outputSchema: { type: 'object' },
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      });
      // Some hosts know neither of these.
      expect(tool.inputSchema).not.toHaveProperty('$schema');
      expect(tool.inputSchema).not.toHaveProperty('oneOf');
    }
  });

  test.each([
    { email: 'both@example.com' },
    { email: 'Both.Earlier@example.net' },
    { externalId: 'shared-1' },
    { memberId: 'm-both' },
    { memberId: 'm-both', email: null },
  ])('find_member by %j', async (args) => {
    const result = await call('find_member', args);
    expect(result.structuredContent).toEqual(MEMBER);
    expect(result.isError).toBeUndefined();
    expect(result.content).toEqual([
      { type: 'text', text: JSON.stringify(result.structuredContent) },
    ]);
  });

  test("member_standing is the partner's own", async () => {
    const { structuredContent } = await call('member_standing', { memberId: 'm-both' });
    expect(structuredContent).toEqual({
      partnerId: 'alpha',
      partnerName: 'alpha',
      tier: 'Silver',
      tierFrom: expect.stringMatching(/-01-01T00:00:00/),
      tierValidUntil: expect.stringMatching(/-01-01T00:00:00/),
      points: 250,
      stays: 2,
      nextTier: 'Gold',
      pointsToNextTier: 750,
      previousYear: null,
      yearStart: expect.stringMatching(/-01-01T00:00:00/),
      yearEnd: expect.stringMatching(/-01-01T00:00:00/),
      asOf: expect.any(String),
    });
  });

  test.each([
    ['find_member', { email: 'nobody@example.com' }],
    ['find_member', { email: 'beta.only@example.com' }],
    ['find_member', { externalId: 'beta-7' }],
    ['find_member', { memberId: 'm-beta' }],
    ['find_member', { memberId: 'm-ended' }],
    ['find_member', { email: 'no address' }],
    ['member_standing', { memberId: 'm-beta' }],
    ['member_standing', { memberId: 'm-none' }],
  ])('%s with %j does not find a member of someone else', async (name, args) => {
    const result = await call(name, args);
    expect(result).toMatchObject(NOT_FOUND);
    expect(result.content).toEqual([
      { type: 'text', text: JSON.stringify(result.structuredContent) },
    ]);
  });

  test.each([
    ['find_member', {}, undefined],
    ['find_member', { email: 'both@example.com', memberId: 'm-both' }, undefined],
    ['find_member', { email: 7 }, 'email'],
    ['find_member', { email: '' }, 'email'],
    ['find_member', { externalId: '' }, 'externalId'],
    ['find_member', { memberId: 'a\u0000b' }, 'memberId'],
    ['find_member', { phone: '1' }, 'phone'],
    ['member_standing', {}, 'memberId'],
    ['member_standing', { memberId: ['m-both'] }, 'memberId'],
    ['describe_schema', { partner: 'beta' }, 'partner'],
  ])('%s with %j is BAD_USER_INPUT', async (name, args, argument) => {
    const { isError, structuredContent } = await call(name, args);
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect((structuredContent as { argument?: string }).argument).toBe(argument);
  });

  test('describe_schema is the surface as the key may use it: one that reads has no mutation', async () => {
    const { structuredContent } = await call('describe_schema', {});
    const { sdl } = structuredContent as { sdl: string };
    const names = (text: string) =>
      parse(text).definitions.flatMap((node) =>
        'name' in node && node.name !== undefined ? [node.name.value] : [],
      );
    const whole = readFileSync(
      join(import.meta.dirname, '../../gateway/surface.partner.graphql'),
      'utf8',
    );
    expect(names(whole)).toEqual(expect.arrayContaining(names(sdl)));
    expect(names(sdl)).toEqual(expect.arrayContaining(['Query', 'PartnerMemberRead', 'MemberKey']));
    expect(names(sdl)).not.toContain('Mutation');
    expect(names(sdl)).not.toContain('EnrollMemberInput');
    expect(sdl).not.toContain('memberProfile');
  });
});

test('two clients at once each get what they asked for', async () => {
  const other = await mcpKey('beta');
  const clients = await Promise.all([connectMcp(service.url, key), connectMcp(service.url, other)]);
  const find = { name: 'find_member', arguments: { externalId: 'shared-1' } };
  const answers = await Promise.all(
    clients.flatMap((client) => Array.from({ length: 10 }, () => client.callTool(find))),
  );
  const found = answers.map(({ structuredContent }) => structuredContent);
  const expected = ['m-both', 'm-beta'].flatMap((memberId) => Array(10).fill({ memberId }));
  expect(found).toMatchObject(expected);
  await Promise.all(clients.map((client) => client.close()));
});

test('a call costs what its operation costs, any other message 1, and a spent budget refuses all', async () => {
  await addPartner(service.stores.keys, { partnerId: 'assistant', budget: 4 });
  const poor = await mcpKey('assistant');
  const find = (args: Record<string, unknown>) => callMcp(service.url, poor, 'find_member', args);
  const left: unknown[] = [];
  for (const args of [{ memberId: 'm-both' }, { nonsense: 1 }])
    left.push((await find(args)).headers.get('ratelimit-remaining'));
  const client = await connectMcp(service.url, poor, 'auto');
  left.push((await find({ memberId: 'm-both' })).headers.get('ratelimit-remaining'));
  expect(left).toEqual(['3', '2', '0']);

  for (const refused of [await find({ memberId: 'm-both' }), await find({})]) {
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: expect.any(Number),
        message: 'the budget is used up',
        data: {
          code: 'RATE_LIMITED',
          requestId: refused.headers.get('x-request-id'),
          retryAfter: Number(refused.headers.get('retry-after')),
        },
      },
    });
    expect(refused.body.error?.data.retryAfter).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
  }
  await expect(client.listTools()).rejects.toThrow(/RATE_LIMITED/);
  await client.close();
});

test('a key without the scope read is FORBIDDEN, and nothing runs', async () => {
  const enroller = await mcpKey('alpha', { scopes: ['enroll'] });
  for (const [name, args] of [
    ['find_member', { memberId: 'm-both' }],
    ['member_standing', { memberId: 'm-both' }],
    ['describe_schema', {}],
  ] as const) {
    const before = service.calls.length;
    const { status, body, headers } = await callMcp(service.url, enroller, name, args);
    expect([status, body.error?.data.code]).toEqual([403, 'FORBIDDEN']);
    expect(headers.has('ratelimit-remaining')).toBe(true);
    expect(service.calls.slice(before)).toEqual([]);
  }
});

test('a suspended partner gets nothing else', async () => {
  await addPartner(service.stores.keys, { partnerId: 'asleep' });
  await service.stores.keys.changePartner('asleep', { suspendedAt: new Date() });
  const { status, body } = await callMcp(service.url, await mcpKey('asleep'), 'find_member', {});
  expect([status, body.error?.data.code]).toEqual([403, 'PARTNER_SUSPENDED']);
});

test('a member that a tool shows is in the audit log, with the key and the request', async () => {
  const headers = { 'x-request-id': 'audited' };
  await callMcp(service.url, key, 'member_standing', { memberId: 'm-both' }, headers);
  const lines = () => (existsSync(auditLog) ? readFileSync(auditLog, 'utf8').split('\n') : []);
  await until(() => lines().some((line) => line.includes('"audited"')));
  expect(JSON.parse(lines().find((line) => line.includes('"audited"')) ?? '')).toMatchObject({
    partner: 'alpha',
    keyId: expect.stringMatching(/^key_/),
    operation: 'memberById',
    memberId: 'm-both',
  });
});

test('a store that fails is an error of the tool', async () => {
  const down = await startInProcess();
  try {
    const ofDown = await addKey(down.stores.keys, 'alpha', 'sandbox', { endpoint: 'mcp' });
    await down.stores.members.close();
    const { status, body } = await callMcp(down.url, ofDown, 'find_member', { memberId: 'm-both' });
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      isError: true,
      structuredContent: { code: 'INTERNAL_SERVER_ERROR' },
    });
  } finally {
    await down.close();
  }
});
