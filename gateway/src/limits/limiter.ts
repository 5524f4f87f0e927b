// The rate limiter: charges a budget for each request and decides whether it may proceed.
import { HEADERS, type Metrics } from '@partner-loyalty/runtime';
import { createAddressCounters } from './addresses.ts';
import { batched } from './counters.batch.ts';
import type { Counter, Counters } from './counters.ts';

/** Of a member's budget and an address's refused credentials; that of a key is a setting. */
const WINDOW_SECONDS = { member: 60, refusal: 60 };

export type Policy = 'key' | keyof typeof WINDOW_SECONDS;

/** Root fields a member may select in a window (docs/contract.md, Budget). */
export const MEMBER_BUDGET = 120;
const REFUSAL_BUDGET = 60;

export type Verdict = {
  policy: Policy;
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number;
  windowSeconds: number;
};

export type Limiter = {
  /**
   * Consumes `cost` from the subject's budget. The window is fixed and begins with the first
   * consumption. If less than `cost` remains, the verdict refuses and the rest is used up.
   * Rejects only if a counter does.
   */
  consume(policy: Policy, subject: string, cost: number, budget: number): Promise<Verdict>;
  /**
   * Counts a refused credential of a client address; an IPv6 /64 counts as one address. In a flood
   * of addresses, they share counters.
   */
  consumeRefusal(address: string): Promise<Verdict>;
};

/** Processes may share the counters. `keyWindowSeconds` is the window of a key's budget. */
export function createLimiter(
  counters: Counters,
  keyWindowSeconds: number,
  metrics: Pick<Metrics, 'limit'> = { limit() {} },
): Limiter {
  const windowSeconds: Record<Policy, number> = { key: keyWindowSeconds, ...WINDOW_SECONDS };
  const byPolicy: Partial<Record<Policy, Counter>> = {};
  const counterOf = createAddressCounters(WINDOW_SECONDS.refusal * 1_000);

  const consume: Limiter['consume'] = (policy, subject, cost, budget) => {
    byPolicy[policy] ??= batched(counters.counter(policy, windowSeconds[policy]));
    return byPolicy[policy]
      .add(subject, cost)
      .then(({ consumedPoints, msBeforeNext, degraded }) => {
        const allowed = consumedPoints <= budget;
        metrics.limit(policy, degraded ? 'insurance' : allowed ? 'taken' : 'refused');
        return {
          policy,
          allowed,
          limit: budget,
          remaining: Math.max(0, budget - consumedPoints),
          resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
          windowSeconds: windowSeconds[policy],
        };
      });
  };
  return {
    consume,
    consumeRefusal: (address) => consume('refusal', counterOf(address), 1, REFUSAL_BUDGET),
  };
}

/**
 * The RateLimit headers of a verdict, in the older and the newer form (docs/contract.md, Budget);
 * with `retry-after` if the verdict refuses.
 */
export function rateLimitHeaders(verdict: Verdict): Record<string, string> {
  const { policy, allowed, limit, remaining, resetSeconds, windowSeconds } = verdict;
  const headers: Record<string, string> = {
    [HEADERS.rateLimitLimit.name]: `${limit}`,
    [HEADERS.rateLimitRemaining.name]: `${remaining}`,
    [HEADERS.rateLimitReset.name]: `${resetSeconds}`,
    [HEADERS.rateLimit.name]: `"${policy}";r=${remaining};t=${resetSeconds}`,
    [HEADERS.rateLimitPolicy.name]: `"${policy}";q=${limit};w=${windowSeconds}`,
  };
  if (!allowed) headers[HEADERS.retryAfter.name] = `${resetSeconds}`;
  return headers;
}
