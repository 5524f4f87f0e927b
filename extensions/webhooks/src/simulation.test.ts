// Histories of an endpoint, its processes and its receiver, each made from a seed.
import type { Table } from '@partner-loyalty/runtime/store/table.ts';
import type { Event } from '@partner-loyalty/standings/rules/event.ts';
import type {
  DeliveryLog,
  Endpoint,
  WaitingMessage,
} from '@partner-loyalty/standings/store/webhooks.ts';
import { seeded } from '../../../test/support/cases/operations.ts';
import { ATTEMPT_MS } from './delivery.ts';
import { type Hold, isFree, LEASE_MS, saveEndpoint, takeEndpoint } from './holding.ts';
import type { Queue } from './queue.ts';

const HISTORIES = 1_000;
const START = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ID = 'wh_1';

class Killed extends Error {}

type Rows<Row> = Map<string, Row>;
type World = {
  endpoints: Rows<Endpoint>;
  waiting: Rows<WaitingMessage>;
  logs: Rows<DeliveryLog>;
};
type Attempt = { message: WaitingMessage; endsAt: number; isOk: boolean };
type Process = {
  hold?: Hold | undefined;
  attempts: Attempt[];
  /** Until then it is dead, or stands still. */
  wakesAt: number;
  /** How many more writes it lives for. */
  writes: number;
};

/** A table in memory, whose user is killed before or after one of its writes. */
function tableOf<Row extends object>(rows: Rows<Row>, id: keyof Row, onWrite: () => () => void) {
  const idOf = (row: Row) => String(row[id]);
  const update: Table<Row>['update'] = async (key, change) => {
    const before = rows.get(key);
    const after = change(before && structuredClone(before));
    const written = onWrite();
    if (after === undefined) rows.delete(key);
    else rows.set(key, structuredClone(after));
    written();
    return after;
  };
  return {
    update,
    put: async (row: Row) => void (await update(idOf(row), () => row)),
    remove: async (key: string) => void (await update(key, () => undefined)),
    startingWith: async () => structuredClone([...rows.values()]),
    async removeWhere(isUnwanted: (row: Row) => boolean) {
      const unwanted = [...rows.values()].filter(isUnwanted);
      for (const row of unwanted) await update(idOf(row), () => undefined);
      return unwanted.length;
    },
  } as unknown as Table<Row>; // Cast: the rules of holding use no more of it.
}

/**
 * Processes are killed between any two writes, or stand still and do not know. The receiver fails,
 * hangs, loses replies, refuses one member's events, and recovers.
 */
