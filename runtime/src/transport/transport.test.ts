// How a subgraph is reached.

import fc from 'fast-check';
import { parseDictionary } from 'structured-headers';
import { anyText } from '../../../test/support/text.ts';
import type { LogFields } from '../observe/fields.ts';
import { readSettings } from '../settings/settings.ts';
import { TOO_DEEP } from './asked.ts';
import { decodeCaller, decodeJsonCaller, encodeCaller, jsonCallerOf } from './caller.ts';
import { createFieldNames } from './fieldnames.ts';
import { allowedHosts } from './hosts.ts';
import { createResponseReader } from './response.ts';
import type { Caller, SubgraphRequest } from './types.ts';
import {
  decodeLine,
  decodeRequest,
  encodeBatches,
  encodeLine,
  encodeOperation,
  WIRE,
} from './wire.ts';

const id = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), anyText());
const caller: fc.Arbitrary<Caller> = fc.oneof(
  fc.record({ kind: fc.constant('partner' as const), partnerId: id }),
  fc.record(
    { kind: fc.constant('member' as const), memberId: id, partnerId: id, scopes: id },
    { requiredKeys: ['kind', 'memberId'] },
  ),
  fc.constant<Caller>({ kind: 'service' }),
);

// A caller arrives unchanged, in a header of ASCII and in JSON.
describe('caller', () => {
  test.each<[Caller, string]>([
    [{ kind: 'partner', partnerId: 'acme' }, 'kind=partner, partner="acme"'],
    [{ kind: 'member', memberId: 'm1' }, 'kind=member, member="m1"'],
    [
      { kind: 'member', memberId: 'm1', partnerId: 'acme' },
      'kind=member, member="m1", partner="acme"',
    ],
    [
      { kind: 'member', memberId: 'm1', partnerId: 'acme', scopes: 'openid email' },
      'kind=member, member="m1", partner="acme", scopes="openid email"',
    ],
    [{ kind: 'service' }, 'kind=service'],
    [{ kind: 'partner', partnerId: 'a"b\\c' }, 'kind=partner, partner="a\\"b\\\\c"'],
    [{ kind: 'member', memberId: 'mü%"' }, 'kind=member, member=%"m%c3%bc%25%22"'],
  ])('%j is %s', (given, text) => {
    expect(encodeCaller(given)).toBe(text);
    expect(decodeCaller(text)).toEqual(given);
  });

  test('every caller arrives unchanged, and a library reads the same from the header', () => {
    fc.assert(
      fc.property(caller, (given) => {
        const text = encodeCaller(given);
        expect(text).toMatch(/^[\x20-\x7e]*$/);
        expect(decodeCaller(text)).toEqual(given);
        expect(textsIn(text)).toEqual(Object.values(given));
        expect(decodeJsonCaller(JSON.parse(JSON.stringify(jsonCallerOf(given))))).toEqual(given);
      }),
    );
  });

  /** What a library reads in a header. */
  function textsIn(text: string): string[] {
    return [...parseDictionary(text).values()].map(([value]) => String(value));
  }

  test.each([
    '',
    'kind',
    'kind=batch',
    'kind="partner", partner="acme"',
    'kind=partner',
    'kind=partner, partner=acme',
    'kind=partner, partner="acme";a',
    'kind=partner, partner="acme", member="m1"',
    'kind=partner, partner="acme',
    'kind=partner, partner="ü"',
    'kind=service, partner="acme"',
  ])('no caller is %s', (text) => {
    expect(decodeCaller(text)).toBeUndefined();
  });

  test.each([
    undefined,
    [],
    {},
    { kind: 'batch' },
    { kind: 'partner', partner: 1 },
    { kind: 'partner', partner: 'acme', member: 'm1' },
    { kind: 'member', member: 'm1', partner: null },
  ])('no caller is the extension %j', (value) => {
    expect(decodeJsonCaller(value)).toBeUndefined();
  });
});

// Where published subgraphs may be, by attacks through their URLs.

const LOCAL = { ENVIRONMENT: 'sandbox' };
const PUBLIC = { ENVIRONMENT: 'sandbox', SANDBOX_URL: 'https://sandbox.example' };
const PRODUCTION = { ENVIRONMENT: 'production' };

function isAllowed(env: Record<string, string>, url: string, address: string): boolean {
  return allowedHosts(readSettings({ ...env, SUBGRAPH_SECRET: 'x'.repeat(16) }, 'gateway'))(
    new URL(url),
    address,
  );
}

