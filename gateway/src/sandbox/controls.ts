// The headers with which callers of a sandbox choose a time, or a fault that they want to meet.
import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import * as z from 'zod';
import { type BudgetLimiter, charge } from '../budget/budget.ts';
import type { RequestState } from '../state.ts';

const RFC_3339 = z.iso.datetime({ offset: true });
const TIMEOUT_MS = 10_000;

/**
 * Sets the time of the request. Rejects with the fault that it asks for, at a cost of 1, or with
 * BAD_REQUEST if a header has an unknown value. Without a valid credential it does nothing.
 */
export async function applyControls(
  request: Pick<HttpRequest, 'headers' | 'address' | 'signal' | 'admit'>,
  state: RequestState,
  limiter: BudgetLimiter,
): Promise<void> {
  if (state.principal === undefined) return;
  const { 'x-sandbox-now': now, 'x-sandbox-fault': fault } = request.headers;
  if (now !== undefined) {
    const parsed = RFC_3339.safeParse(now);
    if (!parsed.success) fail('BAD_REQUEST', 'x-sandbox-now must be a time in RFC 3339');
    state.sandboxNow = Date.parse(parsed.data);
  }
  if (fault === undefined) return;
  const cause = FAULTS.get(String(fault));
  if (cause === undefined)
    return fail('BAD_REQUEST', `x-sandbox-fault must be one of ${[...FAULTS.keys()].join(', ')}`);
  if (!(await charge(limiter, request, state))) fail('RATE_LIMITED');
  state.isFault = true;
  await cause(request, state);
}

type Cause = (
  request: Pick<HttpRequest, 'signal' | 'admit'>,
  state: RequestState,
) => Promise<never> | never;

const FAULTS: ReadonlyMap<string, Cause> = new Map<string, Cause>([
  [
    'rate-limited',
    (_, state) => {
      if (state.verdict !== undefined) state.verdict = { ...state.verdict, remaining: 0 };
      return fail('RATE_LIMITED');
    },
  ],
  ['unavailable', () => fail('SERVICE_UNAVAILABLE')],
  [
    'timeout',
    async (request, state) => {
      await request.admit(state.principal?.owner);
      await pause(TIMEOUT_MS, undefined, { signal: request.signal }).catch(() => undefined);
      state.isDropped = true;
      return fail('SERVICE_UNAVAILABLE');
    },
  ],
  ['error', () => fail('INTERNAL_SERVER_ERROR')],
]);
