// Each thing is asked once, and its answer is at every place that asked.
import { setImmediate as nextTick } from 'node:timers/promises';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { tooLarge } from '@partner-loyalty/runtime/transport/deadline.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import { buildSchema, type GraphQLEnumType, parse, parseValue } from 'graphql';
import { openGraph } from '../../../test/support/graphs/graph.ts';
import { repeats } from '../../../test/support/graphs/repeats.ts';
import { until } from '../../../test/support/until.ts';
import { Verbatim } from '../document/literals.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { openExecutor } from './executor.ts';
import { schemaOf } from './facts.ts';
import { Pace } from './pace.ts';
import { compileShape } from './shape.ts';
import { Branch, copyOf } from './together.ts';

type Asked = Pick<SubgraphRequest, 'query' | 'variables'> & { name: string };
type Answer = (request: SubgraphRequest, name: string) => Promise<SubgraphResponse>;

const graph = openGraph(repeats);
const { transports } = graph;
const right: Answer = async (request, name) => (await transports[name]?.execute(request)) ?? {};

/** Runs an operation, and says what the subgraphs were asked; `answer` may answer for them. */
async function ask(
  query: string,
  answer: Answer = right,
  {
    times = 1,
    opened = graph,
    variables = {},
  }: { times?: number; opened?: typeof graph; variables?: Record<string, unknown> } = {},
) {
  const asked: Asked[] = [];
  const recorded = Object.entries(opened.transports).map(
    ([name, transport]): [string, Transport] => [
      name,
      {
        ...transport,
        execute(request) {
          asked.push({ name, query: request.query, variables: request.variables });
          return answer(request, name);
        },
      },
    ],
  );
  const over = Object.fromEntries(recorded);
  const executor = await openExecutor(undefined, opened.supergraph, over, createCaches());
  const run = () =>
    executor.execute({
      key: query,
      variables,
      coerced: variables,
      caller: { kind: 'service' },
      requestId: 'r',
      size: new ResponseSize(),
    });
  for (let more = 1; more < times; more += 1) await run();
  const { data, errors, nullViolations } = await run();
  executor.close();
  return {
    asked,
    // Cast: as the operations of this file have it.
    shaped: data as { orders: { items: { related: unknown }[] }[] },
    nulls: nullViolations.map((path) => path.join('.')),
    data: JSON.parse(JSON.stringify(data)),
    errors: errors.map(({ path }) => path?.join('.')).sort(),
    codes: errors.map(({ extensions }) => extensions.code),
  };
}

const representationsTo = (asked: readonly Asked[], subgraph: string) =>
  asked.flatMap(({ name, variables = {} }) =>
    name === subgraph ? Object.values(variables).filter(Array.isArray) : [],
  );

test('equal representations are one, and data and errors are at each place', async () => {
  const { asked, data, errors } = await ask('{ orders { items { sku stock } } }');
  const [representations] = representationsTo(asked, 'stock');
  expect(representations?.map(({ sku }: { sku: string }) => sku)).toEqual(['1', '2', '3']);
  expect(data.orders[0].items.map(({ stock }: { stock: number }) => stock)).toEqual([10, 20, 10]);
  expect(errors).toEqual(['orders.1.items.0.stock', 'orders.1.items.1.stock']);
});

test('the same if Apollo runs the plan', async () => {
  const { asked, data, errors } = await ask('{ any { ... on Set { items { sku fee } } } }');
  const [representations] = representationsTo(asked, 'routes');
  expect(representations?.map(({ id }: { id: string }) => id)).toEqual(['i1', 'i4']);
  expect(data.any[2].items).toEqual([
    { sku: '1', fee: 2 },
    { sku: '4', fee: null },
    { sku: '4', fee: null },
  ]);
  expect(errors).toEqual(['any.2.items.1.fee', 'any.2.items.2.fee']);
});

