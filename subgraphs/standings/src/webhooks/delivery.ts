// Delivers to one endpoint for as long as this process holds its lease.
import { setTimeout as pause } from 'node:timers/promises';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Event } from '../rules/event.ts';
import type { StandingsStore } from '../store/store.ts';
import type { WaitingMessage } from '../store/webhooks.ts';
import { giveUp, type Hold, releaseEndpoint, saveEndpoint } from './holding.ts';
import { eventAt, messageOf } from './message.ts';
import { FAILING_MS } from './queue.ts';
import type { Send } from './send.ts';

export type DeliveryOptions = {
  send: Send;
  log: Pick<Log, 'warn' | 'outage'>;
  metrics: Pick<Metrics, 'webhookDelivery'>;
  /** Returns milliseconds since 1970. */
  now: () => number;
  /**
   * How many attempts an endpoint may have in progress now, and how many messages may wait for a
   * retry, or behind one.
   */
  shares: { attempts: number; rows: number };
};

export type Delivery = ReturnType<typeof startDelivery>;
type Store = Pick<StandingsStore, 'feed' | 'webhooks'>;

const POLL_MS = 1_000;
const PAGE_SIZE = 100;
const SAVE_MS = 500;
const RENEW_MS = 5_000;
/** Attempts end so long before a lease that could not be renewed. */
const MARGIN_MS = 5_000;
/** How long attempts in progress may take when the process stops. */
const STOP_MS = 5_000;

