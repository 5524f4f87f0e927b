// The protocol between gateway and subgraph: messages arrive unchanged, or not at all.
import fc from 'fast-check';
import type { Scope, SubgraphRequest } from '../subgraph/types.ts';
import { decodeReply, decodeRequests, encodeReply, encodeRequests, WIRE } from './wire.ts';

const text = fc.string({ unit: 'binary' });
const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.record({ kind: fc.constant('partner' as const), partnerId: text }),
  fc.record(
    { kind: fc.constant('member' as const), memberId: text, partnerId: text },
    { requiredKeys: ['kind', 'memberId'] },
  ),
  fc.constant<Scope>({ kind: 'service' }),
);
const request: fc.Arbitrary<SubgraphRequest> = fc.record(
  {
    query: text,
    variables: fc.dictionary(text, fc.jsonValue()),
    operationName: text,
    scope,
    requestId: text,
  },
  { requiredKeys: ['query', 'scope', 'requestId'] },
);

test('any number of operations arrive with their own scopes, in ASCII headers', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 250 }), (requests) => {
      const groups = encodeRequests(requests);
      const arrived = groups.flatMap(({ scopes, body, count }) => {
        expect(scopes).toMatch(/^[\x20-\x7e]*$/);
        expect(count).toBeLessThanOrEqual(WIRE.maxOperations);
        return decodeRequests(scopes, body) ?? [];
      });
      expect(arrived).toEqual(JSON.parse(JSON.stringify(requests)));
    }),
    { numRuns: 50 },
  );
});

test('operations with many scopes or long variables are split into several requests', () => {
  const many = (make: (n: number) => Partial<SubgraphRequest>) =>
    encodeRequests(
      Array.from({ length: 90 }, (_, n) => ({
        query: '{a}',
        scope: { kind: 'service' },
        requestId: 'r',
        ...make(n),
      })),
    );
  expect(many(() => ({}))).toHaveLength(1);
  const scoped = many((n) => ({ scope: { kind: 'member', memberId: `${n}${'m'.repeat(126)}` } }));
  expect(scoped.length).toBeGreaterThan(1);
  expect(Math.max(...scoped.map(({ scopes }) => scopes.length))).toBeLessThan(8_000);
  expect(many(() => ({ variables: { long: 'x'.repeat(60_000) } })).length).toBeGreaterThan(10);
});

test.each([
  ['malformed JSON', '[', '[]'],
  ['no list of scopes', '{}', '[]'],
  ['no list of operations', '[]', '{}'],
  ['an unknown kind of scope', '[{"kind":"admin"}]', '[]'],
  ['a partner without an ID', '[{"kind":"partner"}]', '[]'],
  ['a member whose ID is not a string', '[{"kind":"member","memberId":1}]', '[]'],
  ['an operation without a scope', '[{"kind":"service"}]', '[{"query":"{a}","requestId":"r"}]'],
  [
    'a scope that is not in the list',
    '[{"kind":"service"}]',
    '[{"query":"{a}","requestId":"r","scope":1}]',
  ],
  [
    'a scope that is the name of a property',
    '[{"kind":"service"}]',
    '[{"query":"{a}","requestId":"r","scope":"length"}]',
  ],
  ['no query', '[{"kind":"service"}]', '[{"requestId":"r","scope":0}]'],
  [
    'variables that are a list',
    '[{"kind":"service"}]',
    '[{"query":"{a}","requestId":"r","scope":0,"variables":[]}]',
  ],
  ['too many operations', '[]', `[${Array(101).fill('{}').join()}]`],
])('%s is refused', (_, scopes, body) => {
  expect(decodeRequests(scopes, body)).toBeUndefined();
});

test('replies arrive with their place', () => {
  const reply = {
    data: { a: null },
    errors: [{ message: 'm', path: ['a', 0], extensions: { code: 'MEMBER_NOT_FOUND' as const } }],
  };
  expect(encodeReply(3, reply).endsWith('\n')).toBe(true);
  expect(decodeReply(encodeReply(3, reply), 4)).toEqual({ place: 3, reply });
  expect(decodeReply(encodeReply(0, { data: { line: 'a\nb' } }), 1)).toEqual({
    place: 0,
    reply: { data: { line: 'a\nb' } },
  });
});

test.each([
  '',
  'null',
  '[]',
  '{}',
  '{"i":1,"data":{}}',
  '{"i":-1,"data":{}}',
  '{"i":0.5,"data":{}}',
  '{"i":0}',
  '{"i":0,"data":[]}',
  '{"i":0,"errors":{}}',
  '{"i":0,"errors":[{"message":"m","extensions":{"code":"ODD"}}]}',
  '{"i":0,"data":{}',
])('a malformed line is no reply: %s', (line) => {
  expect(decodeReply(line, 1)).toBeUndefined();
});
