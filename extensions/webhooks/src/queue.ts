// The queue of one endpoint: what to send next, in order per member, and when to try again.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { EventPage } from '@partner-loyalty/standings/store/feed.ts';
import {
  type Endpoint,
  messageIdOf,
  type WaitingMessage,
} from '@partner-loyalty/standings/store/webhooks.ts';
import type { Sent } from './send.ts';

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
/** After so many attempts in a row without a success, an endpoint is failing. */
const FAILING_AFTER = 10;
/** The time between two attempts of a failing endpoint, doubled after each up to `most`. */
const PROBE_MS = { first: 5 * SECOND_MS, most: 5 * MINUTE_MS };
/** The time between two attempts, until what waited for an endpoint to recover is sent. */
const PACE_MS = 20;
/** How many messages are read ahead. */
const READ_AHEAD = 100;
/** How many replayed messages of a partner may be sent or get a row, and how many may be read. */
export const REPLAY_SHARE = { messages: 10, reads: 1_000, ms: SECOND_MS };

export type Queue = ReturnType<typeof createQueue>;

type HealthField = 'failingSince' | 'failures' | 'lastStatus' | 'lastReason' | 'lastAttemptAt';
type Health = { [Name in HealthField]?: Endpoint[Name] | undefined };

const NO_FAILURE = { lastStatus: undefined, lastReason: undefined };

export function isFailing({ failingSince, failures = 0 }: Health): boolean {
  return failingSince !== undefined && failures >= FAILING_AFTER;
}

function probeMs({ failures = 0 }: Health): number {
  return Math.min(PROBE_MS.first * 2 ** (failures - FAILING_AFTER), PROBE_MS.most);
}

/**
 * Begins where an endpoint is stored, with its rows. It does no I/O: what `changes` returns has to
 * be written before a position that is read later. Times are in milliseconds since 1970.
 */
