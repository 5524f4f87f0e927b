// The log and the metrics as an operator reads them: who sent what, and what became of it.
import { once } from 'node:events';
import { connect } from 'node:net';
import { issueKey, newKey } from '@partner-loyalty/gateway';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';

const READ = 'query ($email: String!) { memberByEmail(email: $email) { memberId tier } }';

type Line = Record<string, unknown> & { msg: string };

let service: DeployedService;
const logs: Record<'gateway' | 'members' | 'standings', Line[]> = {
  gateway: [],
  members: [],
  standings: [],
};
const metrics = { gateway: '', members: '' };
const responses: Record<string, { bytes: number }> = {};
const keyIds: Record<string, string> = {};

/** Sends everything first: lines are complete when the processes have stopped. */
beforeAll(async () => {
  service = await startDeployed('three processes', { RATE_LIMIT_BUDGET: '30' });
  const { send, keys, provider, stack } = service;
  const variables = { email: 'both@example.com' };
  const named = READ.replace('query', 'query FindMember');
  const sent = async (requestId: string, request: Parameters<typeof send>[0]) => {
    const { text } = await send({ requestId, ...request });
    responses[requestId] = { bytes: Buffer.byteLength(text) };
  };
  await sent('named', { query: named, variables });
  await sent('reformatted', { query: `# comment\n${named.replaceAll(' ', '  ')}`, variables });
  await sent('literal-1', { query: '{ a: memberByEmail(email: "both@example.com") { tier } }' });
  await sent('literal-2', { query: '{ a: memberByEmail(email: "x@example.com") { tier } }' });
  await sent('mixed', {
    query: `query Mixed($email: String!) {
      one: memberByEmail(email: $email) { tier } __typename
      two: memberByEmail(email: "nobody@example.com") { tier }
      three: memberByExternalId(externalId: "nobody") { tier } }`,
    variables,
  });
  await sent('long', { query: `query ${'n'.repeat(100)} { __typename }` });
  await sent('key-in-name', { query: `query ${'n'.repeat(60)}${keys.alpha} { __typename }` });
  await sent('unknown-field', { query: 'query Unknown { secretField __typename }' });
  await sent('malformed', { query: '{' });
  await sent('unknown-key', { query: '{ __typename }', key: `${keys.alpha.slice(0, -1)}_` });
  const ended = { expiresAt: new Date(), revokedAt: new Date() };
  for (const [name, limits] of [
    ['expired', { expiresAt: ended.expiresAt }],
    ['revoked', {}],
    ['elsewhere', { allow: ['192.0.2.0/24'] }],
  ] as const) {
    const { key, record } = issueKey('sandbox', 'gamma', new Date(), limits);
    await stack.stores.keys.createKey(record);
    if (name === 'revoked') await stack.stores.keys.revokeKey(record.keyId, ended.revokedAt);
    keyIds[name] = record.keyId;
    await sent(name, { query: '{ __typename }', key });
  }
  await sent('never-made', { query: '{ __typename }', key: newKey('sandbox') });
  await sent('no-key', { query: '{ __typename }', key: '' });
  await sent('bad-token', { query: '{ __typename }', token: 'x' });
  await sent('other-environment', { query: '{ __typename }', key: newKey('production') });
  const headers = { authorization: 'Bearer x' };
  await sent('two-credentials', { query: '{ __typename }', key: newKey('sandbox'), headers });
  const profile = '{ memberProfile(id: "m-both") { memberId } }';
  const token = await provider.issue('m-both', { azp: 'beta' });
  await sent('member', { query: profile, token });
  for (const [requestId, claims] of [
    ['member-of-alpha', { azp: 'alpha' }],
    ['member-alone', {}],
  ] as const)
    await sent(requestId, { query: profile, token: await provider.issue('m-both', claims) });
  for (const query of ['', '?token=ml_secret&email=ann@example.com'])
    await fetch(`${stack.gateway.url}/sign-in${query}`, { headers: { 'x-request-id': 'page' } });
  await closeEarly(new URL(stack.gateway.url).port, keys.beta);
  await Promise.all(
    Array.from({ length: 8 }, (_, i) => sent(`together-${i}`, { query: READ, variables })),
  );
  for (let i = 0; i < 30; i += 1) await sent('spent', { query: named, variables });
  for (const name of ['gateway', 'members'] as const)
    metrics[name] = await (await fetch(`${stack[name]?.adminUrl}/metrics`)).text();
  for (const name of ['gateway', 'members', 'standings'] as const) {
    const running = stack[name];
    await running?.stop();
    logs[name] = (running?.output() ?? '')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }
});
afterAll(() => service.close());

