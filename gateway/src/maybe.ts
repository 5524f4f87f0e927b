// Values that are there already or come later: on the hot path nothing waits a turn for what a cache holds.
import type { MaybePromise } from './keystore.ts';

/** Applies `change` at once to a plain value, and when it comes to a promised one. */
export function mapped<T, U>(value: MaybePromise<T>, change: (value: T) => U): MaybePromise<U> {
  return value instanceof Promise ? value.then(change) : change(value);
}
