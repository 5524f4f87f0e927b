// The sequencer: gives events their positions, ends membership years and drops old days.
import { randomUUID } from 'node:crypto';
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { MembersClient, PendingMemberEvent } from '../members.ts';
import { type Event, yearEnded } from '../rules/event.ts';
import { inTime } from '../rules/eventorder.ts';
import { yearsEnded } from '../rules/year.ts';
import { BATCH_SIZE, dayOf, type Feed, LEASE, type Lease, LeaseLost } from '../store/feed.ts';

type SequencerOptions = {
  members: Pick<MembersClient, 'pendingEvents' | 'acknowledgeEvents'>;
  /** For how many days after its own an event stays. */
  retentionDays: number;
  /** Is called when the feed has new events. */
  onEvents?: (() => void) | undefined;
  /** Returns milliseconds since 1970. */
  now?: () => number;
};

const PASS_MS = 400;
const RETRY_MS = 1_000;
const TIDY_MS = 30_000;
/** How much later than what members were asked for an own event may be to come with it. */
const ORDERED_WITHIN_MS = 1_000;

/** The work of a process on a feed, as long as it has the lease. */
export function createSequencer(
  feed: Feed,
  { members, retentionDays, onEvents, now = Date.now }: SequencerOptions,
) {
  const lease = createLease(feed, now);
  let tidiedAt = Number.NEGATIVE_INFINITY;

  /** Adds the events of the years that have ended since the last time. */
  async function endYears(until: number): Promise<void> {
    const since = await feed.yearsUntil();
    const events: Event[] = [];
    if (since !== undefined)
      for (const [partnerId, program] of await feed.partners())
        for (const end of yearsEnded(program, since, until)) events.push(yearEnded(partnerId, end));
    await feed.endYears(events, since, until);
  }

  return {
    /**
     * Gives the oldest events their positions, if this process has the lease, which it takes if it
     * is free. Resolves with whether there are more; undefined without the lease. Rejects if an
     * outbox or the feed cannot be reached: then no event of either outbox gets a position.
     */
    async pass(): Promise<boolean | undefined> {
      const token = await lease.take();
      if (token === undefined) return undefined;
      const at = now();
      if (at - tidiedAt >= TIDY_MS) {
        await endYears(at);
        await feed.dropBefore(dayOf(at) - retentionDays);
        tidiedAt = at;
      }
      const found = await members.pendingEvents(BATCH_SIZE);
      const { pending, until } = sourceOf(found);
      const source = { events: pending.map(({ event }) => event), until };
      const ownUntil = at + ORDERED_WITHIN_MS;
      const { taken, isChanged, hasMore } = await feed.append({
        token,
        members: source,
        ownUntil,
        at,
      });
      if (isChanged) onEvents?.();
      if (taken > 0) await members.acknowledgeEvents(pending.slice(0, taken).map(({ ack }) => ack));
      return hasMore || found.length === BATCH_SIZE;
    },
    release: lease.release,
  };
}

/** Lets a process of standings take its turn as the sequencer. */
export function startSequencer(
  feed: Feed,
  {
    log,
    metrics,
    ...options
  }: SequencerOptions & {
    log: Pick<Log, 'outage' | 'recovered'>;
    metrics: Pick<Metrics, 'eventBacklog'>;
  },
) {
  const sequencer = createSequencer(feed, options);
  /** When nothing waited; undefined while another process has the lease. */
  let doneAt: number | undefined = performance.now();
  metrics.eventBacklog(() =>
    doneAt === undefined ? [] : [[{}, (performance.now() - doneAt) / 1_000]],
  );

  const fields = { store: 'standings' };
  async function pass(): Promise<number> {
    const startedAt = performance.now();
    try {
      const hasMore = await sequencer.pass();
      doneAt = hasMore === undefined ? undefined : hasMore ? (doneAt ?? startedAt) : startedAt;
      if (hasMore === undefined) return RETRY_MS;
      return hasMore ? 0 : PASS_MS;
    } catch (error) {
      doneAt ??= startedAt;
      if (error instanceof LeaseLost) return RETRY_MS;
      throw error;
    }
  }
  const loop = startLoop(pass, {
    everyMs: RETRY_MS,
    failed: (err) => log.outage({ ...fields, err }, 'events do not get their positions'),
    recovered: () => log.recovered(fields, 'events get their positions again'),
  });
  loop.wake();

  return {
    /** Finishes the pass in progress and gives up the lease. */
    async stop(): Promise<void> {
      await loop.stop();
      await sequencer.release().catch(() => undefined); // It ends within seconds.
    },
  };
}

/** By time, each member's in their order. */
function sourceOf(found: readonly PendingMemberEvent[]) {
  const byMember = new Map<string | undefined, PendingMemberEvent[]>();
  for (const one of found) {
    const { memberId } = one.event;
    const others = byMember.get(memberId);
    if (others === undefined) byMember.set(memberId, [one]);
    else others.push(one);
  }
  const pending = inTime([...byMember.values()]);
  // There may be more: of later members, as they come in the order of their first event.
  const last = found.length < BATCH_SIZE ? undefined : byMember.get(found.at(-1)?.event.memberId);
  return { pending, until: last?.[0]?.occurredAt ?? Number.POSITIVE_INFINITY };
}

const LEASE_MS = 10_000;
const RENEW_MS = 3_000;

/** This process's part in the lease. `now` returns milliseconds since 1970. */
export function createLease({ leases }: Pick<Feed, 'leases'>, now: () => number) {
  let held: Lease | undefined;
  /** The last token. A row that could not be read again may still have it. */
  let token: string = randomUUID();
  return {
    /** Takes or renews the lease. Resolves with its token; undefined if another process has it. */
    async take(): Promise<string | undefined> {
      const at = now();
      if (held !== undefined && at < held.until - LEASE_MS + RENEW_MS) return held.token;
      held = undefined;
      held = await leases.update(LEASE, (before) => {
        // A held lease that has ended may have been another process's meanwhile.
        const isOwn = before?.token === token;
        if (before !== undefined && !isOwn && before.until > at) return before;
        if (!isOwn) token = randomUUID();
        return { name: LEASE, token, until: at + LEASE_MS };
      });
      return held?.token;
    },
    async release(): Promise<void> {
      held = undefined;
      await leases.update(LEASE, (row) => (row?.token === token ? undefined : row));
    },
  };
}