test.each([
  '169.254.169.254',
  'fe80::1',
  '100.100.100.200',
  '::ffff:169.254.169.254',
  'fd00:ec2::1',
])(
  'metadata: %s is never called, even if it is listed or everything else is allowed',
  (address) => {
    const url = `https://metadata.example/graphql`;
    const listed = { SUBGRAPH_HOSTS: 'metadata.example, *.example, 0.0.0.0/0, ::/0' };
    for (const env of [LOCAL, PRODUCTION, { ...PRODUCTION, ...listed }, { ...LOCAL, ...listed }])
      expect(isAllowed(env, url, address)).toBe(false);
  },
);

test('a sandbox on the loopback address calls any host, until hosts are listed', () => {
  for (const [url, address] of [
    ['http://localhost:4021/', '127.0.0.1'],
    ['http://offers.example/', '93.184.216.34'],
    ['http://offers.internal/', '10.1.2.3'],
  ] as const) {
    expect(isAllowed(LOCAL, url, address)).toBe(true);
    expect(isAllowed({ ...LOCAL, SUBGRAPH_HOSTS: 'elsewhere.example' }, url, address)).toBe(false);
  }
});

test.each([PUBLIC, PRODUCTION])('any other calls public addresses by https alone: %j', (env) => {
  expect(isAllowed(env, 'https://offers.example/', '93.184.216.34')).toBe(true);
  expect(isAllowed(env, 'https://offers.example/', '2606:2800:220:1::1')).toBe(true);
  for (const [url, address] of [
    ['http://offers.example/', '93.184.216.34'],
    ['https://offers.example/', '10.1.2.3'],
    ['https://offers.example/', '127.0.0.1'],
    ['https://offers.example/', '::1'],
    ['https://offers.example/', 'fd12::1'],
    ['https://offers.example/', '::ffff:10.1.2.3'],
    ['https://10.1.2.3/', '10.1.2.3'],
  ] as const)
    expect([url, address, isAllowed(env, url, address)]).toEqual([url, address, false]);
});

test.each<[string, string, string, boolean]>([
  ['offers.internal', 'http://offers.internal:4021/', '10.1.2.3', true],
  ['offers.internal', 'http://OFFERS.internal./', '10.1.2.3', true],
  ['offers.internal', 'http://offers.internal.evil.example/', '10.1.2.3', false],
  ['*.internal', 'http://offers.team.internal/', '10.1.2.3', true],
  ['*.internal', 'http://notinternal/', '10.1.2.3', false],
  ['offers.internal:4021', 'http://offers.internal:4021/', '10.1.2.3', true],
  ['offers.internal:4021', 'http://offers.internal:4022/', '10.1.2.3', false],
  ['offers.internal:80', 'http://offers.internal/', '10.1.2.3', true],
  ['10.0.0.0/8', 'http://any.example/', '10.1.2.3', true],
  ['10.0.0.0/8', 'http://any.example/', '::ffff:10.1.2.3', true],
  ['10.0.0.0/8', 'http://any.example/', '192.168.1.1', false],
  ['10.1.2.3:80', 'http://10.1.2.3:81/', '10.1.2.3', false],
  ['[fd12::1]:80', 'http://[fd12::1]/', 'fd12::1', true],
  ['a.example, 10.0.0.0/8', 'http://b.example/', '10.1.2.3', true],
])('with %s listed, %s at %s: %s', (hosts, url, address, expected) => {
  expect(isAllowed({ ...PRODUCTION, SUBGRAPH_HOSTS: hosts }, url, address)).toBe(expected);
});

test.each(['http://offers.example', '*', '10.0.0.0/33', 'ü.example'])(
  '%s is no host, and stops the start',
  (hosts) => {
    expect(() =>
      isAllowed({ ...PRODUCTION, SUBGRAPH_HOSTS: hosts }, 'http://a', '10.0.0.1'),
    ).toThrow('SUBGRAPH_HOSTS must be a list of hosts or ranges');
  },
);

// What becomes of a subgraph's response: its own codes pass, and the rest is masked and logged.

const INTERNAL = {
  message: 'something went wrong on our side',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
};
const UNAVAILABLE = {
  message: 'the service is unavailable for the moment',
  extensions: { code: 'SERVICE_UNAVAILABLE' },
};
const QUERY =
  'query($r:[_Any!]!){_entities(representations:$r){...on Member{x:offers{id}...on Member{y:tier}}}}';

