// What a process stores of an endpoint while it holds the lease: rows first, then the position.
import { randomUUID } from 'node:crypto';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { WebhookAttempt } from '@partner-loyalty/runtime/manage/webhooks.ts';
import {
  addOutcomes,
  dropWaiting,
  type Endpoint,
  messageIdOf,
  type Outcome,
  type WaitingMessage,
  type WebhookTables,
  waitingOf,
} from '@partner-loyalty/standings/store/webhooks.ts';
import { createQueue, type Queue, REPLAY_SHARE } from './queue.ts';

/** A lease that is not renewed for so long is free. */
export const LEASE_MS = 25_000;
/** How many rows are written at once. */
const SLICE = 200;
/** The most attempts that are kept of a message. */
const MAX_HISTORY = 12;
/** Shares of what is sent again begin so far ahead at most. */
const MAX_AHEAD_MS = 60_000;

export type Hold = {
  /** The row as it was taken. */
  endpoint: Endpoint;
  token: string;
  /** The position that it has in the store, unless a command has moved it. */
  position: number;
  /** When the lease ends. */
  until: number;
  queue: Queue;
  /** The outcomes that are not written yet, oldest first. */
  outcomes: Record<'delivered' | 'failed', Outcome[]>;
  /** The attempts that are not written yet, by message. */
  tried: Map<string, WebhookAttempt[]>;
};

/** What becomes of an endpoint at the end. */
export type EndpointEnd = Partial<Pick<Endpoint, 'state' | 'disabledBecause' | 'disabledAt'>>;

type Tables = Pick<WebhookTables, 'endpoints' | 'waiting' | 'logs'>;

export function isFree({ state, lease }: Endpoint, now: number): boolean {
  return state === 'active' && (lease === undefined || lease.until <= now);
}

/** Takes the lease of an endpoint, and its queue. Resolves with undefined if it is not free. */
export async function takeEndpoint(
  tables: Tables,
  webhookId: string,
  now: number,
): Promise<Hold | undefined> {
  const lease = { token: randomUUID(), until: now + LEASE_MS };
  const endpoint = await tables.endpoints.update(webhookId, (row) =>
    row !== undefined && isFree(row, now) ? { ...row, lease } : row,
  );
  if (endpoint === undefined) return undefined;
  const { position, replay } = endpoint;
  // A replay that begins sends what waits beyond its position too.
  if (replay?.after === position) await dropWaiting(tables, webhookId, position);
  const rows = await waitingOf(tables, webhookId);
  const queue = createQueue(
    endpoint,
    rows.map(({ history: _, ...row }) => row),
  );
  const unwritten = { outcomes: { delivered: [], failed: [] }, tried: new Map() };
  return { endpoint, ...lease, position, queue, ...unwritten };
}

/** Takes a share of what a partner's endpoints may be sent again. Resolves with when it begins. */
export async function takeShare(
  { partners }: Pick<WebhookTables, 'partners'>,
  partnerId: string,
  now: number,
): Promise<number> {
  let from = now;
  await partners.update(partnerId, (row = { partnerId, webhookIds: [] }) => {
    // The clock may have been set back.
    from = Math.min(Math.max(now, row.replaysUntil ?? 0), now + MAX_AHEAD_MS);
    return { ...row, replaysUntil: from + REPLAY_SHARE.ms };
  });
  return from;
}

/**
 * Writes what has changed in the queue, then the position, and renews the lease or, with `end`,
 * gives it up. Resolves with whether the lease was held and the row still had the position that was
 * written last: if a command has disabled or moved the endpoint, its row only loses the lease.
 */
export async function saveEndpoint(
  { endpoints, waiting, logs }: Tables,
  hold: Hold,
  now: number,
  end?: EndpointEnd,
): Promise<boolean> {
  if (now >= hold.until) return false;
  const { queue, token, endpoint, outcomes, tried } = hold;
  const { webhookId, revision } = endpoint;
  if (end !== undefined) queue.keepSent();
  const changes = queue.changes();
  const state = queue.state(now);
  const lease = end === undefined ? { token, until: now + LEASE_MS } : undefined;
  hold.outcomes = { delivered: [], failed: [] };
  hold.tried = new Map();
  const histories = new Map<string, WebhookAttempt[]>();

  /** What is not in the queue stays: the earlier attempts, until the message has its outcome. */
  async function write([id, row]: [string, WaitingMessage | undefined]): Promise<void> {
    const latest = tried.get(id) ?? [];
    const before = latest.length > 0 ? await waiting.get(id) : undefined;
    const history = [...(before?.history ?? []), ...latest].slice(-MAX_HISTORY);
    histories.set(id, history);
    if (row === undefined) return waiting.remove(id);
    await waiting.put(omitUndefined(history.length > 0 ? { ...row, history } : row));
  }

  const rows = [...changes];
  for (let from = 0; from < rows.length; from += SLICE)
    await Promise.all(rows.slice(from, from + SLICE).map(write));
  for (const one of [...outcomes.delivered, ...outcomes.failed]) {
    const history = histories.get(messageIdOf(webhookId, one.position ?? 0)) ?? [];
    if (history.length > 1) one.history = history;
  }
  let isHeld = false;
  let isThere = false;
  await endpoints.update(webhookId, (row) => {
    isHeld = row?.lease?.token === token;
    if (row === undefined || !isHeld) return row;
    const isSame = row.state === 'active' && row.enabledAt === endpoint.enabledAt;
    isThere = isSame && row.position === hold.position;
    if (!isThere) {
      // What was sent meanwhile goes out again, so it is part of the replay.
      const to = Math.max(row.replay?.to ?? 0, queue.sentTo());
      const replay = row.replay && { ...row.replay, to };
      return omitUndefined({ ...row, replay, lease: undefined });
    }
    // After an edit, it is tried at once, and what it answered before does not disable it.
    const last = row.revision === revision ? end : { lastAttemptAt: row.lastAttemptAt };
    return omitUndefined({ ...row, ...state, lease, ...last });
  });
  if (isHeld && outcomes.delivered.length + outcomes.failed.length > 0)
    await addOutcomes({ logs }, webhookId, outcomes);
  if (lease !== undefined) hold.until = lease.until;
  hold.position = state.position;
  return isHeld && isThere;
}
