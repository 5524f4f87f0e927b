// Endpoints and their deliveries as they may be shown.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type {
  Webhook,
  WebhookAttempt,
  WebhookDelivery,
  WebhookSummary,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import { EVENT_TYPES, type EventType } from '@partner-loyalty/standings/rules/event.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import {
  type DeliveryLog,
  type Endpoint,
  OUTCOMES_MS,
  type Outcome,
  type WaitingMessage,
  waitingOf,
} from '@partner-loyalty/standings/store/webhooks.ts';
import { isFailing } from './queue.ts';

/** How much is read of what waits, which may be far more. */
const MAX_READ = 1_000;

// Cast: the names of the table are all there are.
export const TYPES = Object.keys(EVENT_TYPES) as EventType[];

/** Without its secrets, and what a worker needs. */
export function viewOf(endpoint: Endpoint): Webhook {
  const { webhookId, partnerId, url, types, disabledBecause, createdAt } = endpoint;
  const { failingSince, failures: attempts = 0, lastStatus, lastReason } = endpoint;
  const state = stateOf(endpoint);
  const { nextAttemptAt, replay }: Partial<Endpoint> = state === 'disabled' ? {} : endpoint;
  return {
    ...{ webhookId, partnerId, url, types, state, disabledBecause, createdAt },
    ...{ failingSince, attempts, lastStatus, lastReason, nextAttemptAt },
    replay: replay && {
      done: Math.max(0, endpoint.position - replay.after),
      total: replay.to - replay.after,
      startedAt: replay.startedAt,
    },
  };
}

function stateOf(endpoint: Endpoint): Webhook['state'] {
  if (endpoint.state === 'disabled') return 'disabled';
  if (isFailing(endpoint)) return 'failing';
  return endpoint.nextAttemptAt === undefined ? 'active' : 'retrying';
}

export async function summaryOf(
  { webhooks, feed }: Pick<StandingsStore, 'webhooks' | 'feed'>,
  endpoint: Endpoint,
): Promise<WebhookSummary> {
  const { webhookId, partnerId, position, state, waiting = 0 } = endpoint;
  const [end, log] = await Promise.all([feed.last(partnerId), webhooks.logs.get(webhookId)]);
  const last = outcomesIn(log)[0]?.shown;
  const count = state === 'disabled' ? 0 : Math.max(0, end - position) + waiting;
  return { ...viewOf(endpoint), waiting: count, last };
}

/** A message as it may be shown, its attempts, oldest first, and where it is. */
type Message = {
  shown: WebhookDelivery;
  history: WebhookAttempt[];
  position?: number | undefined;
  /** Of one that waits. */
  messageId?: string;
};

/** What has waited longest, the next first, then the outcomes of 7 days, the newest first. */
export async function messagesOf(
  webhooks: StandingsStore['webhooks'],
  endpoint: Endpoint,
): Promise<Message[]> {
  const { webhookId, state } = endpoint;
  const rows = state === 'disabled' ? [] : await waitingOf(webhooks, webhookId, MAX_READ);
  const timeOf = ({ shown: { nextAttemptAt = Number.MAX_VALUE } }: Message) => nextAttemptAt;
  const waiting = rows
    .map((row) => waitingAs(row, endpoint))
    .sort((one, other) => timeOf(one) - timeOf(other) || one.shown.at - other.shown.at);
  return [...waiting, ...outcomesIn(await webhooks.logs.get(webhookId))];
}

/** No message goes before the next attempt of its endpoint, and a probe has no time of its own. */
function waitingAs(row: WaitingMessage, { nextAttemptAt: next = 0 }: Endpoint): Message {
  const { eventId: id = '', type = '', position, messageId, attempts, history } = row;
  const { at = row.occurredAt, durationMs, status, reason } = history?.at(-1) ?? {};
  const nextAttemptAt = row.isAsked ? next : Math.max(row.nextAt ?? 0, next);
  const last = omitUndefined({ ...(history && { durationMs, status, reason, nextAttemptAt }) });
  const shown = { outcome: 'waiting', id, type, at, attempts, ...last, isEvent: true } as const;
  return { shown, history: history ?? [], position, messageId };
}

function outcomesIn({ delivered, failed }: Partial<DeliveryLog> = {}): Message[] {
  const messageOf = (outcome: Outcome, kind: 'delivered' | 'failed') => {
    const { position, at, durationMs, status, reason, answer } = outcome;
    const only = omitUndefined({ at, durationMs, status, reason, answer });
    const { history = [only] } = outcome;
    return { shown: deliveryOf(outcome, kind), history, position };
  };
  const since = Date.now() - OUTCOMES_MS;
  return [
    ...(delivered ?? []).map((one) => messageOf(one, 'delivered')),
    ...(failed ?? []).map((one) => messageOf(one, 'failed')),
  ]
    .filter(({ shown }) => shown.at >= since)
    .sort((one, other) => other.shown.at - one.shown.at);
}

export function deliveryOf(
  { position, answer: _, history: __, ...one }: Outcome,
  outcome: WebhookDelivery['outcome'],
): WebhookDelivery {
  return { ...one, outcome, isEvent: position !== undefined };
}
