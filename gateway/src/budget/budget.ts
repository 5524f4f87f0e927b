// The cost of a request, and who pays it: the caller's budget, or the address of the client.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { pollDone } from '@partner-loyalty/runtime/eventloop/afterpoll.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { Operation } from '../document/document.ts';
import { type CostOfFields, costOfFields, type DefaultPages } from '../document/lists.ts';
import { MAX_RESPONSE_BYTES } from '../document/responsesize.ts';
import type { Principal } from '../identity/authenticate.ts';
import type { RequestState } from '../state.ts';
import type { Limiter } from './limiter.ts';

type Client = Pick<HttpRequest, 'address'>;

/** What counts what callers have spent. */
export type BudgetLimiter = Pick<Limiter, 'consume' | 'consumeRefusal' | 'hasPlenty'>;

type Spending = {
  client: Client;
  state: RequestState;
  principal: Principal;
  cost: number;
  /** Whether its result can be thrown away. */
  isRepeatable: boolean;
};

/**
 * Charges a request, which pays once: later calls change nothing. With a valid key or token, its
 * budget pays `cost`, or 1 if that is more than the whole budget. Without a valid credential, the
 * client address pays 1. Resolves with whether enough was left; if not, it pays 1.
 */
export async function charge(
  limiter: Pick<Limiter, 'consume' | 'consumeRefusal'>,
  client: Client,
  state: RequestState,
  cost = 1,
): Promise<boolean> {
  if (state.verdict !== undefined) return state.verdict.allowed;
  const { principal } = state;
  if (principal === undefined) {
    state.verdict = await limiter.consumeRefusal(client.address);
  } else {
    const { policy, id, budget } = principal;
    state.cost = cost > budget ? 1 : cost;
    state.verdict = await limiter.consume(policy, id, state.cost, budget);
    if (!state.verdict.allowed) state.cost = 1;
  }
  return state.verdict.allowed;
}

/**
 * Runs an operation that the principal's budget pays for. Rejects with RATE_LIMITED or
 * OPERATION_TOO_COMPLEX. One whose result can be thrown away begins before the count is known if
 * the budget has plenty left. In the worst case, other processes have just used up the rest.
 */
export async function spend<T>(
  limiter: BudgetLimiter,
  { client, state, principal, cost, isRepeatable }: Spending,
  run: () => Promise<T>,
): Promise<T> {
  const { policy, id, budget } = principal;
  const beginsEarly = isRepeatable && limiter.hasPlenty(policy, id, cost, budget);
  const charged = charge(limiter, client, state, cost);
  const early = beginsEarly ? pollDone().then(run) : undefined;
  // Handled below, unless the budget is spent: then RATE_LIMITED is the reason that counts.
  early?.catch(() => {});
  if (!(await charged)) fail('RATE_LIMITED');
  if (cost > budget)
    fail('OPERATION_TOO_COMPLEX', `the operation costs more than the whole budget of ${budget}`);
  return await (early ?? run());
}

export type Cost = Pick<CostOfFields, 'cost' | 'tooLong'> & {
  /** About how large the response may get. */
  bytes: number;
};

export function costOf(
  operation: Operation | undefined,
  variables: Record<string, unknown>,
  defaultPages: DefaultPages,
): Cost {
  if (operation === undefined) return { cost: 1, tooLong: undefined, bytes: 0 };
  const { cost, longest, tooLong } = costOfFields(operation, variables, defaultPages);
  const bytes = tooLong === undefined ? bytesExpected(operation, longest, variables) : 0;
  return { cost, tooLong, bytes };
}

const BYTES_OF_RESPONSE = 1_024;
/** For a name, its value and the punctuation around them. */
const BYTES_OF_SELECTION = 32;
/** More items than this in the lists around a field are not expected. */
const MOST_ITEMS = 2_000;

/** An integer among the arguments may be the length of a page, in each item of a list. */
function bytesExpected(
  { selections, largestInteger }: Operation,
  longest: number,
  variables: Record<string, unknown>,
): number {
  let page = largestInteger;
  for (const name in variables) {
    const value = variables[name];
    if (typeof value === 'number' && value > page) page = value;
  }
  const items = Math.min(MOST_ITEMS, longest * page);
  return Math.min(MAX_RESPONSE_BYTES, BYTES_OF_RESPONSE + selections * items * BYTES_OF_SELECTION);
}
