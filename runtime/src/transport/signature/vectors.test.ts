// The requests and the signature bases in docs/teams/protocol.md are what the code makes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Covered, digestOf, signatureBase } from './base.ts';
import { createReplayGuard } from './replay.ts';
import { createSigner } from './signer.ts';
import { createVerifier } from './verifier.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/teams/protocol.md'), 'utf8');
const [, SECRET = ''] = /signed with the secret `(.*?)`/.exec(PAGE) ?? [];

const requests = [...PAGE.matchAll(/```http\n(.*?)\n\n(.*?)\n```/gs)].map(
  ([, head = '', body = '']) => {
    const [line = '', ...fields] = head.split('\n');
    const [method = '', path = ''] = line.split(' ');
    const headers = Object.fromEntries(
      fields.map((field) => {
        const [, name = '', value = ''] = /^(.*?): (.*)$/.exec(field) ?? [];
        return [name, value] as const;
      }),
    );
    return { method, path, headers, body };
  },
);
const bases = [...PAGE.matchAll(/```\n("@method": POST\n"@path": \/graphql\n.*?)\n```/gs)].map(
  ([, base = '']) => base,
);
const vectors = requests.filter(({ headers }) => headers.signature !== undefined);

test('every request in the page has the digest of its body', () => {
  for (const { headers, body } of requests) expect(headers['content-digest']).toBe(digestOf(body));
});

test('the page has at least two vectors, each with its signature base', () => {
  expect(vectors.length).toBeGreaterThanOrEqual(2);
  expect(bases).toHaveLength(vectors.length);
});

test.each(vectors)('the signature of the vector for $headers.partner-loyalty-scope', (vector) => {
  const { method, path, headers, body } = vector;
  const input = headers['signature-input'] ?? '';
  const [, params = ''] = /^sig=(.*)$/.exec(input) ?? [];
  const [, created = ''] = /created=(\d+)/.exec(input) ?? [];
  const [, nonce = ''] = /nonce="(.*?)"/.exec(input) ?? [];
  const now = () => Number(created) * 1000;
  const sign = createSigner('offers', SECRET, now, () => nonce);
  const signed = sign({
    method,
    path,
    caller: headers['partner-loyalty-scope'] ?? '',
    requestId: headers['x-request-id'] ?? '',
    body,
  });
  expect(headers).toEqual(expect.objectContaining(signed));
  // Cast: the headers of a signed request are covered.
  const covered = { '@method': method, '@path': path, ...signed } as unknown as Covered;
  expect(bases[vectors.indexOf(vector)]).toBe(signatureBase(covered, params));
  const verifier = createVerifier('offers', [SECRET], createReplayGuard(now));
  const claim = verifier.read(headers);
  if (typeof claim === 'string') throw new Error('the headers are refused');
  expect(verifier.verify(claim, { method, path, body: Buffer.from(body) })).toBeUndefined();
});
