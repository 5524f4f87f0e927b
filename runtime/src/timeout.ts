// Limits how long the caller waits for a promise.

/** The error of something that took too long, which isOutage recognizes. */
export function timeoutError(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/**
 * Settles as `promise` does, or rejects with the error from `onTimeout` after `timeoutMs`. If the
 * event loop was blocked and the timer fires late, a result that has arrived meanwhile still wins:
 * the poll phase that reads it runs before the rejection.
 */
export function withTimeout<T>(
  promise: Promise<T>,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(onTimeout())), timeoutMs);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
