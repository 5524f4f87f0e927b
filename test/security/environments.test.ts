// Production and the sandbox refuse the keys of each other.
import { newKey } from '@partner-loyalty/gateway';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { callMcp } from '../support/service/mcp.ts';
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

  test('403 for a test key, with the correct endpoint, at /mcp too', async () => {
    const key = await addKey(service.stores.keys, 'alpha', 'sandbox');
    const { status, code, body } = await service.send({ query: QUERY, key });
    expect([status, code]).toEqual([403, 'KEY_ENVIRONMENT_MISMATCH']);
    expect(body.correctEndpoint).toBe('https://sandbox.example/base/graphql');
    const atMcp = await callMcp(service.url, newKey('sandbox', 'mcp'), 'find_member', {});
    expect([atMcp.status, atMcp.body.error?.data]).toMatchObject([
      403,
      {
        code: 'KEY_ENVIRONMENT_MISMATCH',
        correctEndpoint: 'https://sandbox.example/base/mcp',
      },
    ]);
  });
});