function lineOf(requestId: string, of: keyof typeof logs = 'gateway'): Line {
  const found = logs[of].filter((line) => line.msg === 'request' && line.requestId === requestId);
  const last = found.at(-1);
  if (last === undefined) throw new Error(`no line of ${requestId}`);
  return last;
}

test('the line of a request names the partner, the key, the operation and its root fields', () => {
  const { pid, time, durationMs, keyId, operationHash, ...line } = lineOf('named');
  expect(line).toEqual({
    level: 'info',
    msg: 'request',
    requestId: 'named',
    partner: 'alpha',
    surface: 'partner',
    operation: 'FindMember',
    rootFields: ['memberByEmail'],
    cost: 1,
    status: 200,
    bytes: responses.named?.bytes,
  });
  for (const number of [pid, time, durationMs]) expect(number).toEqual(expect.any(Number));
  expect(keyId).toMatch(/^key_[0-9A-Za-z]{16}$/);
  expect(operationHash).toMatch(/^[0-9a-f]{16}$/);
});

test('whitespace, comments and literals do not change the hash of a document', () => {
  expect(lineOf('reformatted').operationHash).toBe(lineOf('named').operationHash);
  expect(lineOf('literal-1').operationHash).toBe(lineOf('literal-2').operationHash);
  expect(lineOf('literal-1').operationHash).not.toBe(lineOf('named').operationHash);
});

test('an operation name is cut to 64 characters, and what looks like a key is withheld first', () => {
  expect(lineOf('long').operation).toBe('n'.repeat(64));
  expect(lineOf('key-in-name').operation).toBe(`${'n'.repeat(60)}with`);
});

test('root fields have the names of the schema, and codes are listed once each', () => {
  expect(lineOf('mixed')).toMatchObject({
    operation: 'Mixed',
    rootFields: ['memberByEmail', '__typename', 'memberByExternalId'],
    codes: ['MEMBER_NOT_FOUND'],
    cost: 4,
  });
  expect(lineOf('unknown-field')).toMatchObject({
    operation: 'Unknown',
    rootFields: ['__typename'],
    codes: ['GRAPHQL_VALIDATION_FAILED'],
    status: 400,
  });
});

test('a refused request has what is known of it', () => {
  expect(lineOf('spent')).toMatchObject({
    partner: 'alpha',
    operation: 'FindMember',
    rootFields: ['memberByEmail'],
    status: 429,
    codes: ['RATE_LIMITED'],
  });
  expect(lineOf('malformed')).toMatchObject({ partner: 'alpha', codes: ['GRAPHQL_PARSE_FAILED'] });
  expect(lineOf('malformed')).not.toHaveProperty('operationHash');
  const unknown = lineOf('unknown-key');
  expect(unknown).toMatchObject({ status: 401, codes: ['UNAUTHENTICATED'] });
  expect(unknown).not.toHaveProperty('partner');
});

