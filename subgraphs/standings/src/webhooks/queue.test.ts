// The queue of one endpoint: order per member, the retry schedule, and what a takeover begins with.
import type { Event } from '../rules/event.ts';
import type { Endpoint, WaitingMessage } from '../store/webhooks.ts';
import { createQueue, type Queue, RETRY_MS } from './queue.ts';

const START = Date.UTC(2026, 0, 1);
const MAX_ROWS = 10_000;
const ENDPOINT: Endpoint = {
  webhookId: 'wh_1',
  partnerId: 'inn',
  url: 'https://example.com/',
  state: 'active',
  secrets: [],
  position: 0,
  revision: 0,
  createdAt: START,
};

const eventOf = (memberId?: string, mergedMemberId?: string): Event => ({
  id: 'e',
  type: mergedMemberId === undefined ? 'POINTS_CHANGED' : 'MEMBER_MERGED',
  partnerId: 'inn',
  occurredAt: START,
  ...(memberId && { memberId }),
  ...(mergedMemberId && { mergedMemberId }),
});

/** A queue with these members' events at positions from 1 on. */
function queueOf(memberIds: readonly (string | undefined)[], rows: WaitingMessage[] = []): Queue {
  const queue = createQueue(ENDPOINT, rows);
  add(queue, memberIds);
  return queue;
}

function add(queue: Queue, memberIds: readonly (string | undefined)[]): void {
  const first = queue.readTo() + 1;
  const events = memberIds.map((memberId, index) => {
    return { position: first + index, event: eventOf(...(memberId?.split('+') ?? [])) };
  });
  queue.add(events, first + memberIds.length - 1);
}

/** Takes everything that may go now. */
function take(queue: Queue, now = START, maxRows = MAX_ROWS): WaitingMessage[] {
  const taken: WaitingMessage[] = [];
  for (let one = queue.next(now, maxRows); one !== undefined; one = queue.next(now, maxRows))
    taken.push(one);
  return taken;
}

const positions = (messages: readonly WaitingMessage[]) => messages.map(({ position }) => position);
const settle = (
  queue: Queue,
  messages: readonly WaitingMessage[],
  isDelivered = true,
  at = START,
) => messages.map((message) => queue.done(message, isDelivered, at, MAX_ROWS));
/** Fails everything that goes, now. */
const fail = (queue: Queue, at = START) => settle(queue, take(queue, at), false, at);

/** Writes the changes to rows, as they are stored. */
function write(queue: Queue, rows = new Map<string, WaitingMessage>()) {
  for (const [id, row] of queue.changes())
    if (row === undefined) rows.delete(id);
    else rows.set(id, { ...row });
  return rows;
}

test('in order per member: one at a time of a member, those of others meanwhile', () => {
  const queue = queueOf(['ada', 'bob', 'ada', undefined, undefined, 'ada']);
  const first = take(queue);
  expect(positions(first)).toEqual([1, 2, 4, 5]);
  settle(queue, first);
  const second = take(queue);
  expect(positions(second)).toEqual([3]);
  settle(queue, second);
  expect(positions(take(queue))).toEqual([6]);
});

test('while a retry waits, later events of the same member wait, and those of others do not', () => {
  const queue = queueOf(['ada', 'ada', 'bob']);
  const [ada, bob] = take(queue);
  if (ada === undefined || bob === undefined) throw new Error('not taken');
  settle(queue, [ada], false);
  settle(queue, [bob]);
  add(queue, ['ada', 'bob']);
  expect(positions(take(queue))).toEqual([5]);
  const retried = take(queue, START + 5_000);
  expect(positions(retried)).toEqual([1]);
  settle(queue, retried);
  expect(positions(take(queue))).toEqual([2]);
});

test('a merger keeps its order with both members', () => {
  const queue = queueOf(['eve', 'ada', 'ada+eve', 'eve', 'bob']);
  const first = take(queue);
  expect(positions(first)).toEqual([1, 2, 5]);
  settle(queue, first.slice(0, 1));
  expect(take(queue)).toEqual([]);
  settle(queue, first.slice(1, 2), false);
  // What is behind the merger waits for a retry too, so it has a row.
  expect([...write(queue).keys()].sort()).toEqual(['wh_1/2', 'wh_1/3', 'wh_1/4']);
  settle(queue, take(queue, START + 5_000));
  const merger = take(queue);
  expect(positions(merger)).toEqual([3]);
  settle(queue, merger);
  expect(positions(take(queue))).toEqual([4]);
});

