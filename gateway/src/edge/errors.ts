// The errors of a response as the caller gets them: short and few.
import type { ErrorDetails } from '@partner-loyalty/runtime/errors.ts';

/** How many errors a caller gets in addition to the first one of each root field. */
export const MAX_FURTHER_ERRORS = 5;

/** In characters; graphql-js quotes documents and variables in its messages. */
const MAX_MESSAGE = 300;

export type ResponseError = {
  message: string;
  locations?: unknown;
  path?: (string | number)[];
  extensions: { code: string; requestId: string } & ErrorDetails;
};

/** A message, cut to its first 300 characters. */
export function shortMessage(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`;
}

/** The first error of each root field, and up to 5 more, in their order. */
export function boundedErrors(errors: readonly ResponseError[]): ResponseError[] {
  const roots = new Set<string | number | undefined>();
  let further = 0;
  return errors.filter(({ path }) => {
    const { size } = roots;
    if (size < roots.add(path?.[0]).size) return true;
    further += 1;
    return further <= MAX_FURTHER_ERRORS;
  });
}
