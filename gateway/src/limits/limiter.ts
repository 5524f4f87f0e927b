// The limits: how much a subject may take in a window, the verdict on each taking and the headers that tell it.
import { HEADERS, type Metrics } from '@partner-loyalty/runtime';
import ipaddr from 'ipaddr.js';
import { batched } from './counters.batch.ts';
import type { Counter, Counters } from './counters.ts';

/**
 * The windows in seconds, a row for each thing that is counted: requests of a member, refused credentials of a client address.
 * A key's window is a setting.
 */
const WINDOW_SECONDS = { member: 60, refusal: 60 };

export type Policy = 'key' | keyof typeof WINDOW_SECONDS;

/** Root fields a member may ask for in a window (contract, section 4). */
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
   * Takes `cost` from the subject's budget. The window is fixed and begins with the first taking. Where more is asked for than is left
   * the verdict refuses, and what was left is used up. Never rejects while the counters work as promised.
   */
  consume(policy: Policy, subject: string, cost: number, budget: number): Promise<Verdict>;
  /** Counts a refused credential of a client address, all addresses of an IPv6 /64 together. */
  consumeRefusal(address: string): Promise<Verdict>;
};

/** A limiter over counters, which may be shared with other processes. `keyWindowSeconds` is the window of a key's budget. */
export function createLimiter(
  counters: Counters,
  keyWindowSeconds: number,
  metrics: Pick<Metrics, 'limit'> = { limit() {} },
): Limiter {
  const windowSeconds: Record<Policy, number> = { key: keyWindowSeconds, ...WINDOW_SECONDS };
  const made: Partial<Record<Policy, Counter>> = {};

  const consume: Limiter['consume'] = (policy, subject, cost, budget) => {
    made[policy] ??= batched(counters.counter(policy, windowSeconds[policy]));
    return made[policy].add(subject, cost).then(({ consumedPoints, msBeforeNext, degraded }) => {
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
    consumeRefusal: (address) => consume('refusal', addressBlock(address), 1, REFUSAL_BUDGET),
  };
}

/** The headers of a verdict, in both generations (contract, section 4); `retry-after` where it refuses. */
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

/** Who counts as one client address: an IPv4 address, also where it is written as IPv6, or the /64 of an IPv6 address. */
export function addressBlock(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const groups = parsed.toByteArray().slice(0, 8);
  return `${Buffer.from(groups).toString('hex')}::/64`;
}