test('of requests that wait for the same plan, each goes on in a turn of its own', async () => {
  const asked: string[] = [];
  const noting = Object.entries(transports).map(([name, transport]): [string, Transport] => [
    name,
    {
      ...transport,
      execute(request) {
        asked.push(name);
        return transport.execute(request);
      },
    },
  ]);
  const over = Object.fromEntries(noting);
  const executor = await openExecutor(undefined, graph.supergraph, over, createCaches());
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const turn = () => (isOpen ? undefined : new Promise<void>((resolve) => waiting.push(resolve)));
  const run = async () =>
    executor.execute({
      ...{ key: '{ any { ... on Item { stock } } }', variables: {}, coerced: {} },
      ...{ caller: { kind: 'service' }, requestId: 'r', size: new ResponseSize(undefined, turn) },
    });
  const running = [run(), run(), run()];
  await until(() => waiting.length === 3);
  expect(asked).toEqual([]);
  isOpen = true;
  for (const resume of waiting) resume();
  for (const { errors } of await Promise.all(running)) expect(errors).toEqual([]);
  expect(asked).toEqual([...Array(3).fill('shop'), ...Array(3).fill('stock')]);
  executor.close();
});

test('an error below what places share is at all of them', async () => {
  const { errors } = await ask(
    '{ orders { items { related { box { weight } fee } } } }',
    (request, name) =>
      name === 'shop' && request.query.includes('_entities')
        ? Promise.resolve({
            data: { _entities: [{ id: 'i4', distance: 4 }, null] },
            errors: [],
          })
        : right(request, name),
  );
  expect(errors.filter((path) => path?.endsWith('0.fee'))).toEqual([
    'orders.0.items.0.related.0.fee',
    'orders.0.items.1.related.0.fee',
    'orders.0.items.2.related.0.fee',
    'orders.1.items.0.related.0.fee',
    'orders.1.items.1.related.0.fee',
  ]);
});

test('what places share is shaped once, but nulls that the schema forbids are at each', async () => {
  const QUERY = '{ orders { items { related { stock } } } }';
  const [whole, wrong] = [
    await ask(QUERY),
    await ask(QUERY, async (request, name) => {
      const answer = await right(request, name);
      const text = JSON.stringify(answer).replaceAll('"stock":20', '"stock":null');
      return JSON.parse(text);
    }),
  ];
  const related = ({ shaped }: typeof wrong, item: number) =>
    shaped.orders[0]?.items[item]?.related;
  expect(related(whole, 0)).toEqual([{ stock: 10 }, null, { stock: 20 }]);
  expect(related(whole, 2)).toBe(related(whole, 0));
  expect(related(whole, 1)).not.toBe(related(whole, 0));
  expect(related(wrong, 2)).toEqual([{ stock: 10 }, null, null]);
  expect(wrong.nulls).toEqual(
    [0, 1, 2]
      .map((item) => `orders.0.items.${item}.related.2.stock`)
      .concat([0, 1].map((item) => `orders.1.items.${item}.related.2.stock`)),
  );
});

test('an answer finds its place after another one has parted what was shared', async () => {
  let partIt: (() => void) | undefined;
  const parted = new Promise<void>((resolve) => {
    partIt = resolve;
  });
  let askAgain: (() => void) | undefined;
  const isAsked = new Promise<void>((resolve) => {
    askAgain = resolve;
  });
  const { data } = await ask(
    '{ orders { items { box { weight color } } } }',
    async (request, name) => {
      if (name === 'people') {
        askAgain?.();
        await parted;
      }
      if (name !== 'routes') return right(request, name);
      await isAsked;
      setImmediate(() => partIt?.());
      return right(request, name);
    },
  );
  expect(data.orders[0].items.map(({ box }: { box: unknown }) => box)).toEqual([
    { weight: 1, color: 'color 1' },
    { weight: 1, color: 'color 2' },
    { weight: 2, color: 'color 1' },
  ]);
});

