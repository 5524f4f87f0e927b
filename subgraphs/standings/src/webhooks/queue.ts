// The queue of one endpoint: what to send next, in order per member, and when to try again.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { EventPage } from '../store/feed.ts';
import type { Endpoint, WaitingMessage } from '../store/webhooks.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** How long after each failed attempt the next one comes. After the last, there is none. */
export const RETRY_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
/** An endpoint is disabled once it has failed for so long without a success. */
export const FAILING_MS = 5 * DAY_MS;
/** How often an endpoint is tried that has as many messages waiting as it may have. */
const PROBE_MS = 5 * MINUTE_MS;
/** Of messages that are read ahead. */
const READ_AHEAD = 100;

export type Queue = ReturnType<typeof createQueue>;

/**
 * Begins where an endpoint is stored, with its rows. It does no I/O: what `changes` returns has to
 * be written before a position that is read later. Times are in milliseconds since 1970.
 */
export function createQueue(
  { webhookId, position, failingSince }: Endpoint,
  stored: readonly WaitingMessage[],
) {
  let readTo = position;
  let failing = failingSince;
  let triedAt = 0;
  /** Every message that is neither delivered nor given up. */
  const messages = new Map<number, WaitingMessage>();
  /** Those without a row, in the order of positions. */
  const unstored = new Set<number>();
  /** Those of each member, in their order. A message that is first of all its members may go. */
  const byMember = new Map<string, WaitingMessage[]>();
  const fresh: WaitingMessage[] = [];
  const retries = new Set<WaitingMessage>();
  /** Rows of events that are not read again yet: the position had not been written. */
  const ahead = new Map<number, WaitingMessage>();
  let changed = new Map<string, WaitingMessage | undefined>();

  function put(message: WaitingMessage, hasRow: boolean): void {
    messages.set(message.position, message);
    if (!hasRow) unstored.add(message.position);
    const lists = membersOf(message).map((memberId) => listOf(byMember, memberId));
    const isBehindRow = lists.some((list) => {
      const before = list.at(-1);
      return before !== undefined && !unstored.has(before.position);
    });
    for (const list of lists) list.push(message);
    if (isFirst(message)) makeReady(message);
    else if (isBehindRow && !hasRow) keep(message);
  }

  function isFirst(message: WaitingMessage): boolean {
    return membersOf(message).every((memberId) => byMember.get(memberId)?.[0] === message);
  }

  function makeReady(message: WaitingMessage): void {
    if (message.nextAt === undefined) fresh.push(message);
    else retries.add(message);
  }

  /** The retry that is due first. */
  function firstRetry(): { retry?: WaitingMessage; dueAt: number } {
    let first: ReturnType<typeof firstRetry> = { dueAt: Number.POSITIVE_INFINITY };
    for (const retry of retries)
      if (retry.nextAt !== undefined && retry.nextAt < first.dueAt)
        first = { retry, dueAt: retry.nextAt };
    return first;
  }

  /** Gives a message a row, and with it those that wait behind it. */
  function keep(message: WaitingMessage): void {
    unstored.delete(message.position);
    changed.set(message.messageId, message);
    for (const memberId of membersOf(message))
      for (const later of byMember.get(memberId) ?? [])
        if (later.position > message.position && unstored.has(later.position)) keep(later);
  }

  function remove(message: WaitingMessage): void {
    messages.delete(message.position);
    if (!unstored.delete(message.position)) changed.set(message.messageId, undefined);
    for (const memberId of membersOf(message)) {
      const list = listOf(byMember, memberId);
      list.shift();
      const [next] = list;
      if (next === undefined) byMember.delete(memberId);
      else if (isFirst(next)) makeReady(next);
    }
  }

  for (const row of [...stored].sort((one, other) => one.position - other.position))
    if (row.position <= position) put(row, true);
    else ahead.set(row.position, row);

  const isFull = (maxRows: number) => messages.size - unstored.size >= maxRows;

  return {
    readTo: () => readTo,
    /** Whether there is room for the next page of the feed; `maxRows` is how many may wait. */
    wantsEvents: (maxRows: number) => unstored.size < READ_AHEAD && !isFull(maxRows),
    /** Adds the events of the feed after `readTo`, up to `end`. */
    add(events: EventPage['events'], end: number): void {
      for (const { position: at, event } of events) {
        const { memberId, mergedMemberId, occurredAt } = event;
        const messageId = `${webhookId}/${at}`;
        const known = ahead.get(at);
        const message = { messageId, position: at, occurredAt, attempts: 0 };
        put(known ?? omitUndefined({ ...message, memberId, mergedMemberId }), known !== undefined);
        ahead.delete(at);
      }
      readTo = end;
    },
    /** Takes the message to send now: a retry that is due, or else a new one. */
    next(now: number, maxRows: number): WaitingMessage | undefined {
      const { retry, dueAt } = firstRetry();
      const isProbe = fresh.length === 0 && isFull(maxRows) && now - triedAt >= PROBE_MS;
      const message = dueAt <= now || isProbe ? retry : fresh.shift();
      if (message === undefined) return undefined;
      retries.delete(message);
      triedAt = now;
      return message;
    },
    /** Notes what became of a message that `next` has returned. */
    done(
      message: WaitingMessage,
      isDelivered: boolean,
      now: number,
      maxRows: number,
    ): 'delivered' | 'failed' | 'waits' {
      message.attempts += 1;
      if (isDelivered) {
        failing = undefined;
        // What waits may keep new events out.
        if (isFull(maxRows)) for (const retry of retries) retry.nextAt = now;
        remove(message);
        return 'delivered';
      }
      failing ??= now;
      const retryMs = RETRY_MS[message.attempts - 1];
      if (retryMs === undefined) {
        remove(message);
        return 'failed';
      }
      message.nextAt = now + retryMs;
      keep(message);
      makeReady(message);
      return 'waits';
    },
    /** Leaves out a message whose event was dropped. */
    drop: remove,
    /** Each event up to there is delivered, given up, or has a row once `changes` are written. */
    position(): number {
      const [first] = unstored;
      return first === undefined ? readTo : first - 1;
    },
    /** Since when no attempt has succeeded, if the last one failed. */
    failingSince: () => failing,
    /** When the next retry is due. */
    wakeAt: () => firstRetry().dueAt,
    hasRows: () => messages.size > unstored.size,
    hasChanges: () => changed.size > 0,
    /** Takes the rows to write, by ID; undefined is one to remove. */
    changes(): Map<string, WaitingMessage | undefined> {
      const taken = changed;
      changed = new Map();
      return taken;
    },
    /** What is neither delivered nor given up, in no order. */
    messages: () => [...messages.values()],
  };
}

function membersOf({ memberId, mergedMemberId }: WaitingMessage): string[] {
  return [...new Set([memberId, mergedMemberId])].filter((id) => id !== undefined);
}

function listOf(lists: Map<string, WaitingMessage[]>, memberId: string): WaitingMessage[] {
  const list = lists.get(memberId) ?? [];
  lists.set(memberId, list);
  return list;
}