/** Delivers until `stop`, or until the lease is lost or the endpoint is changed. Never rejects. */
export function startDelivery(store: Store, hold: Hold, options: DeliveryOptions) {
  const { send, log, metrics, now, shares } = options;
  const { endpoint, queue } = hold;
  const { webhookId, partnerId } = endpoint;
  const types = endpoint.types && new Set(endpoint.types);
  const attempts = new Set<Promise<void>>();
  const sending = new AbortController();
  let woken = new AbortController();
  let leaseTimer = leaseEnds();
  let state: 'delivering' | 'stopping' | 'lost' = 'delivering';
  let disabled: 'GONE' | 'FAILING' | undefined;
  let failure: unknown;
  let readAt = 0;
  let savedAt = now();
  let isChanged = false;
  /** The latest page. An erasure may have changed what it has, so it is used for a second. */
  let recent = new Map<number, Event>();
  let recentAt = 0;

  const wake = () => woken.abort();
  for (const outcome of ['delivered', 'failed'] as const)
    metrics.webhookDelivery(partnerId, outcome, 0);

  function leaseEnds() {
    return setTimeout(() => sending.abort(), Math.max(0, hold.until - MARGIN_MS - now())).unref();
  }

  async function attempt(message: WaitingMessage): Promise<void> {
    try {
      const { position } = message;
      const event =
        (now() - recentAt < POLL_MS ? recent.get(position) : undefined) ??
        (await eventAt(store.feed, partnerId, position));
      if (event === undefined) return queue.drop(message);
      const { signal } = sending;
      const result = await send(endpoint, messageOf(event), { signal, now: now() });
      // It goes out again, by whoever holds the lease then.
      if (signal.aborted) return;
      note(message, event, result);
    } catch (err) {
      failure = err;
    }
  }

  function note(message: WaitingMessage, { id, type }: Event, result: Awaited<ReturnType<Send>>) {
    const { ok, gone, durationMs, status, reason } = result;
    const at = now();
    isChanged = true;
    const fate = queue.done(message, ok, at, shares.rows);
    const { attempts } = message;
    const failingSince = queue.failingSince();
    if (gone) disabled = 'GONE';
    else if (failingSince !== undefined && at - failingSince >= FAILING_MS) disabled = 'FAILING';
    if (fate === 'waits') return;
    metrics.webhookDelivery(partnerId, fate, 1);
    hold.outcomes[fate].push(omitUndefined({ id, type, at, attempts, durationMs, status, reason }));
  }

  function begin(): void {
    // One at a time, until one succeeds.
    const most = () => (queue.failingSince() === undefined ? shares.attempts : 1);
    while (disabled === undefined && attempts.size < most()) {
      const message = queue.next(now(), shares.rows);
      if (message === undefined) return;
      const running = attempt(message).finally(() => {
        attempts.delete(running);
        wake();
      });
      attempts.add(running);
    }
  }

  async function read(): Promise<void> {
    const query = { first: PAGE_SIZE, types };
    let page = await store.feed.page(partnerId, { ...query, after: queue.readTo() });
    // Then it goes on with the oldest event that is kept.
    if (page === 'expired') page = await store.feed.page(partnerId, { ...query, after: undefined });
    readAt = typeof page === 'string' || !page.hasNext ? now() + POLL_MS : 0;
    if (typeof page === 'string') return;
    isChanged ||= page.end > queue.readTo();
    queue.add(page.events, page.end);
    recent = new Map(page.events.map(({ position, event }) => [position, event]));
    recentAt = now();
  }

  async function save(end?: Parameters<typeof saveEndpoint>[3]): Promise<boolean> {
    savedAt = now();
    isChanged = false;
    const isSaved = await saveEndpoint(store.webhooks, hold, savedAt, end);
    clearTimeout(leaseTimer);
    leaseTimer = leaseEnds();
    return isSaved;
  }

  function isSaveDue(): boolean {
    return queue.hasChanges() || now() - savedAt >= (isChanged ? SAVE_MS : RENEW_MS);
  }

  async function work(): Promise<void> {
    // After this process stood still, the timer may be late.
    const isHeld = () => !sending.signal.aborted && now() < hold.until - MARGIN_MS;
    while (state === 'delivering' && disabled === undefined && isHeld()) {
      woken = new AbortController();
      if (failure !== undefined) throw failure;
      begin();
      if (now() >= readAt && queue.wantsEvents(shares.rows)) {
        await read();
        begin();
      }
      if (isSaveDue() && !(await save())) state = 'lost';
      await pause(restMs(), undefined, { signal: woken.signal }).catch(() => undefined);
    }
  }

  /** What is due and was not begun waits for an attempt in progress, whose end wakes it. */
  function restMs(): number {
    if (readAt === 0 && queue.wantsEvents(shares.rows)) return 0;
    const untilRetry = queue.wakeAt() - now();
    return untilRetry > 0 ? Math.min(untilRetry, SAVE_MS) : SAVE_MS;
  }

  /** After a failed save, the position must not pass what it had taken from the queue. */
  async function end(isWhole: boolean): Promise<void> {
    const ended = () => Promise.all(attempts);
    if (state === 'stopping') await Promise.race([ended(), pause(STOP_MS, null, { ref: false })]);
    sending.abort();
    await ended();
    if (isWhole && disabled !== undefined)
      await save({ state: 'disabled', disabledBecause: disabled });
    else if (isWhole && state === 'stopping') await save({});
    else await releaseEndpoint(store.webhooks, hold);
    const row = await store.webhooks.endpoints.get(webhookId);
    if (row?.state === 'active') return;
    const count = await giveUp(store, endpoint, row !== undefined, now());
    if (count > 0) metrics.webhookDelivery(partnerId, 'failed', count);
    if (row !== undefined)
      log.warn({ partner: partnerId, webhookId, reason: row.disabledBecause }, 'webhook disabled');
  }

  async function run(): Promise<void> {
    const failed = (err: unknown) => {
      log.outage({ err, store: 'standings' }, 'webhooks wait');
      return false;
    };
    const isWhole = await work().then(() => true, failed);
    await end(isWhole).catch(failed);
    clearTimeout(leaseTimer);
  }
  const working = run();

  return {
    endpoint,
    /** Resolves once it has ended, whyever. */
    ended: working,
    /** Makes it look for new events now. */
    wake(): void {
      readAt = 0;
      wake();
    },
    /** Makes it look now whether the endpoint was changed. */
    check(): void {
      savedAt = Number.NEGATIVE_INFINITY;
      wake();
    },
    /** Finishes the attempts in progress, for 5 seconds at most, and gives up the lease. */
    stop(): Promise<void> {
      state = 'stopping';
      wake();
      return working;
    },
    isSending: () => attempts.size > 0,
    hasRows: queue.hasRows,
    /** How many events it has not delivered yet, those of other types included. */
    async backlog(): Promise<number> {
      const unread = (await store.feed.last(partnerId)) - queue.readTo();
      return Math.max(0, unread) + queue.messages().length;
    },
    /** How long ago the oldest of them occurred, in seconds. */
    oldestSeconds(): number {
      const oldestAt = Math.min(now(), ...queue.messages().map(({ occurredAt }) => occurredAt));
      return (now() - oldestAt) / 1_000;
    },
  };
}