describe('what many places share', () => {
  const PLACES = 6;
  const opened = openGraph({
    subgraphs: {
      list: {
        sdl: `type Query { items: [Item] }
              type Item @key(fields: "id") { id: ID! place: Int sub: Item }`,
        roots: { items: Array.from({ length: PLACES }, (_, place) => ({ id: '1', place })) },
      },
      texts: {
        sdl: `type Item @key(fields: "id") { id: ID! text: String parts: [Part] @shareable }
              type Part { x: Int }`,
        entities: { Item: [{ id: '1', text: 'x'.repeat(1_000_000), parts: [{ x: 1 }, { x: 2 }] }] },
      },
      needs: {
        sdl: `type Item @key(fields: "id") {
                id: ID! text: String @external place: Int @external parts: [Part] @shareable
                once: Int @requires(fields: "text") each: Int @requires(fields: "text place") }
              type Part { y: Int }`,
        entities: { Item: [{ id: '1', once: 1, each: 2, parts: [{ y: 3 }, { y: 4 }] }] },
      },
    },
  });
  const answer: Answer = async (request, name) =>
    (await opened.transports[name]?.execute(request)) ?? {};
  const askFor = (fields: string) => ask(`{ items { ${fields} } }`, answer, { opened });

  test('is merged once', async () => {
    const { data, shaped } = await askFor('parts { x y }');
    const parts = [1, 2].map((x) => ({ x, y: x + 2 }));
    expect(data.items).toEqual(Array.from({ length: PLACES }, () => ({ parts })));
    const items = (shaped as unknown as { items: { parts: unknown }[] }).items;
    expect(new Set(items.map((item) => item.parts)).size).toBe(1);
  });

  test('is looked at again by a fetch for each path, but not without end', async () => {
    const sub = { __typename: 'Item', id: '1' };
    const many: Answer = async ({ query, entityTypes = [] }, name) => {
      const names = [...query.matchAll(/(\w+):sub/g)].map(([, alias = '']) => [alias, sub]);
      const first = Object.fromEntries(names);
      const items = Array.from({ length: 40_000 }, (_, n) => (n === 0 ? first : null));
      const answers = entityTypes.map(() => ({ text: 'x' }));
      return { data: name === 'list' ? { items } : { _entities: answers } };
    };
    const askIn = (paths: number) => {
      const fields = Array.from({ length: paths }, (_, n) => `a${n}: sub { text }`);
      return ask(`{ items { ${fields.join(' ')} } }`, many, { opened });
    };
    expect((await askIn(10)).codes).toEqual([]);
    const { asked, codes } = await askIn(60);
    expect(new Set(codes)).toEqual(new Set(['OPERATION_TOO_COMPLEX']));
    expect(asked.length).toBeLessThan(60);
  });

  test('is not gone through again for each type that a plan of Apollo distinguishes', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `T${n}`);
    const types = (of: string) => names.map((name) => `type ${name} implements I ${of}`).join(' ');
    const abstract = openGraph({
      subgraphs: {
        list: {
          sdl: `type Query { all: [I] } interface I { id: ID! }
                ${types('@key(fields: "id") { id: ID! }')}`,
        },
        more: {
          sdl: `interface I { id: ID! x: Int } ${types('@key(fields: "id") { id: ID! x: Int }')}`,
        },
      },
    });
    const all = (count: number) =>
      Array.from({ length: count }, () => ({ __typename: 'T7', id: '1' }));
    const askFor = (count: number) =>
      ask(
        '{ all { x } }',
        async ({ entityTypes = [] }, name) => ({
          data:
            name === 'list'
              ? { all: all(count) }
              : { _entities: entityTypes.map(() => ({ x: 1 })) },
        }),
        { opened: abstract },
      );
    expect((await askFor(100)).codes).toEqual([]);
    const { asked, codes } = await askFor(30_000);
    expect([asked.length, codes]).toEqual([1, ['OPERATION_TOO_COMPLEX']]);
  });

  test('is sent once for each representation, but not in more than 4 MiB', async () => {
    const once = await askFor('once');
    expect([once.asked.length, once.data.items[5]]).toEqual([3, { once: 1 }]);
    const { asked, codes, data } = await askFor('each');
    expect([asked.length, codes]).toEqual([2, ['OPERATION_TOO_COMPLEX']]);
    expect(data.items[5]).toEqual({ each: null });
  });
});

