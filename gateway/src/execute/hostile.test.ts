// What subgraphs cannot do to the callers of others, whatever they answer.

import { readFileSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import { buildSchema, parse } from 'graphql';
import { ResponseSize } from '../document/responsesize.ts';
import { buildResponse } from '../edge/response.ts';
import { SUPERGRAPH_FILE } from '../graph/committed.ts';
import { openExecutor } from './executor.ts';
import { compileShape, Violations } from './shape.ts';

const supergraph = readFileSync(SUPERGRAPH_FILE, 'utf8');
const LIST = '{ members(first: 100) { edges { node { memberId tier points } } } }';

function answering(execute: (request: SubgraphRequest) => SubgraphResponse): Transport {
  return { execute, ready: async () => {}, close: async () => {} };
}

/** Executes LIST with so many members, about which standings answers. */
async function list(members: number, standings: (request: SubgraphRequest) => SubgraphResponse) {
  const edges = Array.from({ length: members }, (_, n) => ({
    node: { __typename: 'PartnerMemberRead', memberId: `m${n}` },
  }));
  const first = answering(() => ({ data: { members: { edges } } }));
  const transports = { gateway: first, members: first, standings: answering(standings) };
  const executor = await openExecutor('partner', supergraph, transports, createCaches());
  const caller = { kind: 'partner', partnerId: 'inn' } as const;
  const call = { variables: {}, coerced: {}, caller, requestId: 'r', size: new ResponseSize() };
  const result = await executor.execute({ key: LIST, ...call });
  executor.close();
  return { result, response: buildResponse(result, new Set(['members']), 'r', () => {}) };
}

test('thousands of errors about no entity become a thousand at most, and six for the caller', async () => {
  const errors = Array.from({ length: 1_000 }, (_, n) => ({
    message: 'x',
    path: [`r${n % 10}`, 'y'],
    extensions: { code: 'NOT_FOUND' },
  }));
  const { result, response } = await list(100, ({ entityTypes = [] }) => ({
    data: { _entities: entityTypes.map(() => null) },
    errors,
  }));
  expect(result.errors).toHaveLength(1_000);
  expect(response.body.errors).toHaveLength(6);
});

test('a subgraph is asked for 2,000 entities of a list, and not for 2,001', async () => {
  const asked: number[] = [];
  const standings = ({ entityTypes = [] }: SubgraphRequest) => {
    asked.push(entityTypes.length);
    return { data: { _entities: entityTypes.map(() => ({ tier: 'GOLD', points: 7 })) } };
  };
  await list(2_000, standings);
  const { response } = await list(2_001, standings);
  expect(asked).toEqual([2_000]);
  expect(response.codes).toContain('OPERATION_TOO_COMPLEX');
});

test('a value that is nested too deeply to be written is null, and the fields beside it stay', async () => {
  const schema = buildSchema('scalar Any type Query { any: Any other: Int }');
  const shape = compileShape(schema, parse('{ any other }'), {}, ({ name }) => name.value);
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  const complete = async (depth: number) => {
    const violations = new Violations();
    const shaping = { size: new ResponseSize(), violations };
    const data = await shape.complete({ any: nested(depth), other: 1 }, shaping);
    return [data?.any === null, data?.other, violations.paths];
  };
  expect(await complete(500)).toEqual([false, 1, []]);
  expect(await complete(501)).toEqual([true, 1, [['any']]]);
  expect(await complete(5_000)).toEqual([true, 1, [['any']]]);
});

/** How many ticks of the event loop pass until the promise settles. */
async function ticksDuring(promise: unknown): Promise<number> {
  let [ticks, isSettled] = [0, false];
  void Promise.resolve(promise).finally(() => {
    isSettled = true;
  });
  for (; !isSettled && ticks < 1_000; ticks += 1) await nextTick();
  return ticks;
}

test('a large response is shaped in many ticks, an ordinary one at once, and both are whole', async () => {
  const sdl =
    'type Query { rows: [Row], last: Int } type Row { cells: [Cell!], id: ID! } type Cell { n: Int! }';
  const document = parse('{ rows { cells { n } id } last }');
  const shape = compileShape(buildSchema(sdl), document, {}, ({ name }) => name.value);
  const dataOf = (rows: number, bad?: object) => {
    const cells = (row: number) => Array.from({ length: 50 }, (_, n) => ({ n: row + n }));
    const all = Array.from({ length: rows }, (_, row) => ({ cells: cells(row), id: `r${row}` }));
    return { rows: bad === undefined ? all : [...all, bad], last: 1 };
  };
  const complete = (data: object, bytes?: number) => {
    const violations = new Violations();
    const shaping = { size: new ResponseSize(bytes), violations };
    return { completed: shape.complete({ ...data }, shaping), violations };
  };
  expect(complete(dataOf(100)).completed).toEqual(dataOf(100));
  const bad = { cells: [{ n: 1 }, { n: null }], id: 'bad' };
  const { completed, violations } = complete(dataOf(400, bad));
  expect(completed).toBeInstanceOf(Promise);
  const [passed] = await Promise.all([ticksDuring(completed), completed]);
  expect(passed).toBeGreaterThan(1);
  expect(await completed).toEqual(dataOf(400, { cells: null, id: 'bad' }));
  expect(violations.paths).toEqual([['rows', 400, 'cells', 1, 'n']]);
  expect(await complete(dataOf(400, { cells: [], id: null })).completed).toMatchObject({
    rows: [...dataOf(400).rows, null],
    last: 1,
  });
  await expect(complete(dataOf(400), 200_000).completed).rejects.toMatchObject({
    code: 'OPERATION_TOO_COMPLEX',
  });
});

test('hundreds of errors about fields with many aliases are about the first one, in each root field', async () => {
  const aliases = Array.from({ length: 20 }, (_, n) => `e${n}: email`).join(' ');
  const roots = Array.from({ length: 8 }, (_, n) => {
    return `a${n}: members(first: 100) { edges { node { ${aliases} } } }`;
  });
  const members = answering(() => ({
    data: {},
    errors: Array.from({ length: 800 }, (_, n) => ({
      message: 'x',
      path: [`as__${n % 8}`, 'edges', n >> 3, 'node', 'email'],
      extensions: { code: 'NOT_FOUND' },
    })),
  }));
  const transports = { gateway: members, members, standings: members };
  const executor = await openExecutor('partner', supergraph, transports, createCaches());
  const caller = { kind: 'partner', partnerId: 'inn' } as const;
  const call = { variables: {}, coerced: {}, caller, requestId: 'r', size: new ResponseSize() };
  const result = await executor.execute({ key: `{ ${roots.join(' ')} }`, ...call });
  executor.close();
  expect(result.errors.length).toBeLessThan(2_000);
  const names = roots.map((root) => root.slice(0, 2));
  const { body } = buildResponse(result, new Set(names), 'r', () => {});
  expect(new Set(body.errors?.map(({ path }) => path?.[0]))).toEqual(new Set(names));
});
