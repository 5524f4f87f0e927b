// Endpoints and their deliveries as they may be shown.
import {
  MAX_WAITING,
  type Webhook,
  type WebhookDelivery,
  type WebhookSummary,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import { EVENT_TYPES, type EventType } from '../rules/event.ts';
import type { StandingsStore } from '../store/store.ts';
import { type DeliveryLog, type Endpoint, type Outcome, waitingOf } from '../store/webhooks.ts';

// Cast: the names of the table are all there are.
export const TYPES = Object.keys(EVENT_TYPES) as EventType[];

/** Without its secrets, and what a worker needs. */
export function viewOf(endpoint: Endpoint): Webhook {
  const { webhookId, partnerId, url, types, state, disabledBecause } = endpoint;
  const { failingSince, createdAt } = endpoint;
  return { webhookId, partnerId, url, types, state, disabledBecause, failingSince, createdAt };
}

/** Reads a bounded number of rows. */
export async function summaryOf(
  { webhooks, feed }: Pick<StandingsStore, 'webhooks' | 'feed'>,
  endpoint: Endpoint,
): Promise<WebhookSummary> {
  const { webhookId, partnerId, position, state } = endpoint;
  const [end, rows, log] = await Promise.all([
    feed.last(partnerId),
    waitingOf(webhooks, webhookId, MAX_WAITING),
    webhooks.logs.get(webhookId),
  ]);
  const waiting = state === 'disabled' ? 0 : Math.max(0, end - position) + rows.length;
  const [last] = deliveriesOf(log);
  return { ...viewOf(endpoint), waiting: Math.min(waiting, MAX_WAITING), last };
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
