// What operators and partners' staff do with the endpoints of partners.
import { randomBytes } from 'node:crypto';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { NotedWebhook } from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { EventType } from '@partner-loyalty/standings/rules/event.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import {
  dropWaiting,
  type Endpoint,
  messageIdOf,
  type WebhookTables,
} from '@partner-loyalty/standings/store/webhooks.ts';
import { eventsFrom, positionBefore } from './place.ts';
import { isFailing } from './queue.ts';
import type { WebhookSecrets } from './target.ts';

type Store = Pick<StandingsStore, 'webhooks' | 'feed'>;

/** Where an endpoint's messages go, and which. The URL has to be checked before. */
type Target = {
  url: string;
  types?: EventType[] | undefined;
  byStaff?: Endpoint['byStaff'] | undefined;
};

export const MAX_ENDPOINTS = 5;
/** How long a secret signs after it was rotated out. */
const OVERLAP_MS = 86_400_000;
/** Each message has a signature by each, and the row of the endpoint has them all. */
const MAX_FORMER_SECRETS = 3;

/** What is done with the endpoints in a store. */
export function endpointsIn({ webhooks, feed }: Store, secrets: WebhookSecrets) {
  /** The event of a message; undefined if it is not kept any more. */
  async function keptEvent(partnerId: string, position: number, eventId: string) {
    // The feed may have been restored from a backup since.
    const isKnown = position <= (await feed.last(partnerId));
    const [found] = isKnown ? await eventsFrom(feed, partnerId, position, 1) : [];
    return found?.event.id === eventId ? found.event : undefined;
  }

  return {
    keptEvent,
    /**
     * Creates an endpoint that gets the events from now on. Resolves with its secret too, which
     * cannot be read again as it is; undefined if the partner has MAX_ENDPOINTS.
     */
    async create({ types, byStaff, ...of }: { partnerId: string } & Target) {
      const { secret, sealed } = await secrets.create();
      const endpoint: Endpoint = {
        webhookId: `wh_${randomBytes(12).toString('base64url')}`,
        ...of,
        ...omitUndefined({ types, byStaff }),
        state: 'disabled',
        secrets: [{ sealed }],
        position: await feed.last(of.partnerId),
        revision: 0,
        createdAt: Date.now(),
      };
      // It gets nothing until it counts. The row comes first, so that an ID without one is of an
      // endpoint that was removed.
      await webhooks.endpoints.put(endpoint);
      if (!(await count(webhooks, endpoint))) {
        await webhooks.endpoints.remove(endpoint.webhookId);
        return undefined;
      }
      await change(webhooks, endpoint.webhookId, (before) => ({ ...before, state: 'active' }));
      return { endpoint: { ...endpoint, state: 'active' as const }, secret };
    },

    /** The partner's endpoints, the oldest first. */
    async list(partnerId: string) {
      const { webhookIds = [] } = (await webhooks.partners.get(partnerId)) ?? {};
      const found = await Promise.all(webhookIds.map((id) => webhooks.endpoints.get(id)));
      return found.filter((endpoint) => endpoint !== undefined);
    },

    /** The endpoints disabled since an instant, other than by their partner's suspension. */
    async disabledSince(since: number) {
      const found = await webhooks.endpoints.select(
        ({ disabledAt = 0, disabledBecause }) =>
          disabledAt >= since && disabledBecause !== 'SUSPENDED',
      );
      return found.map(notedOf);
    },

    /** The endpoints that are failing, and have had no success since `before` or earlier. */
    async failingBefore(before: number) {
      const found = await webhooks.endpoints.select(
        (one) => one.state === 'active' && isFailing(one) && (one.failingSince ?? before) <= before,
      );
      return found.map(notedOf);
    },

    /** What waits goes to the new URL too. */
    edit(webhookId: string, { url, types, byStaff }: Target) {
      return change(webhooks, webhookId, (before) =>
        omitUndefined({ ...before, url, types, byStaff }),
      );
    },

    /** Gives an endpoint a new secret. For 24 hours, the former one signs too. */
    async rotateSecret(webhookId: string) {
      const { secret, sealed } = await secrets.create();
      const now = Date.now();
      const endpoint = await change(webhooks, webhookId, (before) => {
        const kept = before.secrets
          .map((former) => ({ ...former, until: former.until ?? now + OVERLAP_MS }))
          .filter(({ until }) => until > now)
          .slice(0, MAX_FORMER_SECRETS);
        return { ...before, secrets: [{ sealed }, ...kept] };
      });
      return endpoint && { endpoint, secret };
    },

    /** Its waiting messages are given up. */
    disable(webhookId: string, disabledBecause: 'COMMAND' | 'CONSOLE' | 'SUSPENDED') {
      const disabled = { state: 'disabled', disabledBecause, disabledAt: Date.now() } as const;
      return change(webhooks, webhookId, (before) =>
        before.state === 'disabled' ? before : { ...before, ...disabled },
      );
    },

    /** Lets a disabled endpoint get the events from now on. */
    async enable(webhookId: string) {
      const found = await webhooks.endpoints.get(webhookId);
      if (found?.state !== 'disabled') return found;
      const position = await feed.last(found.partnerId);
      await dropWaiting(webhooks, webhookId);
      return change(webhooks, webhookId, (before) => {
        const { disabledBecause, disabledAt, failingSince, failures, ...former } = before;
        const { lastStatus, lastReason, nextAttemptAt, releasedTo, replay, waiting, ...rest } =
          former;
        const enabled = { state: 'active', enabledAt: Date.now(), position } as const;
        return before.state === 'active' ? before : { ...rest, ...enabled };
      });
    },

    /**
     * Sends what occurred at `since` or later once more. Only for an active endpoint. Resolves with
     * undefined if another replay is running.
     */
    async replay({ webhookId, partnerId, replay }: Endpoint, since: Date) {
      if (replay !== undefined) return undefined;
      const after = await positionBefore(feed, partnerId, since.getTime());
      let isRunning = false;
      // Rows beyond the new position are left to whoever takes the lease, who may be writing them.
      const changed = await change(webhooks, webhookId, (before) => {
        isRunning = before.replay !== undefined;
        if (isRunning || before.position <= after) return before;
        const started = { after, to: before.position, startedAt: Date.now() };
        return { ...before, position: after, replay: started };
      });
      return isRunning ? undefined : changed;
    },

    /**
     * Sends one event of the feed once more, after what waits for its member. Only for an active
     * endpoint. Resolves with false if the event was dropped.
     */
    async resend({ webhookId, partnerId }: Endpoint, position: number, eventId: string) {
      const event = await keptEvent(partnerId, position, eventId);
      if (event === undefined) return false;
      const { type, memberId, mergedMemberId, occurredAt } = event;
      const messageId = messageIdOf(webhookId, position);
      const message = { messageId, position, occurredAt, attempts: 0, isReplayed: true } as const;
      const of = { eventId, type, memberId, mergedMemberId };
      await webhooks.waiting.put(omitUndefined({ ...message, ...of }));
      // Who delivers now does not look for new rows.
      await change(webhooks, webhookId, (before) => {
        return { ...before, waiting: (before.waiting ?? 0) + 1 };
      });
      return true;
    },

    /**
     * Lets a message that waits be tried now. Only for an active endpoint. Resolves with false if
     * it does not wait any more.
     */
    async hurry({ webhookId }: Endpoint, messageId: string) {
      const row = await webhooks.waiting.update(
        messageId,
        (before) => before && { ...before, isAsked: true },
      );
      if (row === undefined) return false;
      await change(webhooks, webhookId, (before) => ({ ...before, nextAttemptAt: Date.now() }));
      return true;
    },

    /** Its ID is no longer counted, since it has no row. */
    async remove({ webhookId }: Endpoint) {
      await webhooks.endpoints.remove(webhookId);
      await dropWaiting(webhooks, webhookId);
      await webhooks.logs.remove(webhookId);
    },
  };
}

