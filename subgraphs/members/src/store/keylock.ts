// Lets writes that meet on a key take turns, within this process.

/**
 * Returns a function that runs an act once every earlier one that shares a key with it has ended; acts without a common key run at the same time.
 * It saves work and decides nothing: what other processes do is settled by the database.
 */
export function createKeyLock(): <T>(keys: readonly string[], act: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (keys, act) => {
    const mine = Promise.allSettled(keys.map((key) => last.get(key))).then(act);
    const ended = mine
      .catch(() => undefined)
      .then(() => {
        for (const key of keys) if (last.get(key) === ended) last.delete(key);
      });
    for (const key of keys) last.set(key, ended);
    return mine;
  };
}
