// How long a subgraph may take, and what stands for its response if it does not give one.
import { ERRORS, type ErrorCode } from '../errors.ts';
import { withTimeout } from '../timeout.ts';
import type { SubgraphRequest, SubgraphResponse } from './types.ts';

export type Execute = (request: SubgraphRequest) => SubgraphResponse | Promise<SubgraphResponse>;

/** How long a subgraph may take for an operation. */
export const DEADLINE_MS = 2_000;

/**
 * Resolves with the response, or with SERVICE_UNAVAILABLE if it takes longer than `timeoutMs`.
 * `response` must not reject. `onTimeout` is called in the second case.
 */
export function withDeadline(
  response: Promise<SubgraphResponse>,
  timeoutMs: number = DEADLINE_MS,
  onTimeout: () => void = () => {},
): Promise<SubgraphResponse> {
  return withTimeout(response, timeoutMs, 'too late').catch(() => {
    onTimeout();
    return unavailable();
  });
}

/** The response of a subgraph that does not respond. */
export function unavailable(): SubgraphResponse {
  return failed('SERVICE_UNAVAILABLE');
}

/** What stands for a response over the maximum, of its own or of its run. */
export function tooLarge(): SubgraphResponse {
  return failed('OPERATION_TOO_COMPLEX', 'this part of the response is too large');
}

/** The most entities that a subgraph is asked for at once: resolving them is one slice of work. */
export const MAX_ENTITIES = 2_000;

/** What stands for the response about more of them. */
export function tooManyEntities(): SubgraphResponse {
  return failed('OPERATION_TOO_COMPLEX', `a list has more than ${MAX_ENTITIES} entities`);
}

/** Of entities that would be represented by too much. */
export function tooLargeEntities(): SubgraphResponse {
  return failed('OPERATION_TOO_COMPLEX', 'a list needs too much data to find its entities');
}

function failed(code: ErrorCode, message: string = ERRORS[code].message): SubgraphResponse {
  return { data: null, errors: [{ message, extensions: { code } }] };
}

/**
 * The error of a subgraph that needs another one, which does not respond. It becomes
 * SERVICE_UNAVAILABLE. `name` is the other subgraph, for the log only.
 */
export class SubgraphUnavailable extends Error {
  override readonly name = 'SubgraphUnavailable';

  constructor(name: string, why: string) {
    super(`the ${name} subgraph ${why}`);
  }
}
