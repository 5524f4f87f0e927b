// Libraries that others use verify what is signed here, and sign what is accepted here.
import { createHmac } from 'node:crypto';
import { createSigner as createTheirSigner, httpbis } from 'http-message-signatures';
import { digestOf, keyIdOf } from './base.ts';
import { createReplayGuard } from './replay.ts';
import { createSigner } from './signer.ts';
import { createVerifier } from './verifier.ts';

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

describe('what a library signs is accepted here', () => {
  const params = ['created', 'keyid', 'nonce', 'tag'];

  test.each<[string, { name?: string; fields?: string[]; params?: string[]; caller?: string }]>([
    ['as it is signed here', {}],
    ['under another label', { name: 'gateway' }],
    ['with its components in another order', { fields: COMPONENTS.toReversed() }],
    ['with its parameters in another order', { params: params.toReversed() }],
    ['with more parameters', { params: ['alg', 'expires', ...params] }],
    ['for a member', { caller: 'kind=member, member=%"m%c3%bc"' }],
  ])('%s', async (_, { caller = 'kind=service', ...options }) => {
    const headers = await signTheirs(caller, options);
    const verifier = createVerifier('members', [SECRET], createReplayGuard());
    const claim = verifier.read(headers);
    if (typeof claim === 'string') throw new Error('the headers are refused');
    const verify = (body: string) =>
      verifier.verify(claim, { method: 'POST', path: '/graphql', body: Buffer.from(body) });
    expect([verify(`${BODY} `), verify(BODY), verify(BODY)]).toEqual([
      'wrong digest of the body',
      undefined,
      'used before',
    ]);
  });

  test('beside the signature of a proxy, and with a second digest', async () => {
    const digest = `sha-512=:${Buffer.alloc(64).toString('base64')}:, ${digestOf(BODY)}`;
    const headers = await signTheirs('kind=service', {}, digest);
    const both = {
      ...headers,
      'signature-input': `proxy=("@authority");created=1;keyid="p", ${headers['signature-input']}`,
      signature: `proxy=:AAAA:, ${headers.signature}`,
    };
    const verifier = createVerifier('members', [SECRET], createReplayGuard());
    const claim = verifier.read(both);
    const body = Buffer.from(BODY);
    if (typeof claim === 'string') throw new Error('the headers are refused');
    expect(verifier.verify(claim, { method: 'POST', path: '/graphql', body })).toBeUndefined();
  });
});

async function signTheirs(
  caller: string,
  { fields = COMPONENTS, params = ['created', 'keyid', 'nonce', 'tag'], name = 'sig' },
  digest = digestOf(BODY),
): Promise<Record<string, string>> {
  const { headers } = await httpbis.signMessage(
    {
      key: createTheirSigner(SECRET, 'hmac-sha256', keyIdOf(SECRET)),
      name,
      fields,
      params,
      paramValues: { nonce: 'their+nonce/1=', tag: 'partner-loyalty' },
    },
    request({
      'content-digest': digest,
      'partner-loyalty-subgraph': 'members',
      'partner-loyalty-scope': caller,
      'x-request-id': 'r',
    }),
  );
  // node:http reads names in lower case.
  return Object.fromEntries(
    Object.entries(headers).map(([key, value]) => [key.toLowerCase(), String(value)]),
  );
}

function hmac(data: Buffer): Buffer {
  return createHmac('sha256', SECRET).update(data).digest();
}
