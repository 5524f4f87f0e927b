// Endpoints and their deliveries as they may be shown.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type {
  Webhook,
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
} from '@partner-loyalty/standings/store/webhooks.ts';
import { isFailing } from './queue.ts';

// Cast: the names of the table are all there are.
export const TYPES = Object.keys(EVENT_TYPES) as EventType[];

/** How much is shown of what waits. */
const MAX_WAITING = 100;

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
  const [last] = deliveriesOf(log);
  const count = state === 'disabled' ? 0 : Math.max(0, end - position) + waiting;
  return { ...viewOf(endpoint), waiting: count, last };
}

/** The newest first. */
export function deliveriesOf(log: DeliveryLog | undefined): WebhookDelivery[] {
  const { delivered = [], failed = [] } = log ?? {};
  const since = Date.now() - OUTCOMES_MS;
  return [
    ...delivered.map((one) => deliveryOf(one, 'delivered')),
    ...failed.map((one) => deliveryOf(one, 'failed')),
  ]
    .filter(({ at }) => at >= since)
    .sort((one, other) => other.at - one.at);
}

export function deliveryOf(
  { position, answer: _, history: __, ...one }: Outcome,
  outcome: WebhookDelivery['outcome'],
): WebhookDelivery {
  return { ...one, outcome, isEvent: position !== undefined };
}

/** What waits for an endpoint, the next first, MAX_WAITING at most. */
export function waitingIn(
  rows: readonly WaitingMessage[],
  endpoint: Pick<Endpoint, 'nextAttemptAt'>,
): WebhookDelivery[] {
  const timeOf = ({ nextAttemptAt = Number.MAX_VALUE }: WebhookDelivery) => nextAttemptAt;
  return rows
    .map((row) => waitingAs(row, endpoint))
    .sort((one, other) => timeOf(one) - timeOf(other) || one.at - other.at)
    .slice(0, MAX_WAITING);
}

/** No message goes before the next attempt of its endpoint, and a probe has no time of its own. */
export function waitingAs(
  {
    eventId: id = '',
    type = '',
    occurredAt,
    attempts,
    nextAt = 0,
    isAsked,
    history,
  }: WaitingMessage,
  { nextAttemptAt: next = 0 }: Pick<Endpoint, 'nextAttemptAt'>,
): WebhookDelivery {
  const { at = occurredAt, durationMs, status, reason } = history?.at(-1) ?? {};
  const nextAttemptAt = isAsked ? next : Math.max(nextAt, next);
  const last = history && { durationMs, status, reason, nextAttemptAt };
  return {
    outcome: 'waiting',
    id,
    type,
    at,
    attempts,
    ...omitUndefined({ ...last }),
    isEvent: true,
  };
}
