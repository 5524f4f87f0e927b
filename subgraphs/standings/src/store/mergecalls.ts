// Merges calls that would get in each other's way into one call.

type Merged<T, R> = {
  items: readonly T[];
  keys: ReadonlySet<string>;
  resolve(results: R[]): void;
  reject(error: unknown): void;
};

/**
 * Returns a function that calls `run`, which resolves with a result for each item. Calls whose
 * items share a key with those of a running call wait for its end, and are then run together, up to
 * `maxItems` at once; if that fails, each of them fails. All others start at once.
 */
export function mergeCalls<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  keyOf: (item: T) => string,
  maxItems: number,
): (items: readonly T[]) => Promise<R[]> {
  const running = new Set<string>();
  let waiting: Merged<T, R>[] = [];

  const start = (): void => {
    for (;;) {
      const [group, others] = nextGroup(waiting, running, maxItems);
      if (group.length === 0) return;
      waiting = others;
      void runGroup(group);
    }
  };
  const runGroup = async (group: readonly Merged<T, R>[]): Promise<void> => {
    const keys = group.flatMap((call) => [...call.keys]);
    for (const key of keys) running.add(key);
    try {
      const results = await run(group.flatMap(({ items }) => items));
      let from = 0;
      for (const { items, resolve } of group) {
        resolve(results.slice(from, from + items.length));
        from += items.length;
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      for (const key of keys) running.delete(key);
      start();
    }
  };

  return (items) =>
    new Promise((resolve, reject) => {
      waiting.push({ items, keys: new Set(items.map(keyOf)), resolve, reject });
      start();
    });
}

/** The calls that can run together now, in their order, and those that wait on. */
function nextGroup<T, R>(
  waiting: readonly Merged<T, R>[],
  running: ReadonlySet<string>,
  maxItems: number,
): [group: Merged<T, R>[], others: Merged<T, R>[]] {
  const group: Merged<T, R>[] = [];
  const others: Merged<T, R>[] = [];
  // The keys of those that wait on, too: otherwise a call with many keys might wait for ever.
  const taken = new Set(running);
  let count = 0;
  for (const call of waiting) {
    const fits = count === 0 || count + call.items.length <= maxItems;
    if (fits && [...call.keys].every((key) => !taken.has(key))) {
      group.push(call);
      count += call.items.length;
    } else {
      others.push(call);
      for (const key of call.keys) taken.add(key);
    }
  }
  return [group, others];
}
