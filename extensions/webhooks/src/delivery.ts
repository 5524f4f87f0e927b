// Delivers to one endpoint for as long as this process holds its lease.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { type Metrics, WEBHOOK_ATTEMPTS } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Event } from '@partner-loyalty/standings/rules/event.ts';
import type { EventPage } from '@partner-loyalty/standings/store/feed.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import {
  dropWaiting,
  type Endpoint,
  type WaitingMessage,
} from '@partner-loyalty/standings/store/webhooks.ts';
import { type EndpointEnd, type Hold, saveEndpoint, takeShare } from './holding.ts';
import { eventsFrom } from './place.ts';
import { FAILING_MS } from './queue.ts';
import type { Send, Sent } from './send.ts';

export type DeliveryOptions = {
  send: Send;
  log: Pick<Log, 'info' | 'warn' | 'outage' | 'recovered'>;
  metrics: Pick<Metrics, 'webhookDelivery' | 'webhookAttempt'>;
  /** Returns milliseconds since 1970. */
  now: () => number;
  /**
   * How many attempts a partner may have in progress now, and how many messages of an endpoint may
   * wait for a retry, or behind one.
   */
  shares: { attempts: number; rows: number };
  /** The attempts in progress of each endpoint of the partner. */
  ofPartner: Set<ReadonlySet<unknown>>;
  /** Resolves when an attempt of the endpoint may use the event loop. */
  turn: (endpoint: Endpoint) => Promise<void>;
};

export type Delivery = ReturnType<typeof startDelivery>;

const POLL_MS = 1_000;
const PAGE_SIZE = 100;
const MAX_RECENT = 5 * PAGE_SIZE;
const SAVE_MS = 500;
const MIN_REST_MS = 5;
const RENEW_MS = 5_000;
/** An attempt, which takes 15 seconds at most, begins so long before the end of the lease. */
export const ATTEMPT_MS = 16_000;
/** How long attempts in progress may take when the process stops. */
const STOP_MS = 5_000;
/** With so many rows, nobody reads each answer. */
const MAX_ANSWERS = 1_000;