describe('an operation of many fetches', () => {
  const opened = openGraph({
    subgraphs: {
      keys: { sdl: 'type Query { k: K } type K @key(fields: "n") { n: Int! k(i: Int): K }' },
      values: { sdl: 'scalar J type K @key(fields: "n") { n: Int! v(x: J): Int }' },
    },
  });
  const askFor = (count: number, field: string, variables: string, values = {}) => {
    const ks = Array.from({ length: count }, (_, place) => `k${place}:k(i:${place}){${field}}`);
    const none: Answer = async ({ query, entityTypes }) => ({
      data: entityTypes ? { _entities: entityTypes.map(() => null) } : { k: keysIn(query) },
    });
    const all = { a: true, b: false, ...values };
    return ask(`query${variables}{k{${ks.join(' ')}}}`, none, { opened, variables: all });
  };
  const keysIn = (query: string) =>
    Object.fromEntries(
      Array.from(query.matchAll(/\b(\w{1,20}):\s?k\(/g), ([, name], n) => [
        name,
        { __typename: 'K', n },
      ]),
    );
  /** The second is planned by Apollo. */
  const ways: [string, string][] = [
    ['v(x:$x)', '($x:J=DEFAULT)'],
    ['v(x:$x) @include(if:$a) @skip(if:$b)', '($x:J=DEFAULT $a:Boolean=true $b:Boolean=false)'],
  ];

  test.each(ways)('has 256 at most: %s', async (field, variables) => {
    const small = variables.replace('DEFAULT', '1');
    await expect(askFor(255, field, small)).resolves.toMatchObject({ codes: [] });
    await expect(askFor(256, field, small)).rejects.toMatchObject({
      code: 'OPERATION_TOO_COMPLEX',
    });
  });

  test.each(ways)('has no more than 256 KiB of text: %s', async (field, variables) => {
    const large = variables.replace('DEFAULT', `"${'x'.repeat(60_000)}"`);
    await expect(askFor(4, field, large)).resolves.toMatchObject({ codes: [] });
    await expect(askFor(5, field, large)).rejects.toMatchObject({
      code: 'OPERATION_TOO_COMPLEX',
    });
  });

  test('counts the steps of its paths, through lists of lists too', async () => {
    const nested = openGraph({
      subgraphs: {
        keys: {
          sdl: `type Query { k(i: Int): ${'['.repeat(100)}K${']'.repeat(100)} }
                type K @key(fields: "n") { n: Int! k(i: Int): ${'['.repeat(100)}K${']'.repeat(100)} }`,
        },
        values: { sdl: 'type K @key(fields: "n") { n: Int! v: Int }' },
      },
    });
    const askTimes = (count: number) => {
      const ks = Array.from({ length: count }, (_, place) => `k${place}:k(i:${place}){v}`);
      const query = `{k{k{k{k{k{k{k{k{k{k{${ks.join(' ')}}}}}}}}}}}}`;
      return ask(query, async () => ({ data: { k: null } }), { opened: nested });
    };
    await expect(askTimes(150)).resolves.toMatchObject({ codes: [] });
    await expect(askTimes(250)).rejects.toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  });

  test('has no more than 256 KiB of names that its fetches need', async () => {
    const names = Array.from({ length: 300 }, (_, place) => `needed${place}`);
    const needy = openGraph({
      subgraphs: {
        keys: {
          sdl: `type Query { k: K } type K @key(fields: "n") {
                  n: Int! k(i: Int): K ${names.map((name) => `${name}: Int`).join(' ')} }`,
        },
        values: {
          sdl: `type K @key(fields: "n") {
                  n: Int! v: Int @requires(fields: "${names.join(' ')}")
                  ${names.map((name) => `${name}: Int @external`).join(' ')} }`,
        },
      },
    });
    const askTimes = (count: number) => {
      const ks = Array.from({ length: count }, (_, place) => `k${place}:k(i:${place}){v}`);
      return ask(`{k{${ks.join(' ')}}}`, async () => ({ data: { k: {} } }), { opened: needy });
    };
    await expect(askTimes(10)).resolves.toMatchObject({ codes: [] });
    await expect(askTimes(20)).rejects.toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  });

  test('has no more than a million characters of literals that are written into it', async () => {
    const values = { literal0: new Verbatim(parseValue(`[X "${'x'.repeat(60_000)}"]`)) };
    const askTimes = async (count: number) => {
      const { asked, codes } = await askFor(count, 'v(x:$literal0)', '($literal0:J!)', values);
      return [asked.length, [...new Set(codes)]];
    };
    expect(await askTimes(10)).toEqual([11, []]);
    expect(await askTimes(30)).toEqual([17, ['OPERATION_TOO_COMPLEX']]);
  });
});

describe('a list of scalars that is shaped in pieces', () => {
  const lists = openGraph({
    subgraphs: { list: { sdl: 'type Query { all: [T] } type T { x: [Int] y: [Int!] }' } },
  });
  const askFor = (field: string, values: readonly unknown[], objects = 1) =>
    ask(
      `{ all { ${field} } }`,
      async () => ({ data: { all: Array.from({ length: objects }, () => ({ [field]: values })) } }),
      { opened: lists },
    );
  const ones = Array.from({ length: 16_000 }, () => 1);

  test('is whole', async () => {
    const { data } = await askFor('x', ones, 3);
    expect(data.all).toEqual(Array(3).fill({ x: ones }));
  });

  test('is null with a null that its type forbids', async () => {
    const { data, nulls } = await askFor('y', [...ones, null]);
    expect([data.all, nulls]).toEqual([[{ y: null }], ['all.0.y.16000']]);
  });

  /** What nobody waits for once a response is refused. */
  async function straysOf(asked: Promise<unknown>): Promise<unknown[]> {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => void rejections.push(reason);
    process.on('unhandledRejection', note);
    await expect(asked).rejects.toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
    for (let tick = 0; tick < 50; tick += 1) await nextTick();
    process.off('unhandledRejection', note);
    return rejections;
  }

  test('goes on nowhere once the response is too large', async () => {
    expect(await straysOf(askFor('x', ones, 40))).toEqual([]);
  });

  test('goes on nowhere once errors are at too many fields of too many types', async () => {
    const types = Array.from({ length: 60 }, (_, n) => n);
    const shared = Array.from({ length: 200 }, (_, n) => `a${n}: Int`).join(' ');
    const sdl = `type Query { all: [T] any: I } type T { x: [Int] } interface I { ${shared} }
      ${types.map((n) => `type T${n} implements I { ${shared} x${n}: Int }`).join(' ')}`;
    const names = shared.replaceAll(': Int', '');
    const fragments = types.map((n) => `... on T${n} { x${n} }`).join(' ');
    const message = { message: 'x', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
    const answer: Answer = async () => ({
      data: { all: Array.from({ length: 40 }, () => ({ x: ones })), any: null },
      errors: types.map((n) => ({ ...message, path: ['any', `x${n}`] })),
    });
    const opened = openGraph({ subgraphs: { list: { sdl } } });
    const query = `{ all { x } any { ${names} ${fragments} } }`;
    expect(await straysOf(ask(query, answer, { opened }))).toEqual([]);
  });
});

test('what is merged in pieces is whole, whatever else is merged meanwhile', async () => {
  const FIELDS = Array.from({ length: 60 }, (_, n) => n);
  const fieldsOf = (name: string) => FIELDS.map((n) => `${name}${n}: Int`).join(' ');
  const teams = ['a', 'b', 'c'];
  const wide = openGraph({
    subgraphs: {
      list: { sdl: 'type Query { all: [T] } type T @key(fields: "id") { id: ID! }' },
      ...Object.fromEntries(
        teams.map((name) => [
          name,
          {
            sdl: `type T @key(fields: "id") { id: ID! ${fieldsOf(name)} o: O @shareable }
                  type O @shareable { ${name}: Int }`,
          },
        ]),
      ),
    },
  });
  const turns: string[] = [];
  const answer: Answer = async ({ entityTypes = [] }, name) => {
    if (name === 'list')
      return { data: { all: Array.from({ length: 200 }, () => ({ __typename: 'T', id: '1' })) } };
    turns.push(name);
    const values = Object.fromEntries(FIELDS.map((n) => [`${name}${n}`, n]));
    return { data: { _entities: entityTypes.map(() => ({ ...values, o: { [name]: 1 } })) } };
  };
  const selected = teams.flatMap((name) => FIELDS.map((n) => `${name}${n}`)).join(' ');
  const { data, errors } = await ask(`{ all { ${selected} o { a b c } } }`, answer, {
    opened: wide,
  });
  const own = Object.fromEntries(teams.flatMap((name) => FIELDS.map((n) => [`${name}${n}`, n])));
  expect(errors).toEqual([]);
  expect(turns.sort()).toEqual(teams);
  expect(data.all).toEqual(
    Array.from({ length: 200 }, () => ({ ...own, o: { a: 1, b: 1, c: 1 } })),
  );
});

test('what represents an object counts wherever it is written', async () => {
  const scalars = openGraph({
    subgraphs: {
      list: {
        sdl: `scalar J type Query { all: [T] } type T @key(fields: "id") { id: ID! s: J }`,
      },
      needs: {
        sdl: `scalar J
              type T @key(fields: "id") { id: ID! s: J @external x: Int @requires(fields: "s") }`,
      },
    },
  });
  const askFor = (places: number, s: unknown) =>
    ask(
      '{ all { x } }',
      async ({ entityTypes = [] }, name) => ({
        data:
          name === 'list'
            ? {
                all: Array.from({ length: places }, (_, place) => ({
                  ...{ __typename: 'T', id: '1' },
                  s: typeof s === 'function' ? s(place) : structuredClone(s),
                })),
              }
            : { _entities: entityTypes.map(() => ({ x: 1 })) },
      }),
      { opened: scalars },
    );
  const slow = Array.from({ length: 18_000 }, () => 2e23);
  expect((await askFor(3, slow)).codes).toEqual([]);
  const { asked, codes } = await askFor(4, slow);
  expect([asked.length, codes]).toEqual([1, ['OPERATION_TOO_COMPLEX']]);
  const text = '\ud800'.repeat(80_000);
  expect((await askFor(1, text)).codes).toEqual([]);
  expect((await askFor(1, text.repeat(3))).codes).toEqual(['OPERATION_TOO_COMPLEX']);
  const long = (length: number) => (place: number) => 'x'.repeat(length - 1) + (place % 2);
  expect((await askFor(1_000, long(16_000))).codes).toEqual([]);
  expect((await askFor(1_000, long(16_400))).codes).toEqual(['OPERATION_TOO_COMPLEX']);
  expect((await askFor(1_000, [])).codes).toEqual([]);
  expect((await askFor(50_000, [])).codes).toEqual(['OPERATION_TOO_COMPLEX']);
});

test('numbers of the same hash are told apart in no more time than others', () => {
  const hashOf = (key: number) => {
    let hash = (~key + (key << 15)) >>> 0;
    hash = (hash ^ (hash >>> 12)) >>> 0;
    hash = (hash + (hash << 2)) >>> 0;
    hash = Math.imul((hash ^ (hash >>> 4)) >>> 0, 2057) >>> 0;
    return (hash ^ (hash >>> 16)) & 0xfff;
  };
  const alike: number[] = [];
  for (let key = 1; alike.length < 12_000; key += 1) if (hashOf(key) === 5) alike.push(key);
  const took = (keys: readonly number[]) => {
    const root = new Branch();
    const began = process.cpuUsage();
    for (const key of keys) root.to(key, false);
    return process.cpuUsage(began).user;
  };
  const others = alike.map((_, place) => place * 7_919);
  took(others);
  expect(took(alike)).toBeLessThan(10 * took(others) + 20_000);
});

test('errors at many places look once for what many types have below them', () => {
  const names = Array.from({ length: 80 }, (_, place) => `T${place}`);
  const types = names.map((name) => `type ${name} implements I { n: I f: Int m: Int }`);
  const schema = buildSchema(`type Query { i: I } interface I { n: I f: Int } ${types.join(' ')}`);
  const fields = Array.from({ length: 100 }, (_, place) => `f${place}: f`).join(' ');
  const took = (of: readonly string[]) => {
    const all = of.map((name) => `...on ${name}{m @include(if:$no)}`).join(' ');
    const document = parse(`query($no:Boolean!){i{n{${fields} ${all}}}}`);
    const shape = compileShape(schema, document, { no: false }, ({ name }) => name.value);
    shape.responsePaths(['i', 'n', 'm'], false);
    const began = process.cpuUsage();
    for (let place = 0; place < 2_000; place += 1)
      expect(shape.responsePaths(['i', 'n', 'm'], false)).toEqual([['i', 'n']]);
    return process.cpuUsage(began).user;
  };
  took(names.slice(0, 1));
  expect(took(names)).toBeLessThan(3 * took(names.slice(0, 1)) + 20_000);
});

test('fragments at many places find their types once', () => {
  const names = Array.from({ length: 100 }, (_, place) => `T${place}`);
  const types = names.map((name) => `type ${name} implements I { a: Int }`).join(' ');
  const schema = buildSchema(
    `type Query { u: U } union U = ${names.join('|')} interface I { a: Int } ${types}`,
  );
  let looks = 0;
  const isSubType = schema.isSubType.bind(schema);
  schema.isSubType = (...of) => {
    looks += 1;
    return isSubType(...of);
  };
  const document = parse(`{u{${'...F '.repeat(50)}}} fragment F on U {...G} fragment G on I {a}`);
  const shape = compileShape(schema, document, {}, ({ name }) => name.value);
  expect(shape.responsePaths(['u', 'a'], false)).toEqual([['u', 'a']]);
  expect(looks).toBeLessThan(500);
});

test('texts that V8 does not hash are no names, of types and of values of enums', async () => {
  const schema = schemaOf(parse('type Query { colour: Colour } enum Colour { RED }'));
  const colour = schema.getType('Colour') as GraphQLEnumType; // Cast: it is one above.
  expect(colour.getValue('RED')).toMatchObject({ name: 'RED' });
  const took = (length: number, find: (name: string) => unknown) => {
    const names = Array.from({ length: 1_000 }, (_, place) => `${place}`.padStart(length, 'x'));
    const began = process.cpuUsage();
    for (const name of names) expect(find(name)).toBeUndefined();
    return process.cpuUsage(began).user;
  };
  for (const find of [
    (name: string) => schema.getType(name),
    (name: string) => colour.getValue(name),
  ])
    expect(took(16_384, find)).toBeLessThan(2 * took(16_383, find) + 20_000);
});

test('a copy of objects whose names are numbers takes no more than they do', () => {
  const value = JSON.parse(`[${Array(20_000).fill('{"1023":1}').join()}]`);
  const before = process.memoryUsage().heapUsed;
  const copy = copyOf(value, { pace: new Pace(() => undefined) });
  expect(copy).toEqual(value);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
});

test('a run takes 4 MiB of responses at most', async () => {
  const names = ['one', 'two', 'three'];
  const three = openGraph({
    subgraphs: Object.fromEntries(
      names.map((name) => [name, { sdl: `type Query { ${name}: Int }` }]),
    ),
  });
  const large: Answer = async ({ reading }, name) =>
    reading?.takes(1_500_000) ? { data: { [name]: 1 } } : tooLarge();
  const both = await ask('{ one two }', large, { opened: three });
  expect([both.data, both.codes]).toEqual([{ one: 1, two: 1 }, []]);
  const { codes, data } = await ask('{ one two three }', large, { opened: three });
  expect([data, codes]).toEqual([{ one: 1, two: 1, three: null }, ['OPERATION_TOO_COMPLEX']]);
});

describe('the pace of a run', () => {
  /** Begins fetches with no time left for their owner, and says in how many ticks. */
  async function ticksOf(count: number, isLocal = false): Promise<number> {
    const pace = new Pace(() => nextTick());
    let ticks = 0;
    let begun = 0;
    for (let fetch = 0; fetch < count; fetch += 1) {
      const waiting = pace.fetch(isLocal);
      if (waiting === undefined) begun += 1;
      else
        waiting.then(() => {
          begun += 1;
        });
    }
    for (; begun < count; ticks += 1) await nextTick();
    return ticks;
  }

  test('lets 15 fetches begin at once, 2 in this process, and each other one in a turn of its own', async () => {
    expect(await ticksOf(15)).toBe(0);
    expect(await ticksOf(35)).toBeGreaterThanOrEqual(20);
    expect(await ticksOf(2, true)).toBe(0);
    expect(await ticksOf(3, true)).toBe(1);
  });

  test('has parts in pieces, one after another', async () => {
    const large: (boolean | undefined)[] = [];
    const pace = new Pace((isLarge) => {
      large.push(isLarge);
      return nextTick();
    });
    const steps: string[] = [];
    const part = (name: string) =>
      pace.alone(() =>
        pace.each([1, 2, 3], (step) => {
          pace.work(60_000);
          steps.push(name + step);
        }),
      );
    await Promise.all([part('a'), part('b'), part('c')]);
    expect(steps.join(' ')).toBe('a1 a2 a3 b1 b2 b3 c1 c2 c3');
    // Four for the pieces, and one each time that a part waited for another.
    expect(large).toEqual(Array(7).fill(true));
  });

  test('goes on after a turn that failed', async () => {
    let turns = 0;
    const pace = new Pace(() => {
      turns += 1;
      return turns === 1 ? Promise.reject(new Error('the client is gone')) : nextTick();
    });
    await Promise.all([pace.turn(), pace.turn()]);
    expect(turns).toBe(2);
  });
});

describe('fetches of one level to one subgraph', () => {
  const QUERY =
    '{ orders { items { stock } gift { fee } nearest { fee owner { id } } } best { stock } }';
  const isMerged = ({ query }: { query: string }) => query.includes('e0:_entities');
  const to = (asked: readonly Asked[], subgraph: string) =>
    asked.filter(({ name }) => name === subgraph);

  test('are one operation, which asks for an entity once for each selection', async () => {
    const { asked, errors } = await ask(QUERY);
    expect(asked.map(({ name }) => name).sort()).toEqual(['routes', 'shop', 'stock']);
    const [{ query, variables } = { query: '' }] = to(asked, 'stock');
    expect(query).toBe(
      'query($representations0:[_Any!]! $representations1:[_Any!]!){e0:_entities(representations:$representations0){...on Item{stock}} e1:_entities(representations:$representations1){...on Item{owner{id}}}}',
    );
    const skus = Object.values(variables ?? {}).map((each) =>
      (each as { sku: string }[]).map(({ sku }) => sku),
    );
    expect(skus).toEqual([
      ['1', '2', '3'],
      ['1', '4'],
    ]);
    expect(errors).toEqual([
      'orders.1.items.0.stock',
      'orders.1.items.1.stock',
      'orders.2.nearest.fee',
    ]);
  });

  test('wait for a later one if nothing waits for them', async () => {
    const { asked } = await ask('{ best { fee } orders { items { related { fee } } } }');
    expect(asked.map(({ name }) => name)).toEqual(['shop', 'stock', 'shop', 'routes']);
  });

  test('are also one if Apollo runs the plan', async () => {
    const { asked } = await ask('{ any { ... on Item { stock } ... on Set { items { stock } } } }');
    expect(asked.map(({ name }) => name)).toEqual(['shop', 'stock']);
  });

  test('are apart to subgraphs of the service', async () => {
    const { stock, ...others } = repeats.subgraphs;
    const opened = openGraph({ subgraphs: { ...others, ...(stock && { members: stock }) } });
    const answer: Answer = async (request, name) =>
      (await opened.transports[name]?.execute(request)) ?? {};
    const { asked } = await ask(QUERY, answer, { opened });
    expect(asked.map(({ name }) => name).sort()).toEqual([
      ...['members', 'members', 'members', 'routes', 'shop'],
    ]);
  });

  const error = { message: 'x', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
  test.each<[string, Answer]>([
    ['is refused as a whole', async () => ({ data: null, errors: [error] })],
    ['has no answer in time', () => new Promise(() => {})],
    [
      'has an entity too large to be copied',
      async (...asked) => {
        const { data } = await right(...asked);
        const wide = Array.from({ length: 100_001 }, () => 1);
        const withWide = (entities: object[]) => entities.map((one) => one && { ...one, wide });
        // Cast: entities in each field.
        const fields = Object.entries(data as Record<string, object[]>);
        return { data: Object.fromEntries(fields.map(([name, all]) => [name, withWide(all)])) };
      },
    ],
    ['lacks an entity', async () => ({ data: { e0: [null], e1: [null] } })],
    [
      'has errors that cannot be told apart',
      async (...asked) => ({ ...(await right(...asked)), errors: [error] }),
    ],
  ])('are asked apart, and stay so for a while, if the operation %s', async (_, answer) => {
    const expected = await ask(QUERY);
    const got = await ask(
      QUERY,
      (request, name) => (isMerged(request) ? answer : right)(request, name),
      { times: 2 },
    );
    expect(got.data).toEqual(expected.data);
    expect(got.errors).toEqual(expected.errors);
    expect(to(got.asked, 'stock').map(isMerged)).toEqual([true, ...Array(6).fill(false)]);
  });
});