test.each([
  ['unknown-key', 401, 'malformed', undefined],
  ['never-made', 401, 'unknown', undefined],
  ['expired', 401, 'expired', 'gamma'],
  ['revoked', 401, 'revoked', 'gamma'],
  ['elsewhere', 401, 'address', 'gamma'],
  ['no-key', 401, 'missing', undefined],
  ['bad-token', 401, 'malformed', undefined],
  ['other-environment', 403, 'environment', undefined],
  ['two-credentials', 400, 'unknown', undefined],
])(
  'the line of a request without a valid credential (%s: %s) says why (%s), whose key it was, and where from',
  (id, status, reason, partner) => {
    const line = lineOf(id);
    expect(line).toMatchObject({ status, reason, clientAddress: '127.0.0.0/24' });
    expect([line.partner, line.keyId]).toEqual([partner, partner && keyIds[id]]);
  },
);

test("a member's line has the partner of its token, if there is one, and no member ID", () => {
  const line = lineOf('member');
  expect(line).toMatchObject({ surface: 'member', partner: 'beta', rootFields: ['memberProfile'] });
  expect(line).not.toHaveProperty('keyId');
  expect(lineOf('member-of-alpha')).toMatchObject({ surface: 'member', partner: 'alpha' });
  expect(lineOf('member-alone')).toMatchObject({ surface: 'member' });
  expect(lineOf('member-alone')).not.toHaveProperty('partner');
  expect(JSON.stringify(logs)).not.toContain('m-both');
});

test('a page has a line without its token, and no request line', () => {
  const pages = logs.gateway.filter(({ requestId }) => requestId === 'page');
  expect(pages).toHaveLength(2);
  for (const line of pages)
    expect(line).toEqual({
      level: 'info',
      pid: expect.any(Number),
      time: expect.any(Number),
      requestId: 'page',
      path: '/sign-in',
      method: 'GET',
      status: 404,
      bytes: expect.any(Number),
      durationMs: expect.any(Number),
      msg: 'page',
    });
});

test('a client that closes the connection early is said to', () => {
  expect(lineOf('early')).toMatchObject({ reason: 'the client closed the connection' });
  expect(lineOf('early')).not.toHaveProperty('bytes');
});

test.each(['members', 'standings'] as const)('%s writes the same request ID', (name) => {
  expect(lineOf('named', name)).toMatchObject({ subgraph: name, count: 1, status: 200 });
  const lines = logs[name].filter((line) => line.msg === 'request');
  for (let i = 0; i < 8; i += 1) {
    const id = `together-${i}`;
    const found = lines.filter(
      ({ requestId, requestIds }) =>
        requestId === id || (Array.isArray(requestIds) && requestIds.includes(id)),
    );
    expect([id, found.length]).toEqual([id, 1]);
  }
});

test('a subgraph says which codes its operations had', () => {
  expect(lineOf('mixed', 'members')).toMatchObject({ codes: ['MEMBER_NOT_FOUND'] });
});

test.each([
  ['gateway', 'loyalty_partner_requests_total{partner="alpha",code="RATE_LIMITED"}'],
  ['gateway', 'loyalty_partner_requests_total{partner="beta",code="OK"}'],
  ['gateway', 'loyalty_partner_requests_total{partner="none",code="UNAUTHENTICATED"}'],
  ['gateway', 'loyalty_budget_used_ratio{partner="alpha"} 1'],
  ['gateway', 'loyalty_operation_duration_seconds_count{surface="member",operation="other"}'],
  ['gateway', 'dependency_up{dependency="standings"} 1'],
  ['gateway', 'loyalty_circuit_open{subgraph="members"} 0'],
  ['members', 'loyalty_subgraph_operations_total{code="MEMBER_NOT_FOUND"} 2'],
  ['members', 'dependency_up{dependency="store"} 1'],
] as const)('%s has the metric %s', (name, series) => {
  expect(metrics[name]).toContain(`\n${series}`);
});

/** Sends the head of a request, and closes the connection when the gateway asks for its body. */
async function closeEarly(port: string, key: string): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  const head = [
    'POST /graphql HTTP/1.1',
    'host: a',
    'x-request-id: early',
    `x-partner-api-key: ${key}`,
    'content-type: application/json',
    'content-length: 10',
    'expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  socket.destroy();
}