/** Reads a response to QUERY, and collects what is logged. */
function read(
  response: unknown,
  {
    codes = ['OFFER_EXPIRED'],
    entityTypes,
    query = QUERY,
  }: { codes?: string[]; entityTypes?: unknown[]; query?: string } = {},
) {
  const lines: LogFields[] = [];
  const reader = createResponseReader({
    name: 'offers',
    codes,
    fieldNames: createFieldNames(),
    log: { warn: (fields) => void lines.push(fields) },
  });
  const caller = { kind: 'service' } as const;
  return { response: reader(response, { query, caller, requestId: 'r', entityTypes }), lines };
}

const withCode = (code: unknown) => ({ message: 'theirs', extensions: { code } });

describe('the data of a team', () => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

  test('is what was asked for, whatever else the subgraph says', () => {
    const forged = { memberId: 'm', __proto__: { tier: 1 }, name: 'x' };
    const query = 'query { _entities(representations: []) { ...F ... on B { c: d { e } } } }';
    const { response } = read(
      {
        data: {
          memberByEmail: { email: 'x' },
          _entities: [
            JSON.parse('{"__proto__":{"a":1},"a":1,"b":2,"c":[{"e":[{"f":1}],"d":1},null,3]}'),
            forged,
          ],
        },
      },
      { query: `${query} fragment F on A { a }`, entityTypes: [undefined, undefined] },
    );
    expect(response).toEqual({
      data: { _entities: [{ a: 1, c: [{ e: [{ f: 1 }] }, null, 3] }, {}] },
    });
  });

  test.each<[string, number, boolean]>([
    ['{ a }', 500, true],
    ['{ a }', 501, false],
    ['{ a { b } }', 500, true],
    ['{ a { b } }', 50_000, false],
  ])('of %s may be nested %i deep: %s', (query, depth, isKept) => {
    const { response } = read({ data: { a: nested(depth), b: 1 } }, { query });
    let innermost = response?.data?.a;
    while (Array.isArray(innermost) && innermost.length > 0) [innermost] = innermost;
    expect(innermost === TOO_DEEP).toBe(!isKept);
  });

  test('has errors without the path if a step of it is longer than any name', () => {
    const path = (length: number) => ['a', 'x'.repeat(length)];
    const errorAt = (length: number) => ({ ...withCode('OFFER_EXPIRED'), path: path(length) });
    const query = `{ a { ${'x'.repeat(256)} } }`;
    const { response } = read({ data: null, errors: [errorAt(256), errorAt(257)] }, { query });
    expect(response?.errors?.map((error) => error.path)).toEqual([path(256), undefined]);
  });
});

