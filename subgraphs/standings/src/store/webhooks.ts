// The tables of webhooks: endpoints, the messages that wait to be sent again, and outcomes.
import type { WebhookAttempt } from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { storedTable } from '@partner-loyalty/runtime/store/tables.ts';
import type { EventType } from '../rules/event.ts';

/** One endpoint. Times are milliseconds since 1970. */
export type Endpoint = {
  /** `wh_` and random. */
  webhookId: string;
  partnerId: string;
  url: string;
  /** Undefined is every type. */
  types?: EventType[];
  state: 'active' | 'disabled';
  /**
   * What disabled it: a command, the partner's staff, its partner's suspension, a response 410, or
   * five days of failures.
   */
  disabledBecause?: 'COMMAND' | 'CONSOLE' | 'SUSPENDED' | 'GONE' | 'FAILING';
  /** Absent if a version before this field disabled it. */
  disabledAt?: number;
  /** When it was last enabled, if ever. */
  enabledAt?: number;
  /**
   * Set if the partner's staff have made it or edited it last: whether in a console that only
   * this machine can open.
   */
  byStaff?: { isLocal: boolean };
  /** Newest first. `until` is the end of one that was rotated out. */
  secrets: Secret[];
  /** The position in the feed up to which each event was delivered, given up, or waits in a row. */
  position: number;
  /** Rises with each change by a command, so that a worker starts over with the new endpoint. */
  revision: number;
  /** Who delivers to it now. */
  lease?: { token: string; until: number };
  /** Since when no attempt has succeeded, if the last one failed. */
  failingSince?: number;
  /** How many attempts have failed since then. */
  failures?: number;
  /** What the last failed attempt got, while something waits to be sent again. */
  lastStatus?: number;
  lastReason?: string;
  lastAttemptAt?: number;
  /** When something that has failed is sent again. */
  nextAttemptAt?: number;
  /** The position in the feed up to which messages that waited for the endpoint are sent slowly. */
  releasedTo?: number;
  /** How many messages up to `position` wait in rows. */
  waiting?: number;
  /** The part of the feed that is sent again. `to` rises with what is sent meanwhile. */
  replay?: { after: number; to: number; startedAt: number };
  createdAt: number;
};

/** Encrypted with KEY_ENCRYPTION_KEY, if that is set. */
type Secret = { sealed: string; until?: number };

/**
 * A message that waits to be tried again, or behind one of the same member. It identifies nobody
 * but by the member's ID, since the event is read from the feed again.
 */
export type WaitingMessage = {
  /** See messageIdOf. */
  messageId: string;
  position: number;
  /** The event's ID and type; absent if a version before these fields wrote it. */
  eventId?: string;
  type?: string;
  memberId?: string;
  mergedMemberId?: string;
  occurredAt: number;
  attempts: number;
  /** Undefined behind an earlier message of its member. */
  nextAt?: number;
  /** Whether somebody asked for it again. */
  isReplayed?: true;
  /** Whether somebody asked for it to be tried now, before its time. */
  isAsked?: true | undefined;
  /** The latest attempts, oldest first; a queue leaves them in the store. */
  history?: WebhookAttempt[];
};

/** The latest outcomes of an endpoint, of which none has a member's or an external ID. */
export type DeliveryLog = { webhookId: string; delivered: Outcome[]; failed: Outcome[] };
/** `id` and `type` are the event's. */
export type Outcome = {
  id: string;
  type: string;
  /** The position of the event in the feed; a test has none. */
  position?: number;
  at: number;
  attempts: number;
  durationMs: number;
  status?: number;
  reason?: string;
  answer?: string;
  /** The latest attempts, oldest first, if there was more than one. */
  history?: WebhookAttempt[];
};

/** What a partner's endpoints share: one row, so that two changes at once keep the limits. */
type PartnerWebhooks = {
  partnerId: string;
  webhookIds: string[];
  /** Up to then, the partner's share of messages that are sent again is taken. */
  replaysUntil?: number;
};

/** The maximum of each kind. */
const MAX_OUTCOMES = 100;
/** Of all outcomes of a kind: a log is one row. Older outcomes have only their last attempt. */
const MAX_ATTEMPTS = 300;
/** What is older is not shown, and goes with the next outcome. */
export const OUTCOMES_MS = 7 * 86_400_000;

export type WebhookTables = Awaited<ReturnType<typeof openWebhookTables>>;

const ENDPOINTS: TableDefinition<Endpoint> = { name: 'webhooks', id: 'webhookId' };
const WAITING: TableDefinition<WaitingMessage> = { name: 'webhookMessages', id: 'messageId' };
const LOGS: TableDefinition<DeliveryLog> = { name: 'webhookLogs', id: 'webhookId' };
const PARTNERS: TableDefinition<PartnerWebhooks> = { name: 'webhookPartners', id: 'partnerId' };

/** What a store with webhooks has to be opened with. */
export const WEBHOOK_TABLES = [
  storedTable(ENDPOINTS),
  storedTable(WAITING),
  storedTable(LOGS),
  storedTable(PARTNERS),
];

export async function openWebhookTables(open: OpenTable) {
  const [endpoints, waiting, logs, partners] = await Promise.all([
    open(ENDPOINTS),
    open(WAITING),
    open(LOGS),
    open(PARTNERS),
  ]);
  return { endpoints, waiting, logs, partners };
}

/** Those of an endpoint are in the order of positions. */
export function messageIdOf(webhookId: string, position: number): string {
  return `${webhookId}/${String(position).padStart(16, '0')}`;
}

/** The messages that wait for an endpoint, the oldest first; with `limit`, the first of them. */
export function waitingOf(
  { waiting }: Pick<WebhookTables, 'waiting'>,
  webhookId: string,
  limit?: number,
): Promise<WaitingMessage[]> {
  return waiting.startingWith(`${webhookId}/`, limit);
}

/** Adds outcomes to the log of an endpoint, which keeps the latest of each kind. */
export async function addOutcomes(
  { logs }: Pick<WebhookTables, 'logs'>,
  webhookId: string,
  { delivered, failed }: Record<'delivered' | 'failed', Outcome[]>,
): Promise<void> {
  const since = Math.max(...[...delivered, ...failed].map(({ at }) => at)) - OUTCOMES_MS;
  const kept = (before: Outcome[] = [], added: Outcome[]) =>
    withFewAttempts([...before.filter(({ at }) => at >= since), ...added].slice(-MAX_OUTCOMES));
  await logs.update(webhookId, (log) => ({
    webhookId,
    delivered: kept(log?.delivered, delivered),
    failed: kept(log?.failed, failed),
  }));
}

function withFewAttempts(outcomes: readonly Outcome[]): Outcome[] {
  let attempts = 0;
  const newestFirst = outcomes.toReversed().map(({ history, ...one }): Outcome => {
    attempts += history?.length ?? 0;
    return history === undefined || attempts > MAX_ATTEMPTS ? one : { ...one, history };
  });
  return newestFirst.reverse();
}

/** Removes what waits for an endpoint after a position. Resolves with how many messages. */
export function dropWaiting(
  { waiting }: Pick<WebhookTables, 'waiting'>,
  webhookId: string,
  after = 0,
): Promise<number> {
  return waiting.removeWhere(({ position }) => position > after, `${webhookId}/`);
}
