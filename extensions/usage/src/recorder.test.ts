// What is recorded of requests is bounded for each partner and minute, and errors come first.
import {
  errorsIn,
  RECORDS_A_MINUTE,
  type RequestRecord,
  sumOf,
} from '@partner-loyalty/gateway/usage/requests.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createRequestRecorder } from './recorder.ts';
import type { RequestBatch } from './store.ts';

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
  release();
  await first;
  await recorder.close();
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

test('with many partners, sums take turns', async () => {
  const { recorder, note, written } = open();
  for (let partner = 0; partner < 250; partner += 1) note(1, OK, `p${partner}`);
  await recorder.write();
  await recorder.write();
  await recorder.close();
  expect(written.map(({ hours }) => hours.length)).toEqual([100, 100, 50]);
  expect(written.map(({ chunks }) => chunks.length)).toEqual([250, 0, 0]);
});
