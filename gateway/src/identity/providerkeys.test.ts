// Fetching an external identity provider's keys.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchProviderKeys } from './providerkeys.ts';

const KEY_SET = { keys: [{ kty: 'EC', crv: 'P-256', kid: 'a' }] };

let handler: RequestListener;
let issuer: string;
const server = createServer((request, response) => handler(request, response));

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const json =
  (body: unknown, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(JSON.stringify(body));

const discovery =
  (metadata: object): RequestListener =>
  (request, response) =>
    json(
      request.url === '/.well-known/openid-configuration'
        ? { issuer, jwks_uri: `${issuer}/keys`, ...metadata }
        : KEY_SET,
    )(request, response);

test('keys are fetched by discovery, or from the configured address', async () => {
  handler = discovery({});
  expect(await fetchProviderKeys(issuer)).toEqual(KEY_SET);
  handler = json(KEY_SET);
  expect(await fetchProviderKeys(issuer, `${issuer}/jwks`)).toEqual(KEY_SET);
});

test('a discovery document of another issuer, or without an address, is refused', async () => {
  handler = discovery({ issuer: 'https://evil.example' });
  await expect(fetchProviderKeys(issuer)).rejects.toThrow('not usable');
  handler = discovery({ jwks_uri: undefined });
  await expect(fetchProviderKeys(issuer)).rejects.toThrow('not usable');
});

test.each<[string, RequestListener]>([
  ['another status code', json(KEY_SET, 500)],
  ['no key set', json({ keys: {} })],
  ['no JSON object', json(null)],
  ['no JSON', (_, response) => void response.end('<html>')],
  ['more than 256 KiB', json({ ...KEY_SET, pad: 'x'.repeat(256 * 1_024) })],
  ['a redirect', (_, response) => void response.writeHead(302, { location: '/other' }).end()],
])('a provider is refused that sends %s', async (_, respond) => {
  handler = respond;
  await expect(fetchProviderKeys(issuer, `${issuer}/jwks`)).rejects.toThrow();
});

test.each<[string, RequestListener]>([
  ['nothing for over 2 seconds', () => {}],
  ['a response that never ends', (_, response) => void response.write('{"keys":[')],
])('a provider is refused that sends %s', async (_, respond) => {
  handler = respond;
  const after = AbortSignal.timeout.bind(AbortSignal);
  const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => after(ms / 20));
  await expect(fetchProviderKeys(issuer, `${issuer}/jwks`)).rejects.toThrow('timeout');
  expect(timeout).toHaveBeenCalledWith(2_000);
  timeout.mockRestore();
});
