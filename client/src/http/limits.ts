// The budget that a response reports, and how long to wait.

export type Limits = {
  /** The budget of the window. */
  limit: number;
  /** What is left of it. */
  remaining: number;
  /** Whole seconds until the window ends. */
  resetSeconds: number;
};

/** Undefined if the response reports none. */
export function limitsIn(headers: Headers): Limits | undefined {
  const limit = wholeNumber(headers.get('ratelimit-limit'));
  const remaining = wholeNumber(headers.get('ratelimit-remaining'));
  const resetSeconds = wholeNumber(headers.get('ratelimit-reset'));
  if (limit === undefined || remaining === undefined || resetSeconds === undefined)
    return undefined;
  return { limit, remaining, resetSeconds };
}

/** The seconds in `Retry-After`; a date, which the service never sends, counts as none. */
export function retryAfterIn(headers: Headers): number | undefined {
  return wholeNumber(headers.get('retry-after'));
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
