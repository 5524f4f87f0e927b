// The protocol between gateway and subgraph: messages arrive unchanged, or not at all.
import fc from 'fast-check';
import { anyText } from '../../../test/support/text.ts';
import type { Caller, SubgraphRequest } from './types.ts';
import {
  decodeLine,
  decodeRequest,
  encodeBatches,
  encodeLine,
  encodeOperation,
  WIRE,
} from './wire.ts';

const text = anyText();
const caller: fc.Arbitrary<Caller> = fc.oneof(
  fc.record({ kind: fc.constant('partner' as const), partnerId: text }),
  fc.record(
    { kind: fc.constant('member' as const), memberId: text, partnerId: text },
    { requiredKeys: ['kind', 'memberId'] },
  ),
  fc.constant<Caller>({ kind: 'service' }),
);
const request: fc.Arbitrary<SubgraphRequest> = fc.record(
  {
    query: text,
    variables: fc.dictionary(text, fc.jsonValue()),
    operationName: text,
    caller,
    requestId: text,
  },
  { requiredKeys: ['query', 'caller', 'requestId'] },
);
const SERVICE = 'kind=service';
const BATCH = 'kind=batch';

test('any number of operations arrive with their own scopes', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 250 }), (requests) => {
      const arrived = encodeBatches(requests).flatMap(
        ({ caller: header, requestId, body, count }) => {
          expect(header).toBe(BATCH);
          expect(count).toBeLessThanOrEqual(WIRE.maxOperations);
          const asked = decodeRequest(header, requestId, body);
          return asked && 'batch' in asked ? asked.batch : [];
        },
      );
      expect(arrived).toEqual(JSON.parse(JSON.stringify(requests)));
    }),
    { numRuns: 50 },
  );
});

test('an operation alone arrives with its caller', () => {
  fc.assert(
    fc.property(request, (given) => {
      const { caller: header, requestId, body } = encodeOperation(given);
      expect(decodeRequest(header, requestId, body)).toEqual({
        operation: JSON.parse(JSON.stringify(given)),
      });
    }),
  );
});

test('a request of a browser arrives as it was forwarded', () => {
  const asked = { method: 'GET', path: '/sign-in', search: '', headers: {}, body: '' };
  const forwarded = { ...asked, clientAddress: '192.0.2.1', language: 'en' };
  const given = { query: '', forwarded, caller: { kind: 'service' }, requestId: 'r' } as const;
  const { caller, requestId, body } = encodeOperation(given);
  expect(decodeRequest(caller, requestId, body)).toEqual({ operation: given });
});

test('many operations, or operations with long variables, are split into several requests', () => {
  const many = (count: number, variables = {}) =>
    encodeBatches(
      Array.from({ length: count }, () => ({
        query: '{a}',
        caller: { kind: 'service' },
        requestId: 'r',
        variables,
      })),
    ).map((each) => each.count);
  expect(many(90)).toEqual([90]);
  expect(many(250)).toEqual([100, 100, 50]);
  expect(many(9, { long: 'x'.repeat(140_000) })).toEqual([2, 2, 2, 2, 1]);
  expect(many(2, { long: 'x'.repeat(400_000) })).toEqual([1, 1]);
});

test('null is the same as what is left out', () => {
  const body = '{"query":"{a}","variables":null,"operationName":null,"extensions":null}';
  expect(decodeRequest(SERVICE, 'r', body)).toEqual({
    operation: { query: '{a}', caller: { kind: 'service' }, requestId: 'r' },
  });
});

const OPERATION = '"query":"{a}"';
const EXTENSIONS = '"extensions":{"scope":{"kind":"service"},"requestId":"r"}';

test.each([
  ['malformed JSON', SERVICE, '{'],
  ['a malformed caller', 'kind', `{${OPERATION}}`],
  ['an array without the header of a batch', SERVICE, `[{${OPERATION},${EXTENSIONS}}]`],
  ['an object with the header of a batch', BATCH, `{${OPERATION},${EXTENSIONS}}`],
  ['a batch of none', BATCH, '[]'],
  ['a batch of others than operations', BATCH, '[null]'],
  ['an operation of a batch without extensions', BATCH, `[{${OPERATION}}]`],
  [
    'an operation of a batch without a caller',
    BATCH,
    `[{${OPERATION},"extensions":{"requestId":"r"}}]`,
  ],
  [
    'an operation of a batch without a request ID',
    BATCH,
    `[{${OPERATION},"extensions":{"scope":{"kind":"service"}}}]`,
  ],
  ['no query', SERVICE, '{}'],
  ['variables that are a list', SERVICE, `{${OPERATION},"variables":[]}`],
  ['a name that is a number', SERVICE, `{${OPERATION},"operationName":1}`],
  ['too many operations', BATCH, `[${Array(101).fill(`{${OPERATION},${EXTENSIONS}}`).join()}]`],
])('%s is refused', (_, header, body) => {
  expect(decodeRequest(header, 'r', body)).toBeUndefined();
});

test('responses arrive with their place', () => {
  const reply = {
    data: { a: null },
    errors: [{ message: 'm', path: ['a', 0], extensions: { code: 'MEMBER_NOT_FOUND' } }],
  };
  expect(encodeLine(3, reply).endsWith('\n')).toBe(true);
  expect(decodeLine(encodeLine(3, reply), 4)).toMatchObject({ place: 3, response: reply });
  expect(decodeLine(encodeLine(0, { data: { line: 'a\nb' } }), 1)).toMatchObject({
    place: 0,
    response: { data: { line: 'a\nb' } },
  });
});

test.each([
  '',
  'null',
  '[]',
  '{}',
  '{"requestIndex":1,"data":{}}',
  '{"requestIndex":-1,"data":{}}',
  '{"requestIndex":0.5,"data":{}}',
  '{"requestIndex":"0","data":{}}',
  '{"requestIndex":0,"data":{}',
])('a malformed line is no response: %s', (line) => {
  expect(decodeLine(line, 1)).toBeUndefined();
});
