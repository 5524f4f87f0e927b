// Bounds how long a promise is waited for.

/**
 * Settles as `promise` does, or rejects with the error of `onTimeout` after `timeoutMs`. Answers that arrived while the
 * timer was late count as in time: the poll phase that reads them runs before the rejection.
 */
export function withTimeout<T>(
  promise: Promise<T>,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(onTimeout())), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