async function simulate(seed: number): Promise<void> {
  const random = seeded(seed);
  const upTo = (most: number) => Math.floor(random() * most);
  const maxRows = random() < 0.5 ? 8 : 10_000;
  const oneOf = <T>(...values: T[]): T => values[upTo(values.length)] as T; // Cast: it is in range.
  const world: World = { endpoints: new Map(), waiting: new Map(), logs: new Map() };
  const feed: Event[] = [];
  const processes: Process[] = [0, 1].map(() => ({ attempts: [], wakesAt: START, writes: 20 }));
  /** When the receiver was asked for each position, and when it first responded with success. */
  const asked = new Map<number, number>();
  const received = new Map<number, number>();
  const order: number[] = [];
  let now = START;
  world.endpoints.set(ID, {
    webhookId: ID,
    partnerId: 'inn',
    url: 'https://example.com/',
    state: 'active',
    secrets: [],
    position: 0,
    revision: 0,
    createdAt: START,
  });

  // Everything that goes wrong ends at some time, which lets each message be delivered.
  const faultsEnd = START + oneOf(MINUTE_MS, 10 * MINUTE_MS, 4 * HOUR_MS, 100 * HOUR_MS);
  const end = faultsEnd + 100 * HOUR_MS;
  const appends = Array.from(
    { length: 5 + upTo(30) },
    () => START + random() * (faultsEnd - START),
  );
  appends.sort((one, other) => one - other);
  let mode = { name: 'ok', until: START };
  const modes = ['ok', 'ok', 'failing', 'slow', 'flaky', 'lossy', 'one member'] as const;
  const areFaulty = () => now < faultsEnd;
  let hasRecovered = false;
  const mostAttempts = (queue: Queue) => (queue.isOneByOne() ? 1 : 3);

  function append(): void {
    const memberId = oneOf('ada', 'bob', 'eve', undefined);
    const mergedMemberId =
      memberId !== undefined && upTo(6) === 0 ? oneOf('ada', 'bob', 'max') : undefined;
    feed.push({
      id: `e-${feed.length + 1}`,
      type: 'POINTS_CHANGED',
      partnerId: 'inn',
      occurredAt: now,
      ...(memberId && { memberId }),
      ...(mergedMemberId && { mergedMemberId }),
    });
  }

  /** As `replayEvents` does, if no replay is running. */
  function replay(): void {
    const row = world.endpoints.get(ID);
    if (row === undefined || row.replay !== undefined) return;
    const { position: to, revision, lastAttemptAt, ...rest } = row;
    const after = upTo(to + 1);
    const position = { position: after, replay: { after, to, startedAt: now } };
    world.endpoints.set(ID, { ...rest, ...position, revision: revision + 1 });
  }

  /** As an edit or a new secret does. */
  function edit(): void {
    const { lastAttemptAt, ...rest } = world.endpoints.get(ID) as Endpoint; // Cast: it stays.
    world.endpoints.set(ID, { ...rest, revision: rest.revision + 1 });
  }

  /** The receiver is asked. What the process learns of it comes later. */
  function ask(message: WaitingMessage): Attempt {
    if (now >= mode.until)
      mode = {
        name: oneOf(...modes),
        until: now + random() * oneOf(MINUTE_MS, HOUR_MS, 30 * HOUR_MS),
      };
    const name = areFaulty() ? mode.name : 'ok';
    const isOk =
      name === 'flaky'
        ? upTo(2) === 0
        : name === 'one member'
          ? message.memberId !== 'ada'
          : name !== 'failing';
    const attempts = (asked.get(message.position) ?? 0) + 1;
    asked.set(message.position, attempts);
    if (isOk && !received.has(message.position)) {
      received.set(message.position, now);
      // A replay sends what was given up after what came later.
      if (attempts <= 10) order.push(message.position);
    }
    const isLost = name === 'lossy' && upTo(2) === 0;
    const takesMs = isLost ? 15_000 : name === 'slow' ? upTo(15_000) : upTo(100);
    return { message, endsAt: now + takesMs, isOk: isOk && !isLost };
  }

  const tablesFor = (process: Process) => {
    const onWrite = () => {
      process.writes -= 1;
      const dies = process.writes === 0 && areFaulty();
      const isBefore = upTo(2) === 0;
      if (dies && isBefore) throw new Killed();
      return () => {
        if (dies) throw new Killed();
      };
    };
    return {
      endpoints: tableOf(world.endpoints, 'webhookId', onWrite),
      waiting: tableOf(world.waiting, 'messageId', onWrite),
      logs: tableOf(world.logs, 'webhookId', onWrite),
    };
  };

  function start(process: Process, hold: Hold): void {
    const { queue } = hold;
    if (now >= hold.until - ATTEMPT_MS) return;
    if (queue.wantsShare(now, maxRows)) queue.share(now + upTo(2) * upTo(2_000));
    while (process.attempts.length < mostAttempts(queue)) {
      const message = queue.next(now, maxRows);
      if (message === undefined) return;
      for (const other of processes)
        if (other !== process && other.attempts.some(({ endsAt }) => endsAt > now))
          throw new Error('two processes deliver at the same time');
      const row = world.waiting.get(message.messageId);
      // An endpoint that is full tries them earlier, and one that has recovered.
      if ((row?.nextAt ?? 0) > now && maxRows === 10_000 && !hasRecovered)
        throw new Error(`${message.position} is sent before its time`);
      process.attempts.push(ask(message));
    }
  }

  /** One turn of a process, as delivery.ts has it. */
  async function turn(process: Process): Promise<void> {
    const tables = tablesFor(process);
    const row = world.endpoints.get(ID);
    if (process.hold === undefined && row !== undefined && isFree(row, now))
      process.hold = await takeEndpoint(tables, ID, now);
    const { hold } = process;
    if (hold === undefined) return;
    // It stood still, and another one may hold the lease.
    if (now >= hold.until) Object.assign(process, { attempts: [], hold: undefined });
    if (process.hold === undefined) return;
    const { queue } = hold;
    const ended = process.attempts.filter(({ endsAt }) => endsAt <= now);
    process.attempts = process.attempts.filter(({ endsAt }) => endsAt > now);
    for (const { message, isOk: ok } of ended) {
      hasRecovered ||= ok && queue.isFailing();
      queue.done(message, { ok, ...(!ok && { status: 500 }) }, now, maxRows, feed.length);
    }
    const isChanged = world.endpoints.get(ID)?.revision !== hold.endpoint.revision;
    if (!isChanged) start(process, hold);
    if (!isChanged && queue.wantsEvents(now, maxRows) && queue.readTo() < feed.length) {
      const from = queue.readTo();
      const events = feed.slice(from, from + 1 + upTo(5));
      queue.add(
        events.map((event, index) => ({ position: from + index + 1, event })),
        from + events.length,
      );
    }
    if (!isChanged) start(process, hold);
    const mayEnd = isChanged || (areFaulty() && upTo(20) === 0);
    const isEnding = mayEnd && process.attempts.length === 0;
    if (isEnding || upTo(2) === 0 || ended.some(({ isOk }) => !isOk))
      if (!(await saveEndpoint(tables, hold, now, isEnding ? {} : undefined)) || isEnding)
        Object.assign(process, { attempts: [], hold: undefined });
  }

  /** When a process has something to do next. */
  function nextOf({ hold, attempts, wakesAt }: Process): number {
    if (wakesAt > now) return wakesAt;
    const isHeld = processes.some((other) => other.hold !== undefined && other.wakesAt <= now);
    if (hold === undefined)
      return isHeld ? end : Math.max(now + 1_000, world.endpoints.get(ID)?.lease?.until ?? 0);
    const { queue } = hold;
    const { position, replay: { to = 0 } = {} } = world.endpoints.get(ID) as Endpoint; // Cast: it stays.
    const isBusy =
      queue.position() !== position ||
      (queue.readTo() < to && queue.messages().length < maxRows) ||
      (queue.wantsEvents(now, maxRows) && queue.readTo() < feed.length);
    return Math.max(
      now + 1,
      Math.min(
        ...attempts.map(({ endsAt }) => endsAt),
        attempts.length < mostAttempts(queue) ? queue.wakeAt(now) : Number.POSITIVE_INFINITY,
        isBusy ? now + 500 : Number.POSITIVE_INFINITY,
        // One that is full is probed.
        world.waiting.size >= maxRows ? now + 5 * MINUTE_MS : Number.POSITIVE_INFINITY,
      ),
    );
  }

  /** Idle processes renew their leases every five seconds, which no history has to show. */
  function renew(): void {
    const row = world.endpoints.get(ID);
    for (const { hold, wakesAt } of processes)
      if (hold !== undefined && wakesAt <= now && row?.lease?.token === hold.token) {
        hold.until = now + LEASE_MS;
        row.lease.until = hold.until;
      }
  }

  for (let turns = 0; now < end; turns += 1) {
    if (turns > 20_000) throw new Error('it never ends');
    const isAllDone =
      !areFaulty() &&
      feed.every((_, index) => received.has(index + 1) || (asked.get(index + 1) ?? 0) >= 10);
    if (isAllDone && world.waiting.size === 0 && world.endpoints.get(ID)?.position === feed.length)
      break;
    while ((appends[0] ?? end) <= now) {
      appends.shift();
      append();
    }
    if (areFaulty() && upTo(200) === 0) replay();
    if (areFaulty() && upTo(300) === 0) edit();
    for (const process of processes) {
      if (process.wakesAt > now) continue;
      const fate = areFaulty() ? upTo(40) : -1;
      // It stands still, and does not know.
      if (fate === 0) process.wakesAt = now + upTo(MINUTE_MS);
      if (process.wakesAt > now) continue;
      try {
        await turn(process);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        const wakesAt = now + upTo(MINUTE_MS);
        Object.assign(process, { hold: undefined, attempts: [], wakesAt, writes: 1 + upTo(40) });
      }
    }
    now = Math.min(appends[0] ?? end, ...processes.map(nextOf), end);
    renew();
  }

  for (const [index] of feed.entries())
    if (!received.has(index + 1) && (asked.get(index + 1) ?? 0) < 10)
      throw new Error(`${index + 1} was neither delivered nor given up`);
  const places = new Map(order.map((position, index) => [position, index] as const));
  for (const memberId of ['ada', 'bob', 'eve', 'max']) {
    const own = feed.flatMap((event, index) =>
      event.memberId === memberId || event.mergedMemberId === memberId
        ? (places.get(index + 1) ?? [])
        : [],
    );
    if (own.some((place, index) => place < (own[index - 1] ?? -1)))
      throw new Error(`the events of ${memberId} came in another order`);
  }
}

/** TEST_SEED=1234 repeats the history of a failure, whose message has the seed. */
test(`in ${HISTORIES} histories, every event is delivered or given up after its attempts, in order per member, by one process at a time, and none before its time`, async () => {
  const { TEST_SEED } = process.env;
  const first = TEST_SEED === undefined ? Date.now() % 2 ** 20 : Number(TEST_SEED);
  for (let seed = first; seed < first + (TEST_SEED === undefined ? HISTORIES : 1); seed += 1)
    await simulate(seed).catch((error: unknown) => {
      throw new Error(`TEST_SEED=${seed}`, { cause: error });
    });
});
