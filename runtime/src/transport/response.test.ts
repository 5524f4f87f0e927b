// What becomes of a subgraph's response: its own codes pass, and the rest is masked and logged.
import type { LogFields } from '../observe/fields.ts';
import { createFieldNames } from './fieldnames.ts';
import { createResponseReader } from './response.ts';

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

  test('with SERVICE_UNAVAILABLE passes with the message of this service', () => {
    const { response, lines } = read({ data: null, errors: [withCode('SERVICE_UNAVAILABLE')] });
    expect(response).toEqual({ data: null, errors: [UNAVAILABLE] });
    expect(lines).toEqual([]);
  });

  test.each([
    'OFFER_GONE',
    'GRAPHQL_VALIDATION_FAILED',
    'INTERNAL_SERVER_ERROR',
    'RATE_LIMITED',
    'MEMBER_NOT_FOUND',
  ])('with %s is masked if the subgraph was not published with it', (code) => {
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
  });

  test.each([
    'INTERNAL_SERVER_ERROR',
    'RATE_LIMITED',
    'UNAUTHENTICATED',
    'SERVICE_UNAVAILABLE',
    'lower_case',
    '',
  ])('never has the code %s, even if the subgraph was published with it', (code) => {
    const { response } = read({ errors: [withCode(code)] }, { codes: [code] });
    expect(response?.errors?.[0]?.message).not.toBe('theirs');
  });

  test('passes with a code that our subgraphs share if the subgraph was published with it', () => {
    const { response } = read(
      { errors: [withCode('MEMBER_NOT_FOUND')] },
      { codes: ['MEMBER_NOT_FOUND'] },
    );
    expect(response).toEqual({ errors: [withCode('MEMBER_NOT_FOUND')] });
  });

  test.each([
    ['a message', { message: 'theirs' }],
    ['text', 'theirs'],
    ['null', null],
    ['a list', []],
    ['an object without anything', {}],
    ['extensions that are text', { message: 'theirs', extensions: 'OFFER_EXPIRED' }],
    ['a code that is no text', withCode(['OFFER_EXPIRED'])],
    ['a code that is a property of every object', withCode('constructor')],
    ['a message that is no text', { message: {}, extensions: { code: 'OFFER_EXPIRED' } }],
    ['a path that is no list', { message: 'theirs', path: 'x' }],
    ['a path of objects', { message: 'theirs', path: [{}] }],
  ])('is masked if it is only %s', (_, error) => {
    const { response, lines } = read({ data: { _entities: [] }, errors: [error] });
    expect(response).toEqual({ data: { _entities: [] }, errors: [INTERNAL] });
    expect(lines).toHaveLength(1);
  });

  test('is logged by the names of the fields, and once for all errors of a response', () => {
    const path = ['_entities', 3, 'x', 0, 'id'];
    const { response, lines } = read({
      data: null,
      errors: [withCode('OFFER_EXPIRED'), { ...withCode('Secret text'), path }, {}],
    });
    expect(response?.errors).toEqual([withCode('OFFER_EXPIRED'), { ...INTERNAL, path }, INTERNAL]);
    expect(lines).toEqual([
      {
        requestId: 'r',
        subgraph: 'offers',
        field: '_entities.offers.id',
        code: undefined,
        count: 2,
      },
    ]);
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
  const { response, lines } = read({
    data: null,
    errors: [...flood(['a']), ...flood(['b', 0]), ...flood(Array(10).fill('c')), { path: ['d'] }],
  });
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
    ['missing', undefined],
    ['null', null],
    ['an object', { 0: {}, 1: {}, length: 2 }],
    ['too few', [{}]],
    ['too many', [{}, {}, {}]],
    ['of another type', [{}, { __typename: 'Activity' }]],
    ['text', [{}, 'Member']],
    ['lists', [[], []]],
  ])('are no response if they are %s', (_, entities) => {
    expect(read({ data: { _entities: entities } }, { entityTypes }).response).toBeUndefined();
  });

  test('may be of other types if the query plan says so', () => {
    const data = { _entities: [{ __typename: 'Book' }] };
    expect(read({ data }, { entityTypes: [undefined] }).response).toEqual({ data });
  });
});
