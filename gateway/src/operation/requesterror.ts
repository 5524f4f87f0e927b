// A refusal that GraphQL itself words: one error each, with its place in the document.
import { ApiError, type ErrorCode } from '@partner-loyalty/runtime';
import type { GraphQLError } from 'graphql';

/** A failure with several errors; their messages are graphql-js's and name only what the caller sent or may see. */
export class GraphqlRequestError extends ApiError {
  readonly errors: readonly GraphQLError[];
  constructor(code: ErrorCode, errors: readonly GraphQLError[]) {
    super(code);
    this.errors = errors;
  }
}
