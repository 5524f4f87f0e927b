// A library that others use verifies what is signed here.
import { createHmac } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { keyIdOf } from './base.ts';
import { createSigner } from './signer.ts';

const SECRET = 'the secret of the tests, with ü';
const BODY = '{"query":"{__typename}"}';
const COMPONENTS = [
  '@method',
  '@path',
  'content-digest',
  'partner-loyalty-subgraph',
  'partner-loyalty-scope',
  'x-request-id',
];
const CALLERS = ['kind=service', 'kind=partner, partner="a\\"b"', 'kind=member, member=%"m%c3%bc"'];
const request = (headers: Record<string, string>) => ({
  method: 'POST',
  url: 'http://localhost:4011/graphql',
  headers,
});

test.each(CALLERS)('a library verifies what is signed here, for the caller %s', async (caller) => {
  const headers = createSigner(
    'members',
    SECRET,
  )({
    method: 'POST',
    path: '/graphql',
    caller,
    requestId: 'r',
    body: BODY,
  });
  const verify = (sent: Record<string, string>) =>
    httpbis.verifyMessage(
      {
        keyLookup: async ({ keyid, tag }) => {
          expect([keyid, tag]).toEqual([keyIdOf(SECRET), 'partner-loyalty']);
          return { algs: ['hmac-sha256'], verify: async (data, mac) => mac.equals(hmac(data)) };
        },
        requiredFields: COMPONENTS,
        requiredParams: ['created', 'keyid', 'nonce', 'tag'],
        maxAge: 30,
      },
      request(sent),
    );
  expect(await verify(headers)).toBe(true);
  expect(await verify({ ...headers, 'partner-loyalty-scope': 'kind=batch' })).toBe(false);
});

function hmac(data: Buffer): Buffer {
  return createHmac('sha256', SECRET).update(data).digest();
}
