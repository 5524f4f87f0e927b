// Limits how long the caller waits for a promise.

/**
 * Settles as `promise` does, or rejects after `timeoutMs` with an error that isOutage recognizes.
 * If the event loop was blocked and the timer fires late, a result that has arrived meanwhile still
 * wins: the poll phase that reads it runs before the rejection.
 */
export function withTimeout<T>(
  promise: Promise<T>,
  timeoutMs: number,
  message: string,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
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
