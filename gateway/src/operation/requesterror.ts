// The error of a request that graphql-js refuses, with a message for each fault.
import { ApiError, type ErrorCode } from '@partner-loyalty/runtime';
import type { GraphQLError } from 'graphql';

/** Its messages come from graphql-js and name only what the caller sent or may see. */
export class GraphqlRequestError extends ApiError {
  readonly errors: readonly GraphQLError[];
  constructor(code: ErrorCode, errors: readonly GraphQLError[]) {
    super(code);
    this.errors = errors;
  }
}
