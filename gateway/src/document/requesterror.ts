// The error of a request that graphql-js refuses, with a message for each of its first faults.
import { ApiError, type ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { GraphQLError } from 'graphql';

/** How many errors a caller gets for a request that is not executed (docs/api.md, Errors). */
export const MAX_REQUEST_ERRORS = 5;

/** Its messages come from graphql-js and name only what the caller sent or may see. */
export class GraphqlRequestError extends ApiError {
  readonly errors: readonly GraphQLError[];
  constructor(code: ErrorCode, errors: readonly GraphQLError[]) {
    super(code);
    this.errors = errors.slice(0, MAX_REQUEST_ERRORS);
  }
}
