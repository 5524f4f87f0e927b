// The delivery of a process: it takes the leases of endpoints that are free, and delivers to them.
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import { createTurns } from '@partner-loyalty/runtime/eventloop/turns.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import type { Endpoint } from '@partner-loyalty/standings/store/webhooks.ts';
import { type Delivery, type DeliveryOptions, startDelivery } from './delivery.ts';
import { isFree, takeEndpoint } from './holding.ts';

const LOOK_MS = 1_000;
/** Limits for an endpoint or a partner, and for all that a process delivers to, which share it. */
const MAX_ROWS_OF_ENDPOINT = { each: 10_000, all: 100_000 };
const MAX_ATTEMPTS_OF_PARTNER = { each: 10, all: 500 };

type DeliveriesOptions = Pick<DeliveryOptions, 'send' | 'log'> & {
  metrics: Metrics;
  /** Returns milliseconds since 1970. */
  now?: () => number;
};

/** Delivers events to the endpoints of all partners, with every other process that does. */
export function startDeliveries(
  store: Pick<StandingsStore, 'feed' | 'webhooks'>,
  { now = Date.now, ...options }: DeliveriesOptions,
) {
  const deliveries = new Map<string, Delivery>();
  const all = () => [...deliveries.values()];
  /** The attempts in progress of each endpoint, by partner. */
  const sending = new Map<string, Set<ReadonlySet<unknown>>>();
  const turns = createTurns();
  const shares = { attempts: MAX_ATTEMPTS_OF_PARTNER.each, rows: MAX_ROWS_OF_ENDPOINT.each };

  async function look(): Promise<void> {
    const isSending = (own: Set<ReadonlySet<unknown>>) => [...own].some(({ size }) => size > 0);
    shares.attempts = shareOf(
      MAX_ATTEMPTS_OF_PARTNER,
      [...sending.values()].filter(isSending).length,
    );
    shares.rows = shareOf(MAX_ROWS_OF_ENDPOINT, all().filter(({ hasRows }) => hasRows()).length);
    const rows = new Map(
      (await store.webhooks.endpoints.select(() => true)).map((row) => [row.webhookId, row]),
    );
    const edited = new Set<string>();
    for (const [webhookId, { endpoint, change }] of deliveries) {
      const { state, revision } = rows.get(webhookId) ?? {};
      const { partnerId } = endpoint;
      // All that waits is read again: a partner's endpoints take turns.
      if (revision === endpoint.revision || (state === 'active' && edited.has(partnerId))) continue;
      if (state === 'active') edited.add(partnerId);
      change();
    }
    const at = now();
    const free = [...rows.values()].filter(
      (row) => isFree(row, at) && !deliveries.has(row.webhookId),
    );
    await Promise.all(free.map(({ webhookId }) => take(webhookId)));
  }

  async function take(webhookId: string): Promise<void> {
    const hold = await takeEndpoint(store.webhooks, webhookId, now());
    if (hold === undefined) return;
    const { partnerId } = hold.endpoint;
    const ofPartner = sending.get(partnerId) ?? new Set();
    sending.set(partnerId, ofPartner);
    const delivery = startDelivery(store, hold, { ...options, shares, ofPartner, turn, now });
    deliveries.set(webhookId, delivery);
    delivery.ended.then(() => {
      deliveries.delete(webhookId);
      if (sending.get(partnerId)?.size === 0) sending.delete(partnerId);
    });
  }

  /** Partners take turns within a part of each tick, so that requests run beside attempts. */
  const turn = ({ partnerId, webhookId }: Endpoint) =>
    new Promise<void>((run) => turns.add(partnerId, webhookId, { run }));

  const { log } = options;
  const loop = startLoop(look, {
    everyMs: LOOK_MS,
    failed: (err) => log.outage({ err, store: 'standings' }, 'webhooks wait'),
    recovered: () => log.recovered({ store: 'standings' }, 'webhooks are delivered again'),
  });
  loop.wake();
  options.metrics.webhookOldest(() =>
    all().map(({ endpoint, oldestSeconds }) => [endpoint.partnerId, oldestSeconds()] as const),
  );
  options.metrics.webhookBacklog(() =>
    Promise.all(
      all().map(async ({ endpoint, backlog }) => [endpoint.partnerId, await backlog()] as const),
    ).catch(() => []),
  );

  return {
    /** Makes it look for new events now. */
    wake(): void {
      for (const { wake } of all()) wake();
    },
    /** Finishes the attempts in progress, for 5 seconds at most, and gives up the leases. */
    async stop(): Promise<void> {
      await loop.stop();
      await Promise.all(all().map(({ stop }) => stop()));
    },
  };
}

/** Everybody gets one at least. */
function shareOf({ each, all }: { each: number; all: number }, count: number): number {
  return Math.max(1, Math.min(each, Math.floor(all / Math.max(1, count))));
}
