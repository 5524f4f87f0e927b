// Sandbox and production: each refuses the other's keys and the other's stores.
import { newKey } from '@partner-loyalty/gateway';
import { createClient } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { callMcp } from '../support/service/mcp.ts';
import { startStack } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';

const QUERY = '{ __typename }';

describe('production', () => {
  let service: InProcessService;

  beforeAll(async () => {
    const env = {
      ENVIRONMENT: 'production',
      SANDBOX_URL: 'https://sandbox.example/base/',
      PRODUCTION_URL: 'https://api.example',
    };
    service = await startInProcess({ env });
  });
  afterAll(() => service.close());

  test('accepts live keys', async () => {
    const key = await addKey(service.stores.keys, 'alpha', 'production');
    expect(key).toMatch(/^pk_live_[0-9A-Za-z]{36}$/);
    expect((await service.send({ query: QUERY, key })).body).toEqual({
      data: { __typename: 'Query' },
    });
  });

  test('403 for a test key, known or not, with the correct endpoint, before any other check', async () => {
    const key = await addKey(service.stores.keys, 'alpha', 'sandbox');
    expect(key).toMatch(/^pk_test_/);
    for (const request of [
      { query: QUERY },
      { query: '{' },
      { body: '' },
      { query: QUERY, headers: { 'content-type': 'text/plain' } },
    ]) {
      const { status, body, headers } = await service.send({ ...request, key, requestId: 'r' });
      const correctEndpoint = 'https://sandbox.example/base/graphql';
      expect(status).toBe(403);
      expect(body).toEqual({
        errors: [
          {
            message: expect.any(String),
            extensions: { code: 'KEY_ENVIRONMENT_MISMATCH', requestId: 'r', correctEndpoint },
          },
        ],
        correctEndpoint,
      });
      expect(headers.get('ratelimit-limit')).toBeNull();
    }
  });

  test('/mcp accepts live keys of its own, and names the endpoint for a test key', async () => {
    const [live, ofSandbox] = [
      await addKey(service.stores.keys, 'alpha', 'production', { endpoint: 'mcp' }),
      newKey('sandbox', 'mcp'),
    ];
    expect(live).toMatch(/^mk_live_[0-9A-Za-z]{36}$/);
    const args = { memberId: 'm-both' };
    expect((await callMcp(service.url, live, 'find_member', args)).body.result).toMatchObject({
      structuredContent: args,
    });
    const { status, body } = await callMcp(service.url, ofSandbox, 'find_member', args);
    expect([status, body.error?.data]).toMatchObject([
      403,
      {
        code: 'KEY_ENVIRONMENT_MISMATCH',
        correctEndpoint: 'https://sandbox.example/base/mcp',
      },
    ]);
  });
});

describe('three processes on MongoDB and Redis', () => {
  test('production refuses to open a store of the sandbox', async () => {
    const stack = await startStack('three processes on MongoDB and Redis');
    try {
      await expect(stack.addGateway({ ENVIRONMENT: 'production' })).rejects.toThrow(
        /belongs to the sandbox environment; it cannot be opened as production/,
      );
      const send = createClient(stack.gateway.url, '');
      expect((await send({ query: QUERY })).status).toBe(401);
    } finally {
      await stack.close();
    }
  });
});
