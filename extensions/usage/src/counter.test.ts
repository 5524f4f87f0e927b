// Usage is counted by partner and schema coordinate, whatever the text of the operation.
import { parseDocument } from '@partner-loyalty/gateway/document/document.ts';
import { executableOperation } from '@partner-loyalty/gateway/document/executable.ts';
import type { FieldUsage, OperationUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { buildSchema } from 'graphql';
import { createUsageCounter } from './counter.ts';

const SCHEMA = buildSchema(`
  type Query { member(id: ID!, year: Int): Member }
  type Mutation { enroll(input: EnrollInput!): Member }
  type Member { id: ID! name(short: Boolean): String friend: Member }
  input EnrollInput { email: String! home: AddressInput }
  input AddressInput { city: String street: String }
`);
const ACME: Caller = { kind: 'partner', partnerId: 'acme' };

function open() {
  const written: { fields: readonly FieldUsage[]; operations: readonly OperationUsage[] }[] = [];
  const counter = createUsageCounter(
    { add: async (usage) => void written.push(usage) },
    { caches: createCaches(), log: createLog('silent') },
    () => '2031-05-17',
  );
  const use = (query: string, caller: Caller, variables: Record<string, unknown> = {}) => {
    const { node, operations } = parseDocument(query);
    const [operation] = operations;
    if (operation === undefined) throw new Error('the document has an operation');
    const executable = executableOperation(node, operation, SCHEMA);
    counter.count('partner', SCHEMA, executable, caller, variables);
  };
  const counted = () =>
    Object.fromEntries(
      (written[0]?.fields ?? []).map((each) => [
        `${each.partnerId ?? '-'} ${each.coordinate}`,
        each.count,
      ]),
    );
  return { counter, use, written, counted };
}

test('fields and arguments are counted once an operation, for each partner', async () => {
  const { counter, use, written, counted } = open();
  use('{ a: member(id: "1") { id name } b: member(id: "2") { friend { id } } }', ACME);
  use('{ a: member(id: "3") { id name } b: member(id: "4") { friend { id } } }', ACME);
  use('{ member(id: 5, year: 7) { __typename } }', { kind: 'member', memberId: 'm' });
  await counter.close();
  expect(counted()).toEqual({
    'acme Query.member': 2,
    'acme Query.member(id:)': 2,
    'acme Member.id': 2,
    'acme Member.name': 2,
    'acme Member.friend': 2,
    '- Query.member': 1,
    '- Query.member(id:)': 1,
    '- Query.member(year:)': 1,
  });
  expect(written[0]?.operations.map(({ count }) => count)).toEqual([2, 1]);
  expect(JSON.stringify(written)).not.toMatch(/"[1-7]"/);
  expect(written[0]?.fields[0]).toMatchObject({ day: '2031-05-17', surface: 'partner' });
});

test('fields of input objects are counted, in the document and in variables', async () => {
  const { counter, use, counted } = open();
  use('mutation ($e: String!) { enroll(input: { email: $e }) { id } }', ACME, { e: 'x' });
  use('mutation ($i: EnrollInput!) { enroll(input: $i) { id } }', ACME, {
    i: { email: 'x', home: { city: 'y', constructor: 'z' } },
  });
  await counter.close();
  expect(counted()).toEqual({
    'acme Mutation.enroll': 2,
    'acme Mutation.enroll(input:)': 2,
    'acme Member.id': 2,
    'acme EnrollInput.email': 2,
    'acme EnrollInput.home': 1,
    'acme AddressInput.city': 1,
  });
});

test('what is counted between two writes is bounded in characters too', async () => {
  const { counter, use, written } = open();
  const fields = Array.from({ length: 300 }, (_, n) => `${'x'.repeat(100)}${n}: id`).join(' ');
  for (let n = 0; n < 130; n += 1) use(`{ a${n}: member(id: "x") { ${fields} } }`, ACME);
  await counter.close();
  const lengths = written.map(({ operations }) =>
    operations.map(({ operation }) => operation.length),
  );
  expect(lengths.flat().length).toBeGreaterThan(50);
  for (const ofWrite of lengths)
    expect(ofWrite.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(4_000_000);
});

test('what is counted between two writes is bounded, and a store that fails loses only that', async () => {
  const { counter, use, written } = open();
  for (let n = 0; n < 2_001; n += 1) use(`{ a${n}: member(id: "x") { friend { id } } }`, ACME);
  await counter.write();
  expect(written[0]?.operations).toHaveLength(2_000);
  use('{ member(id: "x") { id } }', ACME);
  await counter.close();
  expect(written[1]?.operations).toHaveLength(1);

  const failing = createUsageCounter(
    { add: () => Promise.reject(new Error('away')) },
    { caches: createCaches(), log: createLog('silent') },
  );
  await expect(failing.close()).resolves.toBeUndefined();
});
