// Requests to a gateway with its extensions, through the parts that it has.
import { issueKey } from '@partner-loyalty/gateway';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { answering, openPlace } from '../../gateway/test/gateway.ts';
import { UNSHARED } from '../../test/support/requests/unshared.ts';
import { gatewayExtensions } from './list.ts';

const AT = new Date('2026-03-04T05:06:07Z');

let place: Awaited<ReturnType<typeof openPlace>>;
let gateway: Awaited<ReturnType<typeof place.open>>;

beforeAll(async () => {
  place = await openPlace();
  await place.keyStore.createPartner({ partnerId: 'inn', name: 'Inn', createdAt: AT });
  gateway = await place.open({
    subgraph: answering({}, () => {}),
    log: createLog('silent'),
    extensions: await gatewayExtensions(),
  });
});
afterAll(() => place.close());

function send(request: Partial<HttpRequest>) {
  return gateway.handle({
    ...{ method: 'GET', path: '/', search: '', requestId: 'r', address: '192.0.2.1' },
    signal: new AbortController().signal,
    body: async () => Buffer.alloc(0),
    ...UNSHARED,
    ...request,
    headers: { accept: 'text/html', ...request.headers },
  });
}

async function sendMessage(path: string, request: Partial<HttpRequest>) {
  const { key, record } = issueKey('sandbox', 'inn', AT, { endpoint: 'mcp' });
  await place.keyStore.createKey(record);
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const { status, body } = await send({ method: 'POST', path, headers, ...request });
  return { status, body: JSON.parse(`${body}`) };
}

test.each(['/mcp', '/mcp/'])('%s is the endpoint of assistants', async (path) => {
  expect(await sendMessage(path, { body: async () => Buffer.from('{') })).toMatchObject({
    status: 400,
    body: { error: { code: -32700, data: { code: 'BAD_REQUEST' } } },
  });
});

test('a body is parsed at /mcp when there is memory for it', async () => {
  const body = async () => Buffer.from('{"'.padEnd(1_000));
  const admit = (_: unknown, bytes = 0) => {
    expect(bytes).toBeGreaterThan(32_000);
    throw new ApiError('SERVICE_UNAVAILABLE');
  };
  expect(await sendMessage('/mcp', { body, admit })).toMatchObject({ status: 503 });
});

test.each(['/console', '/console/keys', '/docs'])(
  'the page %s with a slash at its end leads to the one without',
  async (path) => {
    expect(await send({ path: `${path}/`, search: '?token=x' })).toMatchObject({
      status: 308,
      headers: { location: `${path}?token=x` },
    });
  },
);

test.each(['//evil.example/', '/mcp//', '/docs//'])('%s is not found', async (path) => {
  expect(await send({ path })).toMatchObject({ status: 404 });
});

test.each([
  ['/console', '', 'same-origin'],
  ['/console/sign-in', '?token=x', 'no-referrer'],
  ['/docs', '', 'same-origin'],
])('the page at %s%s has the referrer policy %s', async (path, search, policy) => {
  const { headers } = await send({ path, search });
  expect(headers['referrer-policy']).toBe(policy);
});
