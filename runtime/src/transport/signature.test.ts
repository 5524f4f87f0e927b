// A signed request passes if the secret is right, the time is recent, and it is the first time.
import { createReplayGuard } from './replay.ts';
import { createSigner, createVerifier, type SignedParts } from './signature.ts';

const SECRET = 'the secret of the tests';
const parts: SignedParts = {
  method: 'POST',
  path: '/graphql',
  scopes: '[{"kind":"service"}]',
  body: '[]',
};

/** A verifier and a signer, each with a clock of its own. */
function setup(secrets = [SECRET], signedWith = SECRET, signedFor = 'members') {
  const clock = { signer: 1_800_000_000_000, verifier: 1_800_000_000_000 };
  const sign = createSigner(signedFor, signedWith, () => clock.signer);
  const guard = createReplayGuard(() => clock.verifier);
  const verifier = createVerifier('members', secrets, guard);
  const passes = (headers: Record<string, string>, { scopes: _, ...rest } = parts) =>
    verifier.plausible(headers) && verifier.verify(headers, rest);
  return { clock, sign, passes };
}

test('a signed request passes', () => {
  const { sign, passes } = setup();
  expect(passes(sign(parts))).toBe(true);
});

test('a request passes only once, whatever the case of its signature', () => {
  const { sign, passes } = setup();
  const headers = sign(parts);
  expect([passes(headers), passes(headers)]).toEqual([true, false]);
  expect(
    passes({
      ...headers,
      'x-subgraph-signature': String(headers['x-subgraph-signature']).toUpperCase(),
    }),
  ).toBe(false);
});

test('two equal requests have different signatures, and both pass', () => {
  const { sign, passes } = setup();
  expect([passes(sign(parts)), passes(sign(parts))]).toEqual([true, true]);
});

test.each<[string, Partial<SignedParts>]>([
  ['method', { method: 'GET' }],
  ['path', { path: '/graphql?' }],
  ['body', { body: '[ ]' }],
])('a request with another %s than the signed one does not pass', (_, changed) => {
  const { sign, passes } = setup();
  expect(passes(sign(parts), { ...parts, ...changed })).toBe(false);
});

test.each([
  ['scopes', 'x-subgraph-scopes', '[{"kind":"partner","partnerId":"p"}]'],
  ['time', 'x-subgraph-time', '1800000000001'],
  ['nonce', 'x-subgraph-nonce', 'another'],
  ['signature', 'x-subgraph-signature', 'a'.repeat(64)],
  ['signature that is too short', 'x-subgraph-signature', 'aaaa'],
  ['time that is not a number', 'x-subgraph-time', 'now'],
])('another %s does not pass', (_, name, value) => {
  const { sign, passes } = setup();
  expect(passes({ ...sign(parts), [name]: value })).toBe(false);
});

test('a request without one of the headers does not pass', () => {
  const { sign, passes } = setup();
  for (const name of Object.keys(sign(parts))) {
    const { [name]: _, ...headers } = sign(parts);
    expect(passes(headers)).toBe(false);
  }
});

test('a signature passes up to 30 seconds before and after its time', () => {
  const { clock, sign, passes } = setup();
  for (const [offset, expected] of [
    [30_000, true],
    [30_001, false],
    [-30_000, true],
    [-30_001, false],
  ] as const) {
    clock.signer = clock.verifier + offset;
    expect([offset, passes(sign(parts))]).toEqual([offset, expected]);
  }
});

test('a signature that is forgotten is too old to pass', () => {
  const { clock, sign, passes } = setup();
  const replayed = sign(parts);
  expect(passes(replayed)).toBe(true);
  for (let second = 0; second < 70; second++) {
    clock.verifier += 1000;
    clock.signer += 1000;
    expect([second, passes(replayed), passes(sign(parts))]).toEqual([second, false, true]);
  }
});

test('both secrets pass during a rotation, others do not', () => {
  for (const secret of ['the new secret', SECRET]) {
    const { sign, passes } = setup(['the new secret', SECRET], secret);
    expect(passes(sign(parts))).toBe(true);
  }
  const { sign, passes } = setup(['the new secret'], SECRET);
  expect(passes(sign(parts))).toBe(false);
});

test('a request signed for another subgraph with the same secret does not pass', () => {
  const { sign, passes } = setup([SECRET], SECRET, 'standings');
  expect(passes(sign(parts))).toBe(false);
});
