// Entities at several paths are fetched together if the same is asked of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createCaches,
  type SubgraphReply,
  type SubgraphRequest,
  type Transport,
} from '@partner-loyalty/runtime';
import { ResponseSize } from '../operation/responsesize.ts';
import { openExecutor } from './executor.ts';

const supergraph = readFileSync(join(import.meta.dirname, '../../supergraph.graphql'), 'utf8');

function transport(execute: Transport['execute']): Transport {
  return { execute, ready: async () => {}, close: async () => {} };
}

/** Everyone but `gone` is a member; a look-up finds ten. */
function members({ query }: SubgraphRequest): SubgraphReply {
  const data: Record<string, unknown> = {};
  for (const [, alias = '', value = ''] of query.matchAll(/(\w+):member\w+\(\w+: "(\w+)/g))
    data[alias] = value === 'gone' ? null : member(value);
  for (const [, alias = ''] of query.matchAll(/(\w+):memberLookups/g))
    data[alias] = Array.from({ length: 10 }, (_, at) => ({ member: member(`${alias}${at}`) }));
  return { data };
}

function member(memberId: string) {
  return { __typename: 'PartnerMemberRead', memberId };
}

type Reference = { memberId: string };

/** Executes on members as above, and notes the IDs that each operation asks standings for. */
async function run(
  query: string,
  failures: (ids: string[]) => Partial<SubgraphReply> = () => ({}),
) {
  const asked: string[][] = [];
  const standings = transport(({ variables }) => {
    const references = (variables?.representations ?? []) as Reference[];
    const ids = references.map(({ memberId }) => memberId);
    asked.push(ids);
    return {
      data: { _entities: ids.map((id) => ({ tier: 'GOLD', points: id.length })) },
      ...failures(ids),
    };
  });
  const { execute } = await openExecutor(
    'partner',
    supergraph,
    { members: transport(members), standings },
    createCaches(),
  );
  const { data, errors } = await execute({
    key: query,
    variables: {},
    coerced: {},
    scope: { kind: 'partner', partnerId: 'p' },
    requestId: 'r',
    size: new ResponseSize(),
  });
  return { asked, data: JSON.parse(JSON.stringify(data)), errors };
}

const THREE = `{
  a: memberById(memberId: "m1") { points }
  b: memberById(memberId: "gone") { points }
  c: memberById(memberId: "m300") { points }
  d: memberById(memberId: "m40") { points }
}`;

test('aliases of a root field are one operation, without those that nobody is found for', async () => {
  const { asked, data, errors } = await run(THREE);
  expect(asked).toEqual([['m1', 'm300', 'm40']]);
  expect(data).toEqual({ a: { points: 2 }, b: null, c: { points: 4 }, d: { points: 3 } });
  expect(errors).toEqual([]);
});

test('what is not the same is asked for separately', async () => {
  const { asked, data } = await run(`{
    a: memberById(memberId: "m1") { points }
    b: memberById(memberId: "m2") { tier }
    c: memberById(memberId: "m3") { points }
  }`);
  expect(asked).toEqual([['m1', 'm3'], ['m2']]);
  expect(data).toEqual({ a: { points: 2 }, b: { tier: 'GOLD' }, c: { points: 2 } });
});

test('an error of one entity is about its alias alone', async () => {
  const error = { message: 'no', extensions: { code: 'OFFER_GONE' } };
  const { data, errors } = await run(THREE, () => ({
    data: { _entities: [{ points: 1 }, { points: null }, { points: 3 }] },
    errors: [{ ...error, path: ['_entities', 1, 'points'] }],
  }));
  expect(data).toMatchObject({ a: { points: 1 }, d: { points: 3 } });
  expect(errors).toEqual([{ ...error, path: ['c', 'points'] }]);
});

test('the failure of the operation is one of every alias', async () => {
  const error = { message: 'no', extensions: { code: 'SERVICE_UNAVAILABLE' } };
  const { errors } = await run(THREE, () => ({ data: null, errors: [error] }));
  expect(errors.map(({ path }) => path?.[0])).toEqual(['a', 'c', 'd']);
});

test('more than 20 entities at several paths are one operation for each path', async () => {
  const lookUps = (aliases: string[]) =>
    `{${aliases.map((alias) => `${alias}: memberLookups(keys: []) { member { points } }`).join(' ')}}`;
  const counts = async (aliases: string[]) =>
    (await run(lookUps(aliases))).asked.map((ids) => ids.length);
  expect(await counts(['a', 'b'])).toEqual([20]);
  expect(await counts(['a', 'b', 'c'])).toEqual([10, 10, 10]);
});
