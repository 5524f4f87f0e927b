// Values that are plain or promised, so that a cache hit never waits for the event loop.

export type MaybePromise<T> = T | Promise<T>;

/** A promise of any library counts. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  if (typeof value === 'string') return false; // Most are, and to look for a property takes longer.
  return typeof (value as Promise<T> | null | undefined)?.then === 'function';
}

/** Applies `map` to a plain value at once, and to a promised value when it resolves. */
export function mapMaybe<T, U>(
  value: MaybePromise<T>,
  map: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(map) : map(value);
}

/** All values, plain if all of them are. */
export function allMaybe<T>(values: MaybePromise<T>[]): MaybePromise<T[]> {
  // Cast: none of them is a promise.
  return values.some(isPromise) ? Promise.all(values) : (values as T[]);
}
