// A lock by key: within this process, tasks that share a key run one after the other.

/** Runs a task as soon as all earlier tasks that share a key with it have ended. */
export type KeyLock = <T>(keys: readonly string[], task: () => Promise<T>) => Promise<T>;

/**
 * Tasks without a common key run concurrently. The lock avoids needless conflicts and guarantees
 * nothing: the database decides between processes.
 */
export function createKeyLock(): KeyLock {
  const last = new Map<string, Promise<unknown>>();
  return (keys, task) => {
    const run = Promise.allSettled(keys.map((key) => last.get(key))).then(task);
    const ended = run
      .catch(() => undefined)
      .then(() => {
        for (const key of keys) if (last.get(key) === ended) last.delete(key);
      });
    for (const key of keys) last.set(key, ended);
    return run;
  };
}