/** Delivers until `stop` or `change`, or until the lease is lost. Never rejects. */
export function startDelivery(
  store: Pick<StandingsStore, 'feed' | 'webhooks'>,
  hold: Hold,
  { send, log, metrics, now, shares, ofPartner, turn }: DeliveryOptions,
) {
  const { endpoint, queue } = hold;
  const { webhookId, partnerId } = endpoint;
  const types = endpoint.types && new Set(endpoint.types);
  const attempts = new Set<Promise<void>>();
  ofPartner.add(attempts);
  const sending = new AbortController();
  let wake = () => {};
  /** Once set, it ends, and writes this to the endpoint; or nothing, without a sound lease. */
  let ending: EndpointEnd | 'lost' | undefined;
  let readAt = 0;
  let savedAt = now();
  let isChanged = false;
  /** What was read within a second, and not sent: later, an erasure may have changed it. */
  let recent = { events: new Map<number, Event>(), until: 0 };
  let finding: Promise<unknown> = Promise.resolve();

  /** After a command has changed the endpoint, what is in progress is finished, and all is kept. */
  function change(): void {
    ending ??= {};
    wake();
  }
  for (const outcome of ['delivered', 'failed'] as const)
    metrics.webhookDelivery(partnerId, outcome, 0);
  for (const outcome of WEBHOOK_ATTEMPTS) metrics.webhookAttempt(partnerId, outcome, 0);

  /** The lease stays, and ends: whoever takes it then goes on with what is stored. */
  function fail(err: unknown): void {
    log.outage({ err, store: 'standings' }, 'webhooks wait');
    ending = 'lost';
  }

  function disable(disabledBecause: 'GONE' | 'FAILING'): void {
    if (ending !== 'lost') ending = { state: 'disabled', disabledBecause, disabledAt: now() };
  }

  const mayBegin = () => now() < hold.until - ATTEMPT_MS;

  /** An equal part of the partner's share. Each of its endpoints may have one at any time. */
  function mostAttempts(): number {
    if (queue.isOneByOne()) return 1;
    let [count, free] = [0, shares.attempts];
    for (const own of ofPartner) {
      if (own.size > 0 || own === attempts) count += 1;
      free -= Math.max(1, own.size);
    }
    const most = Math.min(Math.max(1, attempts.size) + free, Math.floor(shares.attempts / count));
    return Math.max(1, most);
  }

  function remember(events: EventPage['events']): void {
    if (now() >= recent.until || recent.events.size > MAX_RECENT)
      recent = { events: new Map(), until: now() + POLL_MS };
    for (const { position, event } of events) recent.events.set(position, event);
  }

  async function find(position: number): Promise<Event | undefined> {
    if (now() >= recent.until || !recent.events.has(position))
      remember(await eventsFrom(store.feed, partnerId, position, PAGE_SIZE));
    const event = recent.events.get(position);
    recent.events.delete(position);
    return event;
  }

  async function attempt(message: WaitingMessage): Promise<void> {
    const { position } = message;
    // One after the other, since the page that one reads has what the next ones want.
    const found = finding.then(() => find(position));
    finding = found;
    const event = await found;
    if (event === undefined) return queue.drop(message);
    await turn(endpoint);
    const { signal } = sending;
    const sent = mayBegin() && (await send(endpoint, contentOf(event), { signal, now: now() }));
    if (sent === false || signal.aborted) {
      // It goes out again, by whoever holds the lease then.
      ending ??= 'lost';
      return;
    }
    const { ok, answer, ...rest } = sent;
    const outcome = answer === undefined || queue.isFull(MAX_ANSWERS) ? rest : { ...rest, answer };
    metrics.webhookAttempt(partnerId, ok ? 'delivered' : failureOf(outcome), 1);
    const wasFailing = queue.isFailing();
    const end = ok && wasFailing ? await store.feed.last(partnerId) : undefined;
    const at = now();
    const counted = message.attempts;
    const fate = queue.done(message, sent, at, shares.rows, end);
    const isExtra = message.attempts === counted || undefined;
    const { messageId } = message;
    const tried = omitUndefined({ at, ...outcome, isExtra });
    hold.tried.set(messageId, [...(hold.tried.get(messageId) ?? []), tried]);
    if (wasFailing && ok) log.info({ partner: partnerId, webhookId }, 'webhook recovered');
    if (!wasFailing && queue.isFailing()) {
      const { status, reason } = outcome;
      log.warn({ partner: partnerId, webhookId, status, reason }, 'webhook failing');
    }
    if (outcome.status === 410) disable('GONE');
    else if (at - (queue.failingSince() ?? at) >= FAILING_MS) disable('FAILING');
    if (fate === 'waits') return;
    metrics.webhookDelivery(partnerId, fate, 1);
    const { id, type } = event;
    hold.outcomes[fate].push({ id, type, position, at, attempts: message.attempts, ...outcome });
  }

  function begin(): void {
    while (ending === undefined && mayBegin() && attempts.size < mostAttempts()) {
      const message = queue.next(now(), shares.rows);
      if (message === undefined) return;
      const running = attempt(message)
        .catch(fail)
        .finally(() => {
          attempts.delete(running);
          isChanged = true;
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
    if (page.end > queue.readTo()) {
      // Since a change, it may want other types.
      const row = await store.webhooks.endpoints.get(webhookId);
      if (row?.revision !== endpoint.revision) return change();
      isChanged = true;
    }
    queue.add(page.events, page.end);
    remember(page.events);
  }

  /** Whether the lease is still held, and the position still the one that was written last. */
  function save(): Promise<boolean> {
    savedAt = now();
    isChanged = false;
    return saveEndpoint(store.webhooks, hold, savedAt);
  }

  async function work(): Promise<void> {
    while (ending === undefined) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (now() >= readAt && queue.wantsEvents(now(), shares.rows)) await read();
      if (attempts.size < mostAttempts() && queue.wantsShare(now(), shares.rows))
        queue.share(await takeShare(store.webhooks, partnerId, now()));
      begin();
      const isDue = now() - savedAt >= (isChanged || queue.hasChanges() ? SAVE_MS : RENEW_MS);
      if (isDue && !(await save())) ending = 'lost';
      const timer = setTimeout(wake, restMs());
      await woken;
      clearTimeout(timer);
    }
  }

  function restMs(): number {
    if (readAt === 0 && queue.wantsEvents(now(), shares.rows)) return 0;
    // The end of an attempt wakes it.
    if (attempts.size >= mostAttempts()) return SAVE_MS;
    return Math.min(SAVE_MS, Math.max(MIN_REST_MS, queue.wakeAt(now()) - now()));
  }

  async function end(): Promise<void> {
    if (ending === 'lost') sending.abort();
    await Promise.all(attempts);
    ofPartner.delete(attempts);
    if (ending !== 'lost') await saveEndpoint(store.webhooks, hold, now(), ending);
    const row = await store.webhooks.endpoints.get(webhookId);
    if (row?.state === 'active') return;
    const count = await dropWaiting(store.webhooks, webhookId);
    if (count > 0) metrics.webhookDelivery(partnerId, 'failed', count);
    if (row !== undefined)
      log.warn({ partner: partnerId, webhookId, reason: row.disabledBecause }, 'webhook disabled');
  }

  const ended = work().catch(fail).then(end).catch(fail);

  return {
    endpoint,
    /** Resolves once it has ended, whyever. */
    ended,
    /** Makes it look for new events now. */
    wake(): void {
      readAt = 0;
      wake();
    },
    change,
    /** Finishes the attempts in progress, for 5 seconds at most, and gives up the lease. */
    stop(): Promise<void> {
      setTimeout(() => sending.abort(), STOP_MS).unref();
      change();
      return ended;
    },
    hasRows: queue.hasRows,
    /** How many events it has not delivered yet, those of other types included. */
    async backlog(): Promise<number> {
      const unread = (await store.feed.last(partnerId)) - queue.readTo();
      return Math.max(0, unread) + queue.messages().length;
    },
    /** How long ago the oldest of them occurred that is sent for the first time, in seconds. */
    oldestSeconds(): number {
      const first = queue.messages().filter(({ isReplayed }) => !isReplayed);
      const oldestAt = Math.min(now(), ...first.map(({ occurredAt }) => occurredAt));
      return (now() - oldestAt) / 1_000;
    },
  };
}

function failureOf({ status, reason }: Pick<Sent, 'status' | 'reason'>) {
  if (status !== undefined) return 'refused';
  return reason === 'TIMEOUT' ? 'timeout' : 'unreachable';
}

/** The event with the fields that the API has and this event has, without `member`. */
export function contentOf({ id, type, partnerId, occurredAt, ...content }: Event) {
  const timestamp = new Date(occurredAt);
  return { id, type, timestamp, data: { id, type, occurredAt: timestamp, ...content } };
}