test('retried after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h; after the last it is failed and later events go on', () => {
  const hours = (count: number) => count * 3_600_000;
  const schedule = [5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(hours)];
  expect(RETRY_MS).toEqual(schedule);
  const queue = queueOf(['ada', 'ada']);
  let at = START;
  for (const waitMs of schedule) {
    expect(fail(queue, at)).toEqual(['waits']);
    expect(queue.wakeAt()).toBe(at + waitMs);
    expect(take(queue, at + waitMs - 1)).toEqual([]);
    at += waitMs;
  }
  expect(fail(queue, at)).toEqual(['failed']);
  expect(positions(take(queue, at))).toEqual([2]);
  expect(queue.failingSince()).toBe(START);
});

test('retries that are due go before new events, the earliest first', () => {
  const queue = queueOf(['ada', 'bob']);
  const [ada, bob] = take(queue);
  if (ada === undefined || bob === undefined) throw new Error('not taken');
  settle(queue, [bob], false, START + 1);
  settle(queue, [ada], false, START + 2);
  add(queue, ['eve']);
  expect(positions(take(queue, START + 5_002))).toEqual([2, 1, 3]);
});

test('the position passes what is delivered or has a row, and nothing else', () => {
  const queue = queueOf(['ada', 'bob', 'ada']);
  expect(queue.position()).toBe(0);
  const [ada, bob] = take(queue);
  if (ada === undefined || bob === undefined) throw new Error('not taken');
  settle(queue, [bob]);
  expect(queue.position()).toBe(0);
  settle(queue, [ada], false);
  // Both of the member's events have rows.
  expect(queue.position()).toBe(3);
  const rows = write(queue);
  expect(Array.from(rows.values(), ({ nextAt }) => nextAt)).toEqual([START + 5_000, undefined]);
  settle(queue, take(queue, START + 5_000));
  settle(queue, take(queue));
  expect(write(queue, rows).size).toBe(0);
  expect(queue.messages()).toEqual([]);
});

test('a queue goes on where another one was stored, with its retries and their times', () => {
  const before = queueOf(['ada', 'ada', 'bob']);
  const [ada] = take(before);
  if (ada === undefined) throw new Error('not taken');
  settle(before, [ada], false);
  const rows = [...write(before).values()];
  const queue = createQueue({ ...ENDPOINT, position: before.position() }, rows);
  expect(queue.readTo()).toBe(2);
  add(queue, ['bob']);
  expect(positions(take(queue))).toEqual([3]);
  settle(queue, take(queue, START + 5_000));
  expect(positions(take(queue))).toEqual([2]);
});

test('rows whose position was not written keep their order and their time', () => {
  // A process was killed after it had written the row of the third event, but not of the second.
  const row = { webhookId: 'wh_1', memberId: 'ada', occurredAt: START };
  const rows = [
    { ...row, messageId: 'wh_1/1', position: 1, attempts: 2, nextAt: START + 300_000 },
    { ...row, messageId: 'wh_1/3', position: 3, attempts: 0 },
  ];
  const queue = createQueue(ENDPOINT, rows);
  expect(take(queue)).toEqual([]);
  add(queue, ['ada', 'ada', 'ada']);
  expect(take(queue)).toEqual([]);
  for (const position of [1, 2, 3]) {
    const taken = take(queue, START + 300_000);
    expect(positions(taken)).toEqual([position]);
    settle(queue, taken);
  }
});

test('an endpoint with as many messages waiting as it may have reads no more, is tried every 5 minutes, and all of them are due after a success', () => {
  const queue = queueOf(['ada', 'bob', 'eve']);
  const maxRows = 3;
  for (let at = START; at < START + 8 * 3_600_000; at = Math.max(at + 1, queue.wakeAt()))
    fail(queue, at);
  const at = START + 8 * 3_600_000;
  expect(queue.wakeAt()).toBeGreaterThan(at + 300_000);
  expect(queue.wantsEvents(maxRows)).toBe(false);
  expect(queue.wantsEvents(MAX_ROWS)).toBe(true);
  const [probe, ...more] = [queue.next(at, maxRows), queue.next(at, maxRows)];
  expect(more).toEqual([undefined]);
  if (probe === undefined) throw new Error('not taken');
  expect(queue.next(at + 299_999, maxRows)).toBeUndefined();
  queue.done(probe, true, at, maxRows);
  expect(take(queue, at, maxRows)).toHaveLength(2);
});
