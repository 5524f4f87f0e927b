// Signatures between our own processes.

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { httpbis } from 'http-message-signatures';
import { PROTOCOL } from '../protocol.ts';
import { type Covered, createMac, digestOf, keyIdOf, signatureBase } from './base.ts';
import { createReplayGuard } from './replay.ts';
import { createSigner, type SignedRequest } from './signer.ts';
import { createVerifier } from './verifier.ts';

// The HMAC is that of node:crypto.

const ascii = (maxLength: number) => fc.string({ unit: 'binary-ascii', maxLength });

test('is the HMAC of node:crypto, for secrets and texts of any length', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 100 }),
      fc.array(ascii(500)),
      (key, texts) => {
        const mac = createMac(key);
        // Around the limits of a block and of headers too.
        texts.push(...[63, 64, 19_999, 20_000, 20_001].map((size) => 't'.repeat(size)));
        for (const text of [...texts, '', texts.join('').repeat(50)])
          expect(mac(text)).toBe(createHmac('sha256', key).update(text).digest('base64'));
      },
    ),
  );
});

// A signed request passes if the secret is right, the time is recent, and it is the first time.
describe('signature', () => {
  const SECRET = 'the secret of the tests';
  const request: SignedRequest = {
    method: 'POST',
    path: '/graphql',
    caller: 'kind=service',
    requestId: 'r-1',
    body: '{"query":"{__typename}"}',
  };

  /** A verifier and a signer, each with a clock of its own. */
  function setup(secrets = [SECRET], signedWith = SECRET, signedFor = 'members') {
    const clock = { signer: 1_800_000_000_000, verifier: 1_800_000_000_000 };
    const sign = createSigner(signedFor, signedWith, () => clock.signer);
    const guard = createReplayGuard(() => clock.verifier);
    const verifier = createVerifier('members', secrets, guard);
    const refusal = (headers: Record<string, string>, { method, path, body } = request) => {
      const claim = verifier.read(headers);
      if (typeof claim === 'string') return claim;
      return verifier.verify(claim, { method, path, body: Buffer.from(body) });
    };
    const passes = (...sent: Parameters<typeof refusal>) => refusal(...sent) === undefined;
    return { clock, sign, refusal, passes };
  }

  test('a request passes only once, however its signature is written', () => {
    const { sign, passes } = setup();
    const headers = sign(request);
    expect([passes(headers), passes(headers), passes(sign(request))]).toEqual([true, false, true]);
    for (const name of ['signature', 'signature-input'])
      expect(passes({ ...headers, [name]: `${headers[name]?.replace('sig=', ' sig=')} ` })).toBe(
        false,
      );
    const relabelled = {
      'signature-input': headers['signature-input']?.replace('sig=', 'other=') ?? '',
      signature: headers.signature?.replace('sig=', 'other=') ?? '',
    };
    expect(passes({ ...headers, ...relabelled })).toBe(false);
  });

  test.each<[string, Partial<SignedRequest>]>([
    ['method', { method: 'PUT' }],
    ['path', { path: '/graphql/' }],
    ['body', { body: '{"query":"{ __typename }"}' }],
  ])('a request with another %s than the signed one does not pass', (_, changed) => {
    const { sign, passes } = setup();
    expect(passes(sign(request), { ...request, ...changed })).toBe(false);
  });

  const OTHER_BODY_DIGEST = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:';

  test.each([
    ['caller', 'partner-loyalty-scope', 'kind=partner, partner="acme"'],
    ['subgraph', 'partner-loyalty-subgraph', 'standings'],
    ['request ID', 'x-request-id', 'another'],
    ['digest', 'content-digest', OTHER_BODY_DIGEST],
    ['signature', 'signature', `sig=:${'a'.repeat(43)}=:`],
    ['signature that is too short', 'signature', 'sig=:aaaa:'],
    ['signature without a label', 'signature', `:${'a'.repeat(43)}=:`],
    ['list that is empty', 'signature-input', ''],
    ['list that is none', 'signature-input', 'sig'],
  ])('another %s does not pass', (_, name, value) => {
    const { sign, passes } = setup();
    expect(passes({ ...sign(request), [name]: value })).toBe(false);
  });

  test.each<[string, RegExp | string, string]>([
    ['a component is missing', '"@method" ', ''],
    ['a component is covered twice', '"@method"', '"@method" "@method"'],
    ['another component is covered in its place', '"@method"', '"@authority"'],
    ['a component has a parameter', '"@method"', '"@method";req'],
    ['the time is missing', /created=\d+;/, ''],
    ['the time is no integer', /created=\d+;/, 'created="now";'],
    ['the key is unknown', /keyid="[0-9a-f]+"/, 'keyid="0000000000000000"'],
    ['the key is missing', /;keyid="[0-9a-f]+"/, ''],
    ['the nonce is missing', /;nonce="[\w-]+"/, ''],
    ['the tag is missing', /;tag=.*/, ''],
    ['the tag is another', /;tag=.*/, ';tag="web-bot-auth"'],
    ['the protocol is no number', 'protocol=4', 'protocol="4"'],
    ['the algorithm is another', /;tag=/, ';alg="ed25519";tag='],
    ['it has expired', /;tag=/, ';expires=1;tag='],
  ])('a signature of whoever has the secret does not pass if %s', (_, from, to) => {
    const { sign, passes } = setup();
    const headers = sign(request);
    const resigned = signedAnew(headers, from, to);
    expect(resigned['signature-input']).not.toBe(headers['signature-input']);
    expect(passes(resigned)).toBe(false);
  });

  test('headers of any form are refused without an exception', () => {
    const { sign } = setup();
    const verifier = createVerifier('members', [SECRET], createReplayGuard());
    const names = ['signature-input', 'signature', 'content-digest'];
    const piece = fc.constantFrom(
      ...'()";=:,?%@ aA0-.*\\'.split(''),
      ';created=',
      'sig=',
      '%"',
      ':AA==:',
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(fc.tuple(fc.nat(400), fc.nat(20), fc.array(piece, { maxLength: 4 })), {
          maxLength: 4,
        }),
        (name, changes) => {
          const headers = sign(request);
          let text = headers[name] ?? '';
          for (const [place, length, pieces] of changes)
            text = text.slice(0, place) + pieces.join('') + text.slice(place + length);
          const claim = verifier.read({ ...headers, [name]: text });
          const { method, path } = request;
          const passes =
            typeof claim !== 'string' &&
            verifier.verify(claim, { method, path, body: Buffer.from(request.body) }) === undefined;
          if (text !== headers[name] && name === 'signature-input') expect(passes).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a request without one of the headers does not pass', () => {
    const { sign, passes } = setup();
    for (const name of Object.keys(sign(request))) {
      const { [name]: _, ...headers } = sign(request);
      expect(passes(headers)).toBe(false);
    }
  });

  test('a request with two signatures for this service does not pass', () => {
    const { sign, passes } = setup();
    const [one, two] = [sign(request), sign(request)];
    const both = (name: string) => `${one[name]}, ${two[name]?.replace('sig=', 'second=')}`;
    expect(
      passes({ ...one, signature: both('signature'), 'signature-input': both('signature-input') }),
    ).toBe(false);
  });

  test('a signature passes up to 30 seconds before and after its time', () => {
    const { clock, sign, passes } = setup();
    for (const [offset, expected] of [
      [30_000, true],
      [31_000, false],
      [-30_000, true],
      [-31_000, false],
    ] as const) {
      clock.signer = clock.verifier + offset;
      expect([offset, passes(sign(request))]).toEqual([offset, expected]);
    }
  });

  test('a signature that is forgotten is too old to pass', () => {
    const { clock, sign, passes } = setup();
    const replayed = sign(request);
    expect(passes(replayed)).toBe(true);
    for (let second = 0; second < 70; second++) {
      clock.verifier += 1000;
      clock.signer += 1000;
      expect([second, passes(replayed), passes(sign(request))]).toEqual([second, false, true]);
    }
  });

  test('a guard that is full forgets the oldest second and accepts nothing more of it', () => {
    const guard = createReplayGuard(() => 10_000, 3);
    const signature = (n: number) => Buffer.alloc(32, n).toString('base64');
    for (const [n, timeMs] of [8_000, 8_000, 9_000].entries())
      expect(guard.firstUse(timeMs, signature(n))).toBe(true);
    expect(guard.firstUse(10_000, signature(3))).toBe(true);
    expect(guard.firstUse(8_000, signature(0))).toBe(false);
    expect(guard.firstUse(8_999, signature(4))).toBe(false);
    expect(guard.fresh(8_999)).toBe(false);
    expect(guard.firstUse(9_000, signature(2))).toBe(false);
    expect(guard.firstUse(9_000, signature(5))).toBe(true);
  });

  test('a wrong secret, a clock that differs and a request sent twice have reasons of their own', () => {
    const reasons = new Set<unknown>();
    reasons.add(setup(['the new secret'], SECRET).refusal(setup().sign(request)));
    const { clock, sign, refusal } = setup();
    const headers = sign(request);
    expect(refusal(headers)).toBeUndefined();
    reasons.add(refusal(headers));
    reasons.add(refusal(sign(request), { ...request, body: '{}' }));
    reasons.add(refusal(sign(request), { ...request, method: 'PUT' }));
    reasons.add(refusal({}));
    clock.signer -= 60_000;
    reasons.add(refusal(sign(request)));
    expect(reasons).toEqual(
      new Set([
        'unknown secret',
        'used before',
        'wrong digest of the body',
        'wrong signature',
        'not signed',
        'signed over 30 seconds ago or ahead: the clocks may differ',
      ]),
    );
  });

  test('a request with a parameter that a later version adds passes', () => {
    const { sign, passes } = setup();
    const protocol = `protocol=${PROTOCOL}`;
    expect(passes(signedAnew(sign(request), protocol, `${protocol};zone="eu-1"`))).toBe(true);
    // Nobody in between makes it look older.
    const headers = sign(request);
    const older = headers['signature-input']?.replace(protocol, `protocol=${PROTOCOL - 1}`) ?? '';
    expect(passes({ ...headers, 'signature-input': older })).toBe(false);
  });

  /** Changes what is said of a signature, and signs that. */
  function signedAnew(headers: Record<string, string>, from: RegExp | string, to: string) {
    const input = headers['signature-input']?.replace(from, to) ?? '';
    const { method, path } = request;
    // Cast: the headers of a signed request are covered.
    const covered = { '@method': method, '@path': path, ...headers } as unknown as Covered;
    const mac = createMac(SECRET)(signatureBase(covered, input.slice('sig='.length)));
    return { ...headers, 'signature-input': input, signature: `sig=:${mac}:` };
  }
});

// A library that others use verifies what is signed here.
describe('thirdparty', () => {
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
  const CALLERS = [
    'kind=service',
    'kind=partner, partner="a\\"b"',
    'kind=member, member=%"m%c3%bc"',
  ];
  const request = (headers: Record<string, string>) => ({
    method: 'POST',
    url: 'http://localhost:4011/graphql',
    headers,
  });

  test.each(CALLERS)(
    'a library verifies what is signed here, for the caller %s',
    async (caller) => {
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
    },
  );

  function hmac(data: Buffer): Buffer {
    return createHmac('sha256', SECRET).update(data).digest();
  }
});

// The requests and the signature bases in docs/teams/protocol.md are what the code makes.
describe('vectors', () => {
  const PAGE = readFileSync(
    join(import.meta.dirname, '../../../../docs/teams/protocol.md'),
    'utf8',
  );
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
    for (const { headers, body } of requests)
      expect(headers['content-digest']).toBe(digestOf(body));
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
});
