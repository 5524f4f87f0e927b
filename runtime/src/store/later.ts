// Lets a process start while the engine of a store is unavailable.
import { isOutage } from './outage.ts';

const RETRY_MS = 1_000;

/**
 * Opens a store. If its engine is unavailable, returns one in its place whose methods reject until
 * the store can be opened, which the first use of each second tries. Rejects if the store cannot be
 * opened for another reason. `onOutage` receives the first failure.
 */
export async function openNowOrLater<Store extends { close(): Promise<void> }>(
  open: () => Promise<Store>,
  onOutage: (error: unknown) => void,
): Promise<Store> {
  try {
    return await open();
  } catch (error) {
    if (!isOutage(error)) throw error;
    onOutage(error);
    return openLater(open, error);
  }
}

function openLater<Store extends { close(): Promise<void> }>(
  open: () => Promise<Store>,
  error: unknown,
): Store {
  let opening: Promise<Store> = Promise.reject(error);
  opening.catch(() => {});
  let retryAt = performance.now() + RETRY_MS;
  let isClosed = false;

  function opened(): Promise<Store> {
    if (isClosed || performance.now() < retryAt) return opening;
    // No other attempt before this one has failed.
    retryAt = Number.POSITIVE_INFINITY;
    opening = open();
    opening.catch(() => {
      retryAt = performance.now() + RETRY_MS;
    });
    return opening;
  }

  async function close(): Promise<void> {
    isClosed = true;
    const store = await opening.catch(() => undefined);
    await store?.close();
  }

  // Cast: the proxy has every method that a store has.
  return new Proxy({} as Store, {
    get(_, name) {
      if (name === 'then') return undefined; // It is no promise.
      if (name === 'close') return close;
      return async (...args: unknown[]) => {
        const store = await opened();
        // Cast: callers name only methods of the store.
        const method = store[name as keyof Store] as (...given: unknown[]) => unknown;
        return method(...args);
      };
    },
  });
}
