// The queue of one endpoint: order per member, the retry schedule, and what a takeover begins with.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { Event } from '@partner-loyalty/standings/rules/event.ts';
import type { Endpoint, WaitingMessage } from '@partner-loyalty/standings/store/webhooks.ts';
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

const OK = { ok: true, status: 200 };
const REFUSED = { ok: false, status: 503, reason: 'STATUS' };
const positions = (messages: readonly WaitingMessage[]) => messages.map(({ position }) => position);
const settle = (
  queue: Queue,
  messages: readonly WaitingMessage[],
  isDelivered = true,
  at = START,
) => messages.map((message) => queue.done(message, isDelivered ? OK : REFUSED, at, MAX_ROWS));
/** Fails everything that goes, now. */
const fail = (queue: Queue, at = START) => settle(queue, take(queue, at), false, at);

/** Writes the changes to rows, as they are stored. */
function write(queue: Queue, rows = new Map<string, WaitingMessage>()) {
  for (const [id, row] of queue.changes())
    if (row === undefined) rows.delete(id);
    else rows.set(id, { ...row });
  return rows;
}

test('the rows of many messages of two members are made at once, and stay within their number', () => {
  const count = 20_000;
  const queue = queueOf(Array.from({ length: count }, (_, at) => (at % 7 === 0 ? 'bob' : 'ada')));
  const [first, ...others] = take(queue);
  expect(others).toHaveLength(1);
  settle(queue, first === undefined ? [] : [first], false);
  settle(queue, others, false);
  expect(write(queue).size).toBe(count);
  expect(queue.position()).toBe(count);
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

test('retried after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h; after the last it is failed and later events go on', () => {
  const hours = (count: number) => count * 3_600_000;
  const schedule = [5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(hours)];
  expect(RETRY_MS).toEqual(schedule);
  const queue = queueOf(['ada', 'ada']);
  let at = START;
  for (const waitMs of schedule) {
    expect(fail(queue, at)).toEqual(['waits']);
    expect(queue.wakeAt(at)).toBe(at + waitMs);
    expect(take(queue, at + waitMs - 1)).toEqual([]);
    at += waitMs;
  }
  expect(fail(queue, at)).toEqual(['failed']);
  // Ten attempts in a row have failed by now.
  expect(take(queue, at)).toEqual([]);
  expect(positions(take(queue, at + 5_000))).toEqual([2]);
  expect(queue.failingSince()).toBe(START);
});

test('retries that are due go before new events, the oldest first', () => {
  const queue = queueOf(['ada', 'bob']);
  const [ada, bob] = take(queue);
  if (ada === undefined || bob === undefined) throw new Error('not taken');
  settle(queue, [bob], false, START + 1);
  settle(queue, [ada], false, START + 2);
  add(queue, ['eve']);
  expect(positions(take(queue, START + 5_002))).toEqual([1, 2, 3]);
});

/** A queue whose first events, each of another member, were refused until it was failing. */
function failingQueue(count: number) {
  const queue = queueOf(Array.from({ length: count }, (_, index) => `m${index + 1}`));
  const first = [...Array(10)].flatMap(() => queue.next(START, MAX_ROWS) ?? []);
  settle(queue, first, false);
  return queue;
}

test('after 10 refusals in a row, one attempt after 5 s, with the time doubled after each up to 5 min', () => {
  const queue = queueOf(Array.from({ length: 30 }, (_, index) => `m${index + 1}`));
  const first = [...Array(10)].flatMap(() => queue.next(START, MAX_ROWS) ?? []);
  settle(queue, first.slice(0, 9), false);
  expect(queue.isFailing()).toBe(false);
  settle(queue, first.slice(9), false);
  expect([queue.isFailing(), take(queue)]).toEqual([true, []]);
  let at = START;
  for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
    expect(queue.wakeAt(at)).toBe(at + seconds * 1_000);
    expect(take(queue, at + seconds * 1_000 - 1)).toEqual([]);
    at += seconds * 1_000;
    expect(fail(queue, at)).toEqual(['waits']);
  }
  expect(queue.state(at)).toMatchObject({
    failingSince: START,
    failures: 18,
    lastStatus: 503,
    nextAttemptAt: at + 300_000,
    waiting: 10,
  });
});

test('the probe is the oldest message that is due, and does not count among its attempts', () => {
  const queue = failingQueue(12);
  write(queue);
  const probe = take(queue, START + 5_000);
  expect(probe).toMatchObject([{ position: 1, attempts: 1 }]);
  settle(queue, probe, false, START + 5_000);
  expect(probe).toMatchObject([{ attempts: 1, nextAt: START + 5_000 }]);
  expect(positions(take(queue, START + 15_000))).toEqual([1]);
});

test('each failed attempt gives its message a row, where its history is kept: a probe too', () => {
  const queue = createQueue({ ...ENDPOINT, failures: 12, failingSince: START }, []);
  add(queue, ['ada', 'bob']);
  const probe = take(queue);
  settle(queue, probe, false);
  expect([...write(queue).values()]).toMatchObject([
    { position: 1, attempts: 0, eventId: 'e', type: 'POINTS_CHANGED' },
  ]);
  settle(queue, take(queue, START + 40_000), false, START + 40_000);
  expect(write(queue).size).toBe(1);
});

test('what somebody asks for goes before its time and before others, and does not count', () => {
  const row = { occurredAt: START, attempts: 1 };
  const rows: WaitingMessage[] = [
    { ...row, messageId: 'wh_1/1', position: 1 },
    { ...row, messageId: 'wh_1/2', position: 2, nextAt: START + 60_000, isAsked: true },
  ];
  for (const failures of [1, 12]) {
    const endpoint = { ...ENDPOINT, position: 2, failures, failingSince: START };
    const queue = createQueue(
      endpoint,
      rows.map((one) => ({ ...one })),
    );
    expect(queue.wakeAt(START)).toBeLessThanOrEqual(START);
    const asked = queue.next(START, MAX_ROWS);
    expect(asked?.position).toBe(2);
    settle(queue, asked === undefined ? [] : [asked], false);
    expect(asked).toMatchObject({ attempts: 1, nextAt: START + 60_000 });
    expect(positions(take(queue, START + 59_999))).toEqual([1]);
  }
});

test('a message that is always refused is not the only probe: every 5 min comes the next one that is due', () => {
  const queue = failingQueue(12);
  const probed: number[] = [];
  for (let at = START, probes = 0; probes < 9; probes += 1) {
    at = queue.wakeAt(at);
    const probe = take(queue, at);
    probed.push(...positions(probe));
    settle(queue, probe, false, at);
  }
  expect(probed).toEqual([1, 1, 1, 1, 1, 1, 2, 3, 4]);
});

test('a success releases what waits, in order, 50 a second until it is sent, whatever comes meanwhile', () => {
  const queue = failingQueue(80);
  let at = START + 5_000;
  const [probe] = take(queue, at);
  if (probe === undefined) throw new Error('not taken');
  // The feed has 20 more that are not read yet.
  queue.done(probe, OK, at, MAX_ROWS, 100);
  expect([queue.isFailing(), queue.failingSince()]).toEqual([false, undefined]);
  const sent: number[] = [];
  const next = () => {
    const taken = take(queue, at);
    sent.push(...positions(taken));
    settle(queue, taken, true, at);
    return taken.length;
  };
  for (; sent.length < 79; at += 20) expect(next()).toBe(1);
  expect(sent).toEqual(Array.from({ length: 79 }, (_, index) => index + 2));
  add(
    queue,
    Array.from({ length: 40 }, (_, index) => `n${index}`),
  );
  for (; sent.length < 99; at += 20) expect(next()).toBe(1);
  expect(next()).toBe(20);
});

test('what is refused once more after a recovery keeps its time and its attempts', () => {
  const queue = queueOf(['ada', ...Array.from({ length: 9 }, (_, index) => `m${index}`)]);
  const [ada, ...others] = take(queue);
  if (ada === undefined) throw new Error('not taken');
  settle(queue, [ada], false);
  settle(queue, take(queue, START + 5_000), false, START + 5_000);
  settle(queue, others.slice(0, 8), false, START + 5_000);
  expect(queue.isFailing()).toBe(true);
  const at = START + 10_000;
  settle(queue, [...take(queue, at)], true, at);
  const dueAt = START + 5_000 + 300_000;
  expect(ada).toMatchObject({ attempts: 2, nextAt: dueAt });
  expect(positions(take(queue, at + 20))).toEqual([1]);
  settle(queue, [ada], false, at + 20);
  expect(ada).toMatchObject({ attempts: 2, nextAt: dueAt });
  for (let later = at + 40; later < at + 1_000; later += 20)
    settle(queue, take(queue, later), true, later);
  expect(take(queue, dueAt - 1)).toEqual([]);
  settle(queue, take(queue, dueAt), false, dueAt);
  expect(ada.attempts).toBe(3);
});

test('a probe whose event was dropped gives way to the next one', () => {
  const queue = failingQueue(12);
  for (const dropped of take(queue, START + 5_000)) queue.drop(dropped);
  expect(positions(take(queue, START + 5_000))).toEqual([2]);
});

test('a queue that goes on where a failing one was stored is failing, and waits as long', () => {
  const before = failingQueue(12);
  const rows = write(before);
  const queue = createQueue({ ...ENDPOINT, ...omitUndefined(before.state(START)) }, [
    ...rows.values(),
  ]);
  expect(queue.isFailing()).toBe(true);
  expect(take(queue, START + 4_999)).toEqual([]);
  expect(positions(take(queue, START + 5_000))).toEqual([1]);
});

test('one that goes on in the middle of a release keeps its pace', () => {
  const before = failingQueue(12);
  settle(before, take(before, START + 5_000), true, START + 5_000);
  const rows = write(before);
  const stored = { ...ENDPOINT, ...omitUndefined(before.state(START + 5_000)) };
  const queue = createQueue(stored, [...rows.values()]);
  add(queue, ['m11', 'm12', 'm13']);
  const sent: number[] = [];
  for (let at = START + 5_001; sent.length < 11; at += 20) {
    const taken = take(queue, at);
    expect(taken).toHaveLength(1);
    sent.push(...positions(taken));
    settle(queue, taken, true, at);
  }
  expect(sent).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test('an endpoint with as many messages waiting as it may have reads no more, is tried every 5 minutes, and all of them are due after a success', () => {
  const queue = queueOf(['ada', 'bob', 'eve']);
  const maxRows = 3;
  fail(queue);
  fail(queue, START + 5_000);
  fail(queue, START + 305_000);
  expect(queue.isFailing()).toBe(false);
  const wantsEvents = (most: number) => queue.wantsEvents(START + 305_000, most);
  expect([wantsEvents(maxRows), wantsEvents(MAX_ROWS)]).toEqual([false, true]);
  expect(queue.next(START + 604_999, maxRows)).toBeUndefined();
  const at = START + 605_000;
  const [probe, ...more] = [queue.next(at, maxRows), queue.next(at, maxRows)];
  expect(more).toEqual([undefined]);
  if (probe === undefined) throw new Error('not taken');
  queue.done(probe, OK, at, maxRows);
  expect([...take(queue, at, maxRows), ...take(queue, at + 20, maxRows)]).toHaveLength(2);
});

describe('a replay', () => {
  const replay = { after: 0, to: 25, startedAt: START };
  const ids = (first: number, count: number) =>
    [...Array(count).keys()].map((at) => `m${first + at}`);
  /** The second that begins at `from`, in which a share may be used. */
  const shared = (queue: Queue, from: number) => {
    expect(queue.wantsShare(from, MAX_ROWS)).toBe(true);
    queue.share(from);
    const taken = take(queue, from);
    settle(queue, taken, true, from);
    return positions(taken);
  };

  test('goes out in shares of ten, and new events do not wait for it, but for those of their member', () => {
    const queue = createQueue({ ...ENDPOINT, replay }, []);
    add(queue, ids(1, 25));
    expect(take(queue)).toEqual([]);
    expect(shared(queue, START)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    add(queue, ['m25', 'm1', 'new']);
    const fresh = take(queue, START);
    expect(positions(fresh)).toEqual([27, 28]);
    settle(queue, fresh);
    expect(queue.state(START)).toMatchObject({ position: 10, replay: { ...replay, to: 28 } });
    // The next share begins later.
    queue.share(START + 1_000);
    expect([queue.wakeAt(START + 5), take(queue, START + 999)]).toEqual([START + 1_000, []]);
    expect(take(queue, START + 2_000)).toEqual([]);
    expect(shared(queue, START + 2_000)).toHaveLength(10);
    expect(shared(queue, START + 3_000)).toEqual([21, 22, 23, 24, 25]);
    expect(queue.state(START + 3_000)).toMatchObject({ position: 25, replay: undefined });
    expect(positions(take(queue, START + 3_000))).toEqual([26]);
    expect(queue.wantsShare(START + 9_000, MAX_ROWS)).toBe(false);
  });

  test('lets new events go first, however slow the receiver is', () => {
    const queue = createQueue({ ...ENDPOINT, replay }, []);
    add(queue, ids(1, 25));
    queue.share(START);
    const [one] = [queue.next(START, MAX_ROWS)];
    add(queue, ['new', 'm1']);
    expect([one, queue.next(START, MAX_ROWS)]).toMatchObject([{ position: 1 }, { position: 26 }]);
  });

  test('that fills the queue with refused messages is tried before their time, as others are', () => {
    const queue = createQueue({ ...ENDPOINT, replay }, []);
    add(queue, ids(1, 3));
    queue.share(START);
    settle(queue, take(queue), false);
    queue.share(START + 5_000);
    settle(queue, take(queue, START + 5_000), false, START + 5_000);
    const at = START + 305_000;
    queue.share(at);
    settle(queue, take(queue, at), false, at);
    expect([at + 299_999, at + 300_000].map((now) => queue.wantsShare(now, 3))).toEqual([
      false,
      true,
    ]);
  });

  test('is read 1,000 events a second, as far as messages may wait, and past its end at once', () => {
    const queue = createQueue({ ...ENDPOINT, replay: { ...replay, to: 1_500 } }, []);
    const read = (now: number, maxRows = MAX_ROWS) => {
      const before = queue.readTo();
      while (queue.readTo() < 3_000 && queue.wantsEvents(now, maxRows))
        add(queue, ids(queue.readTo() + 1, 100));
      return queue.readTo() - before;
    };
    expect([read(START), queue.wantsShare(START, MAX_ROWS)]).toEqual([0, true]);
    queue.share(START);
    expect([read(START, 400), read(START), read(START + 999)]).toEqual([400, 600, 0]);
    expect([500, 1_000].map((ms) => queue.wantsShare(START + ms, MAX_ROWS))).toEqual([false, true]);
    // An edit begins another share, which comes after those that are taken.
    queue.share(START + 5_000);
    expect([read(START + 4_999), read(START + 6_000)]).toEqual([0, 0]);
    queue.share(START + 6_000);
    expect(read(START + 6_000)).toBe(2_000);
    expect(queueOf(ids(1, 100)).wantsEvents(START, MAX_ROWS)).toBe(false);
  });

  test('goes on after a takeover, with what was sent beyond its end, and takes shares for retries', () => {
    const before = createQueue({ ...ENDPOINT, replay }, []);
    add(before, [...ids(1, 25), 'new']);
    settle(before, take(before));
    const state = omitUndefined(before.state(START));
    const queue = createQueue({ ...ENDPOINT, ...state }, []);
    add(queue, [...ids(1, 25), 'new']);
    expect(take(queue)).toEqual([]);
    queue.share(START);
    const first = take(queue);
    settle(queue, first, false);
    expect([first.length, queue.wantsShare(START + 1, MAX_ROWS)]).toEqual([10, false]);
    queue.share(START + 5_000);
    expect(positions(take(queue, START + 5_000))).toEqual([1]);
  });

  test('keeps what an endpoint that recovers has released, until its share comes', () => {
    const queue = createQueue({ ...ENDPOINT, replay }, []);
    add(queue, ids(1, 25));
    queue.share(START);
    const first = take(queue);
    settle(queue, first, false);
    queue.share(START + 5_000);
    const [probe] = take(queue, START + 5_000);
    if (probe === undefined) throw new Error('not taken');
    queue.done(probe, OK, START + 5_000, MAX_ROWS);
    queue.share(START + 6_000);
    expect(take(queue, START + 5_500)).toEqual([]);
    const sent: number[] = [];
    for (let at = START + 6_000; at < START + 6_500; at += 20)
      sent.push(...positions(take(queue, at)));
    expect(sent).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test('gives rows to what waits behind a refused message in shares of ten', () => {
    const queue = createQueue({ ...ENDPOINT, replay: { ...replay, to: 2_000 } }, []);
    add(queue, Array(2_001).fill('ada'));
    const rows = new Map<string, WaitingMessage>();
    const stored = () => [...write(queue, rows).values()].map(({ position }) => position);
    queue.share(START);
    fail(queue);
    expect(stored()).toEqual([1, 2_001]);
    expect([take(queue, START + 1), queue.position()]).toEqual([[], 10]);
    expect(queue.wakeAt(START + 1)).toBe(START + 1_000);
    expect(queue.wantsShare(START + 1_000, MAX_ROWS)).toBe(true);
    queue.share(START + 2_000);
    expect([take(queue, START + 1_999), stored().length]).toEqual([[], 11]);
    expect([take(queue, START + 2_000), stored().length]).toEqual([[], 21]);
    expect(queue.state(START + 2_000)).toMatchObject({ position: 20, replay: { to: 2_000 } });
  });

  test('lets a retry go before what waits behind it gets a row, and others after that', () => {
    const queue = createQueue({ ...ENDPOINT, replay }, []);
    add(queue, [...Array(20).fill('ada'), ...ids(1, 5)]);
    queue.share(START);
    settle(
      queue,
      [queue.next(START, MAX_ROWS)].flatMap((one) => one ?? []),
      false,
    );
    expect(take(queue)).toEqual([]);
    expect(queue.position()).toBe(10);
    queue.share(START + 5_000);
    expect(positions(take(queue, START + 5_000))).toEqual([1]);
    expect(queue.position()).toBe(19);
  });

  test('that is refused goes on in shares after it has ended, whoever takes over', () => {
    const before = createQueue({ ...ENDPOINT, replay }, []);
    add(before, Array(25).fill('ada'));
    const rows = new Map<string, WaitingMessage>();
    for (const at of [0, 1_000, 2_000, 3_000].map((ms) => START + ms)) {
      before.share(at);
      settle(before, take(before, at), false, at);
      write(before, rows);
    }
    const state = omitUndefined(before.state(START + 3_000));
    expect(state).toMatchObject({ position: 25, waiting: 25 });
    expect(state).not.toHaveProperty('replay');
    const queue = createQueue({ ...ENDPOINT, ...state }, [...rows.values()]);
    expect(take(queue, START + 5_000)).toEqual([]);
    for (let at = 1; at <= 25; at += 1)
      if (at % 10 === 1) expect(shared(queue, START + 5_000 + at * 100)).toEqual([at]);
      else settle(queue, take(queue, START + 5_000 + (at - ((at - 1) % 10)) * 100));
    expect(queue.messages()).toEqual([]);
  });

  test('of one message takes a share, and no other waits for it', () => {
    const row = {
      messageId: 'wh_1/1',
      position: 1,
      memberId: 'ada',
      occurredAt: START,
      attempts: 0,
    };
    const queue = createQueue({ ...ENDPOINT, position: 1 }, [{ ...row, isReplayed: true }]);
    add(queue, ['bob']);
    expect(positions(take(queue))).toEqual([2]);
    expect(shared(queue, START)).toEqual([1]);
  });
});
