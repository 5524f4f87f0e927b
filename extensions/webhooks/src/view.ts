// Endpoints and their deliveries as they may be shown.
import type {
  Webhook,
  WebhookDelivery,
  WebhookSummary,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import { EVENT_TYPES, type EventType } from '@partner-loyalty/standings/rules/event.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import type { DeliveryLog, Endpoint, Outcome } from '@partner-loyalty/standings/store/webhooks.ts';
import { isFailing } from './queue.ts';

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
  const [last] = deliveriesOf(log);
  const count = state === 'disabled' ? 0 : Math.max(0, end - position) + waiting;
  return { ...viewOf(endpoint), waiting: count, last };
}

/** The newest first. */
export function deliveriesOf(log: DeliveryLog | undefined): WebhookDelivery[] {
  const { delivered = [], failed = [] } = log ?? {};
  return [
    ...delivered.map((one) => deliveryOf(one, 'delivered')),
    ...failed.map((one) => deliveryOf(one, 'failed')),
  ].sort((one, other) => other.at - one.at);
}

export function outcomesOf(log: DeliveryLog | undefined): Outcome[] {
  return [...(log?.delivered ?? []), ...(log?.failed ?? [])];
}

export function deliveryOf(
  { position, ...one }: Outcome,
  outcome: WebhookDelivery['outcome'],
): WebhookDelivery {
  return { ...one, outcome, isEvent: position !== undefined };
}