describe('an error', () => {
  test('with a code of the subgraph passes with its message and path', () => {
    const error = { ...withCode('OFFER_EXPIRED'), path: ['_entities', 0, 'x'] };
    const { response, lines } = read({
      data: { _entities: [null] },
      errors: [{ ...error, locations: [{ line: 1, column: 1 }] }],
    });
    expect(response).toEqual({ data: { _entities: [null] }, errors: [error] });
    expect(lines).toEqual([]);
  });

  test.each<[string, (string | number)[], (string | number)[]]>([
    ['{ a { b: c } d }', ['a', 0, 'b', 1], ['a', 0, 'b', 1]],
    ['{ a { b: c } d }', ['a', 'c', 'b'], ['a']],
    ['{ a { b: c } d }', ['d', 'b'], ['d']],
    ['{ x: a d }', ['memberByEmail', 'email'], ['x']],
    ['{ x: a d }', [], ['x']],
    ['{ x: a d }', [0, 'd'], ['x']],
    [
      '{ _entities(representations: []) { ... on A { b } } }',
      ['_entities', 1, 'tier'],
      ['_entities', 1],
    ],
    ['{ _entities(representations: []) { ... on A { b } } }', ['viewer'], ['_entities']],
  ])('of a team about %s at %j is at %j', (query, path, expected) => {
    const { response } = read({ data: null, errors: [{ path }] }, { query });
    expect(response?.errors?.[0]?.path).toEqual(expected);
  });

  test('with SERVICE_UNAVAILABLE passes with the message of this service', () => {
    const { response, lines } = read({ data: null, errors: [withCode('SERVICE_UNAVAILABLE')] });
    expect(response).toEqual({ data: null, errors: [UNAVAILABLE] });
    expect(lines).toEqual([]);
  });

  test.each(['OFFER_GONE', 'INTERNAL_SERVER_ERROR', 'RATE_LIMITED', 'MEMBER_NOT_FOUND'])(
    'with %s is masked if the subgraph was not published with it',
    (code) => {
      const { response, lines } = read({ errors: [withCode(code)] });
      expect(response).toEqual({ errors: [INTERNAL] });
      expect(lines).toEqual([
        {
          requestId: 'r',
          subgraph: 'offers',
          field: '_entities.offers, _entities.tier',
          code,
          count: 1,
        },
      ]);
    },
  );

  test.each(['INTERNAL_SERVER_ERROR', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE', ''])(
    'never has the code %s, even if the subgraph was published with it',
    (code) => {
      const { response } = read({ errors: [withCode(code)] }, { codes: [code] });
      expect(response?.errors?.[0]?.message).not.toBe('theirs');
    },
  );

  test.each([
    ['a message', { message: 'theirs' }],
    ['null', null],
    ['extensions that are text', { message: 'theirs', extensions: 'OFFER_EXPIRED' }],
    ['a code that is no text', withCode(['OFFER_EXPIRED'])],
    ['a code that is a property of every object', withCode('constructor')],
    ['a message that is no text', { message: {}, extensions: { code: 'OFFER_EXPIRED' } }],
    ['a path of objects', { message: 'theirs', path: [{}] }],
  ])('is masked if it is only %s', (_, error) => {
    const { response, lines } = read({ data: { _entities: [] }, errors: [error] });
    expect(response).toEqual({ data: { _entities: [] }, errors: [INTERNAL] });
    expect(lines).toHaveLength(1);
  });

  test.each([
    ['{', ''],
    ['{ a b: c }', 'a, c'],
    ['{ a b c d e f g }', 'a, b, c, d, e'],
    ['{ ...F ...F a } fragment F on Query { b ...G } fragment G on Query { ...F c }', 'b, c, a'],
  ])('is logged with the root fields of %s if it has no path', (query, field) => {
    expect(read({ errors: [{}] }, { query }).lines).toEqual([expect.objectContaining({ field })]);
  });
});

test('a response with a million errors has the first 100 of each root field', () => {
  let looked = 0;
  const error = (path: unknown[]) => ({
    path,
    get extensions() {
      looked += 1;
      return undefined;
    },
  });
  const flood = (path: unknown[]) => Array(200_000).fill(error(path));
  const { response, lines } = read(
    {
      data: null,
      errors: [...flood(['a']), ...flood(['b', 0]), ...flood(Array(10).fill('c')), { path: ['d'] }],
    },
    { query: '{ a b c d }' },
  );
  const roots = response?.errors?.map(({ path }) => path?.[0]);
  expect(roots).toEqual(
    ['a', 'b', 'c', 'd'].flatMap((root) => Array(root === 'd' ? 1 : 100).fill(root)),
  );
  expect(lines).toEqual([expect.objectContaining({ count: 301 })]);
  expect(looked).toBeLessThan(1_000);
});

describe('entities', () => {
  const entityTypes = ['Member', 'Member'];

  test.each([
    ['all', [{ tier: 'a' }, { tier: 'b' }]],
    ['some', [{ __typename: 'Member' }, null]],
    ['none', [null, null]],
  ])('are read if they are %s of those asked for', (_, entities) => {
    const data = { _entities: entities };
    expect(read({ data }, { entityTypes }).response).toEqual({ data });
  });

  test.each([
    ['null', null],
    ['an object', { 0: {}, 1: {}, length: 2 }],
    ['too few', [{}]],
    ['too many', [{}, {}, {}]],
    ['of another type', [{}, { __typename: 'Activity' }]],
    ['lists', [[], []]],
  ])('are no response if they are %s', (_, entities) => {
    expect(read({ data: { _entities: entities } }, { entityTypes }).response).toBeUndefined();
  });

  test('may be of other types if the query plan says so', () => {
    const data = { _entities: [{ __typename: 'Book' }] };
    expect(read({ data }, { entityTypes: [undefined] }).response).toEqual({ data });
  });
});

// The protocol between gateway and subgraph: messages arrive unchanged, or not at all.
describe('wire', () => {
  const text = anyText();
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
    '{}',
    '{"requestIndex":1,"data":{}}',
    '{"requestIndex":-1,"data":{}}',
    '{"requestIndex":"0","data":{}}',
    '{"requestIndex":0,"data":{}',
  ])('a malformed line is no response: %s', (line) => {
    expect(decodeLine(line, 1)).toBeUndefined();
  });
});
