// The cost of a request, and who pays it: the caller's budget, or the address of the client.
import { ApiError, fail } from '@partner-loyalty/runtime/errors.ts';
import { pollDone } from '@partner-loyalty/runtime/eventloop/afterpoll.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { Operation } from '../document/document.ts';
import { costOfLists } from '../document/lists.ts';
import type { Principal } from '../identity/authenticate.ts';
import type { RequestState } from '../state.ts';
import type { Limiter } from './limiter.ts';

type Client = Pick<HttpRequest, 'address'>;

export type Budget = {
  /**
   * Charges a request, which pays once: later calls change nothing. With a valid key or token, its
   * budget pays `cost`, or 1 if that is more than the whole budget. A credential that is refused or
   * missing costs its client address 1. Resolves with whether enough was left; if not, the rest is
   * used up.
   */
  charge(client: Client, state: RequestState, cost?: number): Promise<boolean>;
  /**
   * Runs an operation that the principal's budget pays for. Rejects with RATE_LIMITED or
   * OPERATION_TOO_COMPLEX. One whose result can be thrown away begins before the count is known if
   * the budget has plenty left. In the worst case, other processes have just used up the rest.
   */
  spend<T>(spending: Spending, run: () => Promise<T>): Promise<T>;
  /**
   * Charges a request that was refused before its cost was known: 1. A missing credential pays only
   * if nothing else is wrong with the request. Resolves with the reason to give.
   */
  chargeRefusal(client: Client, state: RequestState, reason: unknown): Promise<unknown>;
};

export type Spending = {
  client: Client;
  state: RequestState;
  principal: Principal;
  cost: number;
  /** Whether its result can be thrown away. */
  isRepeatable: boolean;
};

export function createBudget(limiter: Limiter): Budget {
  async function charge(client: Client, state: RequestState, cost = 1): Promise<boolean> {
    if (state.verdict !== undefined) return state.verdict.allowed;
    const { principal } = state;
    if (principal === undefined) {
      state.verdict = await limiter.consumeRefusal(client.address);
    } else {
      const { policy, id, budget } = principal;
      state.cost = cost > budget ? 1 : cost;
      state.verdict = await limiter.consume(policy, id, state.cost, budget);
    }
    return state.verdict.allowed;
  }

  return {
    charge,
    async spend({ client, state, principal, cost, isRepeatable }, run) {
      const { policy, id, budget } = principal;
      const beginsEarly = isRepeatable && limiter.hasPlenty(policy, id, cost, budget);
      const early = beginsEarly ? pollDone().then(run) : undefined;
      // Handled below, unless the budget is spent: then RATE_LIMITED is the reason that counts.
      early?.catch(() => {});
      if (!(await charge(client, state, cost))) fail('RATE_LIMITED');
      if (cost > budget)
        fail(
          'OPERATION_TOO_COMPLEX',
          `the operation costs more than the whole budget of ${budget}`,
        );
      return await (early ?? run());
    },
    async chargeRefusal(client, state, reason) {
      if (state.principal !== undefined) await charge(client, state);
      else if (isUnauthenticated(reason) && !(await charge(client, state)))
        return new ApiError('RATE_LIMITED');
      return reason;
    },
  };
}

function isUnauthenticated(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === 'UNAUTHENTICATED';
}

/** The cost of an operation in root fields; 1 if a list is too long, whose argument is named. */
export function costOf(
  operation: Operation | undefined,
  variables: Record<string, unknown>,
): { cost: number; tooLong: string | undefined } {
  if (operation?.lists === undefined) return { cost: operation?.cost ?? 1, tooLong: undefined };
  const lists = costOfLists(operation.lists, variables);
  if (lists.tooLong !== undefined) return { cost: 1, tooLong: lists.tooLong };
  return { cost: operation.cost + lists.added, tooLong: undefined };
}