/** Adds the endpoint to those of its partner; false if it has too many. */
async function count({ endpoints, partners }: WebhookTables, { partnerId, webhookId }: Endpoint) {
  const listed = (await partners.get(partnerId))?.webhookIds ?? [];
  const rows = await Promise.all(listed.map((id) => endpoints.get(id)));
  const removed = new Set(listed.filter((_, index) => rows[index] === undefined));
  const added = await partners.update(partnerId, (before) => {
    const kept = (before?.webhookIds ?? []).filter((id) => !removed.has(id));
    const webhookIds = [...kept, webhookId];
    return kept.length >= MAX_ENDPOINTS ? before : { ...before, partnerId, webhookIds };
  });
  return added !== undefined;
}

function notedOf({ webhookId, partnerId, url, disabledAt, failingSince }: Endpoint): NotedWebhook {
  return { webhookId, partnerId, host: new URL(url).host, disabledAt, failingSince };
}

/**
 * Resolves with the endpoint as it is then; undefined if there is none. If it was failing, it is
 * tried now: what was wrong may have been changed.
 */
async function change(
  { endpoints }: WebhookTables,
  webhookId: string,
  next: (before: Endpoint) => Endpoint,
): Promise<Endpoint | undefined> {
  const changed = await endpoints.update(webhookId, (before) => {
    if (before === undefined) return undefined;
    const after = next(before);
    if (JSON.stringify(after) === JSON.stringify(before)) return before;
    const { lastAttemptAt, ...rest } = after;
    return { ...rest, revision: before.revision + 1 };
  });
  return changed ?? endpoints.get(webhookId);
}
