// Sandbox and production: keys of one are sent on from the other, and a store belongs to the one that first wrote to it.

import { createClient } from '../support/service/client.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';
import { SHAPES, type Shape, startStack } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';

const QUERY = '{ __typename }';

describe('production', () => {
  let stage: Stage;

  beforeAll(async () => {
    const env = {
      ENVIRONMENT: 'production',
      SANDBOX_URL: 'https://sandbox.example/base/',
      PRODUCTION_URL: 'https://api.example',
    };
    stage = await startInProcess({ env });
  });
  afterAll(() => stage.close());

  test('accepts live keys', async () => {
    const key = await addKey(stage.stores.keys, 'alpha', 'production');
    expect(key).toMatch(/^pk_live_[0-9A-Za-z]{36}$/);
    expect((await stage.ask({ query: QUERY, key })).body).toEqual({
      data: { __typename: 'Query' },
    });
  });

  test('403 for a test key, known or not, which says where it belongs before anything else about it', async () => {
    const key = await addKey(stage.stores.keys, 'alpha', 'sandbox');
    expect(key).toMatch(/^pk_test_/);
    for (const ask of [
      { query: QUERY },
      { query: '{' },
      { body: '' },
      { query: QUERY, headers: { 'content-type': 'text/plain' } },
    ]) {
      const { status, body, headers } = await stage.ask({ ...ask, key, requestId: 'r' });
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
});

// Object.keys forgets the names.
describe.each((Object.keys(SHAPES) as Shape[]).filter((shape) => shape !== 'apart'))(
  '%s',
  (shape) => {
    test('a store of the sandbox is not opened as production', async () => {
      const stack = await startStack(shape);
      try {
        await expect(stack.addGateway({ ENVIRONMENT: 'production' })).rejects.toThrow(
          /belongs to the sandbox environment; it cannot be opened as production/,
        );
        const ask = createClient(stack.gateway.url, '');
        expect((await ask({ query: QUERY })).status).toBe(401);
      } finally {
        await stack.close();
      }
    }, 60_000);
  },
);
