// How a command uses a store: opened for one piece of work, closed after it, and marked before the first write.
import type { KeyStore } from '@partner-loyalty/gateway';

/** Lends an opened store to `work` and closes it afterwards, also where the work fails. */
export async function lend<S extends { close(): Promise<void> }, T>(
  opening: Promise<S>,
  work: (store: S) => Promise<T>,
): Promise<T> {
  const store = await opening;
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Notes, before a command writes to any store, that it does: from then on `npm start` adds no demo data. */
export async function claimForOperator(keys: KeyStore): Promise<void> {
  const origin = await keys.origin();
  if (origin === undefined || origin === 'demo-begun') await keys.setOrigin('operator');
}
