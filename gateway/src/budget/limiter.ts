// The rate limiter: charges a budget for each request and decides whether it may proceed.
import { pollDone } from '@partner-loyalty/runtime/eventloop/afterpoll.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { LRUCache } from 'lru-cache';
import { createAddressCounters } from './addresses.ts';
import type { Count, Counter, Counters } from './counters.ts';
import { createRefusals } from './refusals.ts';

/** The windows of all but the budget of a key, whose window is a setting. */
export const WINDOW_SECONDS = { member: 60, refusal: 60, page: 60, app: 60, registry: 60 };

type Policy = 'key' | keyof typeof WINDOW_SECONDS;

const REFUSAL_BUDGET = 60;
const PAGE_BUDGET = 600;
const STAFF_PAGE_BUDGET = 1_200;
const APP_BUDGET = 6_000;
const REGISTRY_BUDGET = 10;
const REGISTRY_READ_BUDGET = 60;

export type Verdict = {
  policy: Policy;
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number;
  windowSeconds: number;
};

export type Limiter = ReturnType<typeof createLimiter>;

/** Processes may share the counters. `keyWindowSeconds` is the window of a key's budget. */
export function createLimiter(
  counters: Counters,
  keyWindowSeconds: number,
  metrics: Pick<Metrics, 'limit'> = { limit() {} },
) {
  const windowSeconds: Record<Policy, number> = { key: keyWindowSeconds, ...WINDOW_SECONDS };
  const byPolicy: Partial<Record<Policy, Counter>> = {};
  // Only counters in Redis have a state, and only they are a network round trip away.
  const estimates = counters.state === undefined ? undefined : new Estimates();
  const counterOf = createAddressCounters(WINDOW_SECONDS.refusal * 1_000);
  const refusals = createRefusals(REFUSAL_BUDGET);
  const pages = createRefusals(PAGE_BUDGET);

  function add(policy: Policy, subject: string, cost: number, budget: number): Promise<Count> {
    byPolicy[policy] ??= counters.counter(policy, windowSeconds[policy]);
    const counter = byPolicy[policy];
    // Requests of a tick are counted together, and continue together.
    return pollDone().then(() => counter.add(subject, { points: cost, limit: budget }));
  }

  function decide(policy: Policy, budget: number, count: Count): Verdict {
    const { consumedPoints, isWithin: allowed, msBeforeNext, degraded } = count;
    metrics.limit(policy, degraded ? 'insurance' : allowed ? 'taken' : 'refused');
    return {
      policy,
      allowed,
      limit: budget,
      remaining: Math.max(0, budget - consumedPoints),
      resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
      windowSeconds: windowSeconds[policy],
    };
  }

  /**
   * Consumes `cost` from the subject's budget. The window is fixed and begins with the first
   * consumption. If less than `cost` remains, the verdict refuses, and 1 is consumed instead.
   * Rejects only if a counter does.
   */
  function consume(
    policy: Policy,
    subject: string,
    cost: number,
    budget: number,
  ): Promise<Verdict> {
    if (policy === 'key') estimates?.consuming(subject, cost);
    return add(policy, subject, cost, budget).then((count) => {
      if (policy === 'key') estimates?.consumed(subject, cost, count.consumedPoints);
      return decide(policy, budget, count);
    });
  }

  const byAddress = (policy: Policy, tally: typeof pages, budget: number) => (address: string) =>
    tally
      .count(address, () => add(policy, counterOf(address), 1, budget))
      .then((count) => decide(policy, budget, count));

  return {
    consume,
    /**
     * Whether at least half of a key's budget would be left after the cost, as far as this process
     * knows; false if it does not know. Call it before consume.
     */
    hasPlenty: (policy: Policy, subject: string, cost: number, budget: number) =>
      policy === 'key' && estimates?.isPlenty(subject, cost, budget) === true,
    /**
     * Counts a client address's request without a valid credential; an IPv6 /64 counts as one
     * address. In a flood of addresses, they share counters.
     */
    consumeRefusal: byAddress('refusal', refusals, REFUSAL_BUDGET),
    /** Counts a request for a page or another public document, in the same way. */
    consumePage: byAddress('page', pages, PAGE_BUDGET),
    /** Counts the same of a browser, by who is signed in in it. */
    consumeSession: (owner: string, cost: number) => consume('page', owner, cost, PAGE_BUDGET),
    /** Counts the same of all of a partner's staff who have the role. */
    consumeStaff: (partnerId: string, role: string) =>
      consume('page', `${role} ${partnerId}`, 1, STAFF_PAGE_BUDGET),
    /** Counts a request of a registered app that showed its secret. */
    consumeApp: (clientId: string) => consume('app', clientId, 1, APP_BUDGET),
    /** Counts a request to the registry by the token of a subgraph. Changes include checks. */
    consumeRegistry: (tokenId: string, isChange: boolean) =>
      isChange
        ? consume('registry', tokenId, 1, REGISTRY_BUDGET)
        : consume('registry', `reading ${tokenId}`, 1, REGISTRY_READ_BUDGET),
    /** Which client addresses are over the limit of refusals, as far as this process knows. */
    refusals,
    /** Which are over that of pages. */
    pages,
  };
}

/**
 * The RateLimit headers of a verdict, in the older and the newer form (docs/callers/limits.md,
 * Budget); with `retry-after` if the verdict refuses.
 */
export function rateLimitHeaders(verdict: Verdict): Record<string, string> {
  const { policy, allowed, limit, remaining, resetSeconds, windowSeconds } = verdict;
  const headers: Record<string, string> = {
    'ratelimit-limit': `${limit}`,
    'ratelimit-remaining': `${remaining}`,
    'ratelimit-reset': `${resetSeconds}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowSeconds}`,
  };
  if (!allowed) headers['retry-after'] = `${resetSeconds}`;
  return headers;
}

/** Subjects that are remembered; each takes about 0.2 KB. */
const MAX_SUBJECTS = 20_000;

type Estimate = {
  /** What the counter answered last; undefined before its first answer. */
  consumed: number | undefined;
  /** What was consumed since, without an answer so far. */
  pending: number;
};

/**
 * What subjects have consumed, between the answers of shared counters. Other processes may have
 * consumed more. Counters are expected to answer in order.
 */
export class Estimates {
  private readonly bySubject = new LRUCache<string, Estimate>({ max: MAX_SUBJECTS });

  isPlenty(subject: string, cost: number, budget: number): boolean {
    const estimate = this.bySubject.get(subject);
    if (estimate?.consumed === undefined) return false;
    return estimate.consumed + estimate.pending + cost <= budget / 2;
  }

  consuming(subject: string, cost: number): void {
    const estimate = this.bySubject.get(subject) ?? { consumed: undefined, pending: 0 };
    estimate.pending += cost;
    this.bySubject.set(subject, estimate);
  }

  consumed(subject: string, cost: number, consumed: number): void {
    const estimate = this.bySubject.get(subject);
    if (estimate === undefined) return;
    // Forgotten meanwhile, it has begun anew without this cost.
    estimate.pending = Math.max(0, estimate.pending - cost);
    estimate.consumed = consumed;
  }
}