export function createQueue(
  { webhookId, position, replay, releasedTo: lastReleased = 0, ...endpoint }: Endpoint,
  stored: readonly WaitingMessage[],
) {
  const { failingSince, failures, lastStatus, lastReason, lastAttemptAt } = endpoint;
  let readTo = position;
  let health: Health = { failingSince, failures, lastStatus, lastReason, lastAttemptAt };
  /** The position of the last message that was sent. */
  let lastSent = 0;
  /** After a recovery, what waits up to there is due, but for what has failed since. */
  let releasedTo = lastReleased;
  const failedSince = new Set<WaitingMessage>();
  let pacedUntil = 0;
  /** The furthest position that was sent. */
  let sentTo = position;
  /** The share of a replay: when it begins, how many messages are left, and how far to read. */
  let share = { from: 0, left: 0, readTo: 0 };
  /** Every message that is neither delivered nor given up. */
  const messages = new Map<number, WaitingMessage>();
  /** The messages without a row, in the order of positions. */
  const unstored = new Set<number>();
  /** Each member's messages, in order. A message that is first for all its members may go. */
  const byMember = new Map<string, WaitingMessage[]>();
  /** The messages that may go once they are due. */
  const ready = new Set<WaitingMessage>();
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
    if (isFirst(message)) ready.add(message);
    else if (isBehindRow && !hasRow && !isReplayed(message)) keep(message);
  }

  function isFirst(message: WaitingMessage): boolean {
    return membersOf(message).every((memberId) => byMember.get(memberId)?.[0] === message);
  }

  function isDue(message: WaitingMessage, now: number): boolean {
    const { position: at, nextAt = 0 } = message;
    return (
      nextAt <= now || message.isAsked === true || (at <= releasedTo && !failedSince.has(message))
    );
  }

  const isReplayed = (message: WaitingMessage) => message.isReplayed === true;

  const isInShare = (now: number) => share.from <= now && now < share.from + REPLAY_SHARE.ms;

  const mayUseShare = (now: number) => share.left > 0 && isInShare(now);

  /** The first message without a row, if it waits behind a row. Only a replayed one may. */
  function blocked(): WaitingMessage | undefined {
    const [first = -1] = unstored;
    const message = messages.get(first);
    return message === undefined || isFirst(message) ? undefined : message;
  }

  /** Gives rows to what is blocked, in one order with what is sent again. */
  function keepBlocked(now: number): void {
    for (let first = blocked(); first !== undefined && mayUseShare(now); first = blocked()) {
      const due = oldestDue(now, 0, isReplayed);
      if (due !== undefined && due.position < first.position) return;
      keep(first);
      share.left -= 1;
    }
  }

  /** The oldest message after a position that is due and wanted; by default, any. */
  function oldestDue(
    now: number,
    after = 0,
    isWanted: (message: WaitingMessage) => boolean = () => true,
  ): WaitingMessage | undefined {
    let oldest: WaitingMessage | undefined;
    for (const message of ready)
      if (message.position > after && isDue(message, now) && isWanted(message))
        if (oldest === undefined || message.position < oldest.position) oldest = message;
    return oldest;
  }

  /** No message may go before. */
  function mayGoAt(): number {
    return isFailing(health) ? (health.lastAttemptAt ?? 0) + probeMs(health) : pacedUntil;
  }

  /** When the next message may go; it may be in the past. */
  function wakeAt(now: number): number {
    const shareAt = share.left > 0 ? share.from : share.from + REPLAY_SHARE.ms;
    let dueAt = blocked() === undefined ? Number.POSITIVE_INFINITY : shareAt;
    for (const message of ready) {
      const from = isReplayed(message) ? shareAt : 0;
      dueAt = Math.min(dueAt, isDue(message, now) ? from : (message.nextAt ?? 0));
    }
    return Math.max(mayGoAt(), dueAt);
  }

  function release(to: number): void {
    releasedTo = to;
    failedSince.clear();
  }

  /** Gives a message a row, and with it those that wait behind it and are not replayed. */
  function keep(first: WaitingMessage): void {
    const kept = [first];
    /** From which position on all messages of a member are kept. */
    const keptFrom = new Map<string, number>();
    unstored.delete(first.position);
    for (const message of kept) {
      changed.set(message.messageId, message);
      for (const memberId of membersOf(message)) {
        if ((keptFrom.get(memberId) ?? Number.POSITIVE_INFINITY) <= message.position) continue;
        keptFrom.set(memberId, message.position);
        const list = byMember.get(memberId) ?? [];
        // From the end, since most messages are the last ones of their members.
        for (let at = list.length - 1; at >= 0; at -= 1) {
          const later = list[at];
          if (later === undefined || later.position <= message.position) break;
          if (!isReplayed(later) && unstored.delete(later.position)) kept.push(later);
        }
      }
    }
  }

  function remove(message: WaitingMessage): void {
    messages.delete(message.position);
    if (!unstored.delete(message.position)) changed.set(message.messageId, undefined);
    for (const memberId of membersOf(message)) {
      const list = listOf(byMember, memberId);
      list.shift();
      const [next] = list;
      if (next === undefined) byMember.delete(memberId);
      else if (isFirst(next)) ready.add(next);
    }
  }

  for (const row of [...stored].sort((one, other) => one.position - other.position))
    if (row.position <= position) put(row, true);
    else ahead.set(row.position, row);

  const isFull = (maxRows: number) => messages.size - unstored.size >= maxRows;

  /** A message that is always refused holds up the others for some minutes only. */
  const isStuck = (now: number, maxRows: number) =>
    isFull(maxRows) && now - (health.lastAttemptAt ?? 0) >= PROBE_MS.most;

  /** Each event up to there is delivered, given up, or has a row once `changes` are written. */
  function storable(): number {
    const [first] = unstored;
    return first === undefined ? readTo : first - 1;
  }

  const isReplaying = () => replay !== undefined && storable() < replay.to;

  const isReadingReplay = () => replay !== undefined && readTo < replay.to;

  const hasRoom = (maxRows: number) =>
    (isReplaying() ? messages.size < maxRows : unstored.size < READ_AHEAD) && !isFull(maxRows);

  return {
    readTo: () => readTo,
    /**
     * Whether the next page of the feed may be read; `maxRows` is how many messages may wait. It
     * reads past a replay, so that new events wait only for those of their members.
     */
    wantsEvents: (now: number, maxRows: number) =>
      hasRoom(maxRows) && (!isReadingReplay() || (isInShare(now) && readTo < share.readTo)),
    /** Whether a replay, or something else that is sent again, needs another share to go on. */
    wantsShare(now: number, maxRows: number): boolean {
      if (now < share.from + REPLAY_SHARE.ms) return false;
      if (isReadingReplay() && hasRoom(maxRows)) return true;
      const dueAt = isStuck(now, maxRows) ? Number.POSITIVE_INFINITY : now;
      const next = blocked() ?? oldestDue(dueAt, 0, isReplayed);
      return now >= mayGoAt() && next !== undefined;
    },
    /** Lets a replay be read and sent from `from` on, for a second. */
    share(from: number): void {
      share = { from, left: REPLAY_SHARE.messages, readTo: readTo + REPLAY_SHARE.reads };
    },
    /** Adds the events of the feed after `readTo`, up to `end`. */
    add(events: EventPage['events'], end: number): void {
      for (const { position: at, event } of events) {
        const { id: eventId, type, memberId, mergedMemberId, occurredAt } = event;
        const messageId = messageIdOf(webhookId, at);
        const known = ahead.get(at);
        const sentAgain = replay !== undefined && at <= replay.to && { isReplayed: true as const };
        const message = { messageId, position: at, occurredAt, attempts: 0, ...sentAgain };
        const of = { eventId, type, memberId, mergedMemberId };
        put(known ?? omitUndefined({ ...message, ...of }), known !== undefined);
        ahead.delete(at);
      }
      readTo = end;
    },
    /** Takes the message to send now: the oldest that is due, those of a replay last. */
    next(now: number, maxRows: number): WaitingMessage | undefined {
      if (now < mayGoAt()) return undefined;
      const isSlow = isFailing(health) && probeMs(health) === PROBE_MS.most;
      keepBlocked(now);
      const isShared = mayUseShare(now);
      const mayGo = (one: WaitingMessage) => isShared || !isReplayed(one);
      const asked = oldestDue(now, 0, (one) => one.isAsked === true && mayGo(one));
      const probe = isSlow ? oldestDue(now, lastSent, mayGo) : undefined;
      const fresh = isFailing(health) ? probe : oldestDue(now, 0, (one) => !isReplayed(one));
      const message =
        asked ??
        fresh ??
        (isShared || isFailing(health) ? oldestDue(now, 0, mayGo) : undefined) ??
        (isStuck(now, maxRows) ? oldestDue(Number.POSITIVE_INFINITY, 0, mayGo) : undefined);
      const released = releasedTo > 0 ? oldestDue(now) : message;
      if (readTo >= releasedTo && (released?.position ?? releasedTo + 1) > releasedTo) release(0);
      if (message === undefined) return undefined;
      ready.delete(message);
      if (isReplayed(message)) share.left -= 1;
      lastSent = message.position;
      sentTo = Math.max(sentTo, lastSent);
      health = { ...health, lastAttemptAt: now };
      if (releasedTo > 0) pacedUntil = now + PACE_MS;
      return message;
    },
    /**
     * Notes what became of a message that `next` has returned. What waits up to `end` is due if the
     * endpoint recovers.
     */
    done(
      message: WaitingMessage,
      { ok, status, reason }: Pick<Sent, 'ok' | 'status' | 'reason'>,
      now: number,
      maxRows: number,
      end = readTo,
    ): 'delivered' | 'failed' | 'waits' {
      const wasFailing = isFailing(health);
      if (ok) {
        if (wasFailing || isFull(maxRows)) release(end);
        health = { ...health, failures: undefined, failingSince: undefined, lastAttemptAt: now };
        message.attempts += 1;
        remove(message);
        return 'delivered';
      }
      health = {
        failures: (health.failures ?? 0) + 1,
        failingSince: health.failingSince ?? now,
        lastStatus: status,
        lastReason: status === undefined ? reason : undefined,
        lastAttemptAt: now,
      };
      if (isFailing(health)) release(0);
      else failedSince.add(message);
      message.isAsked = undefined;
      // What comes before its time does not count.
      if (!wasFailing && (message.nextAt ?? 0) <= now) {
        message.attempts += 1;
        const retryMs = RETRY_MS[message.attempts - 1];
        if (retryMs === undefined) {
          remove(message);
          return 'failed';
        }
        message.nextAt = now + retryMs;
      }
      keep(message);
      ready.add(message);
      return 'waits';
    },
    /** Leaves out a message whose event was dropped, and which was not sent. */
    drop(message: WaitingMessage): void {
      health = { ...health, lastAttemptAt: undefined };
      remove(message);
    },
    position: storable,
    /** What to store of the endpoint. */
    state(now: number) {
      const end = storable();
      const all = [...messages.values()];
      const retryAt = Math.min(...all.map(({ nextAt = Number.POSITIVE_INFINITY }) => nextAt));
      const nextAt = isFailing(health) ? Math.min(wakeAt(now), retryAt) : retryAt;
      return {
        ...health,
        ...(retryAt === Number.POSITIVE_INFINITY && !isFailing(health) && NO_FAILURE),
        nextAttemptAt: Number.isFinite(nextAt) ? Math.max(nextAt, mayGoAt()) : undefined,
        position: end,
        releasedTo: releasedTo || undefined,
        // What is sent beyond the position goes out again if another process takes over.
        replay:
          isReplaying() && replay ? { ...replay, to: Math.max(replay.to, sentTo) } : undefined,
        waiting: all.filter(({ position: at }) => at <= end).length,
      };
    },
    isFailing: () => isFailing(health),
    /** Whether `next` may be called only after `done`: after a failure, and for order. */
    isOneByOne: () => health.failingSince !== undefined || releasedTo > 0,
    /** Since when no attempt has succeeded, if the last one failed. */
    failingSince: () => health.failingSince,
    wakeAt,
    sentTo: () => sentTo,
    /**
     * Gives a row to each message before the last one sent, so that the position passes what is
     * delivered. A replay needs none: what is sent beyond the position is part of it.
     */
    keepSent(): void {
      if (isReplaying()) return;
      for (const message of messages.values())
        if (message.position <= sentTo && unstored.has(message.position)) keep(message);
    },
    /** Whether many messages may wait in it. */
    hasRows: () => isReplaying() || messages.size > unstored.size,
    isFull,
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
