// Usage: counted, recorded, shown.

import { parseDocument } from '@partner-loyalty/gateway/document/document.ts';
import { executableOperation } from '@partner-loyalty/gateway/document/executable.ts';
import {
  errorsIn,
  RECORDS_A_MINUTE,
  type RequestRecord,
  sumOf,
} from '@partner-loyalty/gateway/usage/requests.ts';
import type { FieldUsage, OperationUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { buildSchema } from 'graphql';
import { createUsageCounter } from './counter.ts';
import { createKeyUseCounter } from './keyuse.ts';
import { createRequestRecorder } from './recorder.ts';
import type { KeyUseInHour, RequestBatch } from './records.ts';

// Usage is counted by partner and schema coordinate, whatever the text of the operation.
describe('counter', () => {
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

  test('operations that differ in default values are one, without these', async () => {
    const { counter, use, written } = open();
    for (const id of ['ada@example.com', 'bob@example.com'])
      use(`query ($id: ID! = "${id}") { member(id: $id) { id } }`, ACME);
    await counter.close();
    expect(written[0]?.operations).toMatchObject([
      { count: 2, operation: 'query($id:ID!=""){member(id:$id){id}}' },
    ]);
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

  test('what is counted between two writes is bounded', async () => {
    const { counter, use, written } = open();
    for (let n = 0; n < 2_000; n += 1) use(`{ a${n}: member(id: "x") { friend { id } } }`, ACME);
    // Whoever fills it must not make fields of others look unused.
    use('{ member(id: "x") { name } }', { ...ACME, partnerId: 'late' });
    await counter.write();
    expect(written[0]?.operations).toHaveLength(2_000);
    const late = written[0]?.fields.filter(({ partnerId }) => partnerId === 'late');
    expect(late?.map(({ coordinate }) => coordinate)).toContain('Member.name');
    use('{ member(id: "x") { id } }', ACME);
    await counter.close();
    expect(written[1]?.operations).toHaveLength(1);
  });
});

// The use of keys is counted in bounded memory.
describe('keyuse', () => {
  function open() {
    const written: (readonly KeyUseInHour[])[] = [];
    let time = Date.parse('2031-05-17T10:59:58.500Z');
    const addKeyUses = async (uses: readonly KeyUseInHour[]) => void written.push(uses);
    const counter = createKeyUseCounter({ addKeyUses }, { log: createLog('silent') }, () => {
      time += 1_000;
      return time;
    });
    return { counter, written };
  }

  test('requests, refusals and errors are counted by key, and written once', async () => {
    const { counter, written } = open();
    counter.count('key_a', 503);
    counter.count('key_a', 200);
    counter.count('key_b', 429);
    counter.count('key_a', 429);
    counter.count('key_a', undefined);
    await counter.write();
    await counter.close();
    const use = (keyId: string, requests: number, errors: number, lastUsedAt: string) => ({
      keyId,
      hour: lastUsedAt.slice(0, 13),
      requests,
      refusals: 1,
      errors,
      lastUsedAt: new Date(lastUsedAt),
    });
    expect(written).toEqual([
      [
        use('key_a', 3, 1, '2031-05-17T11:00:03.500Z'),
        use('key_b', 1, 0, '2031-05-17T11:00:01.500Z'),
      ],
    ]);
  });

  test('beyond 10,000 keys, those that are counted already go on', async () => {
    const { counter, written } = open();
    for (let n = 0; n < 10_100; n += 1) counter.count(`key_${n}`, 200);
    counter.count('key_0', 200);
    await counter.close();
    expect(written[0]).toHaveLength(10_000);
    expect(written[0]?.[0]).toMatchObject({ keyId: 'key_0', requests: 2 });
  });
});

// What is recorded of requests is bounded for each partner and minute, and errors come first.
describe('recorder', () => {
  const log = createLog('silent');
  const AT = Date.parse('2031-05-17T10:59:58.000Z');
  const OK: Omit<RequestRecord, 'time'> = {
    requestId: 'r',
    keyId: 'key_a',
    operation: 'Look',
    status: 200,
    codes: [],
    cost: 1,
    durationMs: 3,
  };
  const REFUSED = { ...OK, status: 429, codes: ['RATE_LIMITED'] };

  const counted = (requests: number, recorded: number) => ({ counts: { requests, recorded } });

  function open() {
    const written: RequestBatch[] = [];
    const clock = { time: AT };
    const source = { mode: 'respond' as 'respond' | 'fail' | 'hang' };
    const held: (() => void)[] = [];
    const store = {
      async addRequests(batch: RequestBatch): Promise<void> {
        // Copied as a store would have it, since chunks may change later.
        written.push(structuredClone(batch));
        if (source.mode === 'hang') await new Promise<void>((resolve) => held.push(resolve));
        if (source.mode === 'fail') throw new Error('away');
      },
    };
    const recorder = createRequestRecorder(store, { log }, () => clock.time);
    const note = (count: number, request: Omit<RequestRecord, 'time'>, partnerId = 'acme') => {
      for (let n = 0; n < count; n += 1)
        recorder.note(partnerId, { ...request, requestId: `${request.requestId}${n}` }, 0.5);
    };
    /** What a store has in the end. */
    const stored = () => {
      const chunks = new Map(
        written.flatMap((batch) => batch.chunks.map((one) => [one.writer, one])),
      );
      return [...chunks.values()].flatMap(({ records }) => records);
    };
    const sums = () => written.flatMap(({ hours }) => hours);
    const release = () => held.splice(0).forEach((resolve) => void resolve());
    return { recorder, note, written, stored, sums, clock, source, release };
  }

  test('of a minute, 100 requests of each partner are recorded, and all are counted', async () => {
    const { recorder, note, stored, sums, clock } = open();
    note(RECORDS_A_MINUTE + 50, OK);
    note(1, { ...OK, requestId: 'other' }, 'blue');
    await recorder.write();
    note(50, OK);
    clock.time += 2_000;
    note(1, { ...OK, requestId: 'next' });
    await recorder.close();
    const ids = stored().map(({ requestId }) => requestId);
    expect(ids).toHaveLength(RECORDS_A_MINUTE + 2);
    expect(ids.slice(-2)).toEqual(['other0', 'next0']);
    expect(sums()).toMatchObject([
      { partnerId: 'acme', hour: '2031-05-17T10', ...counted(150, 100), budget: 0.5 },
      { partnerId: 'blue', ...counted(1, 1) },
      { partnerId: 'acme', hour: '2031-05-17T10', counts: { requests: 50 } },
      { partnerId: 'acme', hour: '2031-05-17T11', ...counted(1, 1) },
    ]);
  });

  test('a fault of the sandbox is recorded where there is room, and is in no sum', async () => {
    const { recorder, note, stored, sums } = open();
    const fault = { ...REFUSED, requestId: 'fault', isFault: true as const };
    note(1, fault);
    note(99, OK);
    note(1, fault);
    await recorder.close();
    expect(stored().filter(({ isFault }) => isFault)).toHaveLength(1);
    const { counts } = sumOf(sums());
    expect(counts).toMatchObject({ requests: 99, recorded: 100, faults: 2 });
    expect(counts.refused).toBeUndefined();
  });

  test('an error takes the place of a success, written or not, and no place of another error', async () => {
    const { recorder, note, stored, sums } = open();
    note(60, OK);
    await recorder.write();
    note(60, OK);
    note(70, { ...REFUSED, requestId: 'refused' });
    note(1, { ...OK, requestId: 'later' });
    await recorder.write();
    note(70, { ...REFUSED, requestId: 'again' });
    note(1, { ...OK, status: 200, codes: ['MEMBER_NOT_FOUND'], requestId: 'partial' });
    await recorder.close();
    const kept = stored();
    expect(kept).toHaveLength(RECORDS_A_MINUTE);
    const count = (prefix: string) =>
      kept.filter(({ requestId }) => requestId.startsWith(prefix)).length;
    expect([count('refused'), count('again'), count('partial')]).toEqual([70, 30, 0]);
    expect(sumOf(sums()).counts.recorded).toBe(RECORDS_A_MINUTE);
    expect(errorsIn(sumOf(sums()))).toBe(141);
  });

  test('a store that hangs gets one write at a time, and what comes meanwhile is bounded', async () => {
    const { recorder, note, written, stored, source, release } = open();
    source.mode = 'hang';
    note(1, { ...OK, requestId: 'first' });
    const first = recorder.write();
    for (let partner = 0; partner < 600; partner += 1) note(100, OK, `p${partner}`);
    expect(recorder.write()).toBe(first);
    expect(written).toHaveLength(1);
    source.mode = 'respond';
    // What came during the last write is written before it is closed.
    const closed = recorder.close();
    release();
    await Promise.all([first, closed]);
    expect(stored()).toHaveLength(50_000);
    expect(sumOf(written[1]?.hours ?? []).counts.requests).toBe(60_000);
  });

  test('a store that fails loses what it was given, and the next write is made', async () => {
    const { recorder, note, written, source } = open();
    source.mode = 'fail';
    note(3, OK);
    await expect(recorder.write()).resolves.toBeUndefined();
    source.mode = 'respond';
    note(1, REFUSED);
    await recorder.close();
    expect(written[1]).toMatchObject({ hours: [{ counts: { requests: 1, refused: 1 } }] });
    expect(written[1]?.chunks.flatMap(({ records }) => records)).toMatchObject([{ status: 429 }]);
  });
});
