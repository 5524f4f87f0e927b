// What subgraphs cannot do to the callers of others, whatever they answer.

import { readFileSync } from 'node:fs';
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

test('a value that is nested too deeply to be written is null, and the fields beside it stay', () => {
  const schema = buildSchema('scalar Any type Query { any: Any other: Int }');
  const shape = compileShape(schema, parse('{ any other }'), {}, ({ name }) => name.value);
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  const complete = (depth: number) => {
    const violations = new Violations();
    const shaping = { size: new ResponseSize(), violations };
    const data = shape.complete({ any: nested(depth), other: 1 }, shaping);
    return [data?.any === null, data?.other, violations.paths];
  };
  expect(complete(500)).toEqual([false, 1, []]);
  expect(complete(501)).toEqual([true, 1, [['any']]]);
  expect(complete(5_000)).toEqual([true, 1, [['any']]]);
});
