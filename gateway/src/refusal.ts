// A refusal that GraphQL itself words: one error each, with its place in the document.
import { type ErrorCode, Failure } from '@partner-loyalty/runtime';
import type { GraphQLError } from 'graphql';

/** A failure with several errors; their messages are graphql-js's and name only what the caller sent or may see. */
export class Refusal extends Failure {
  readonly errors: readonly GraphQLError[];
  constructor(code: ErrorCode, errors: readonly GraphQLError[]) {
    super(code);
    this.errors = errors;
  }
}
