// Gathers the reads of one event-loop turn into one query.

/** As many keys as one answer of MongoDB brings documents without being asked for more. */
const MAX_KEYS = 100;

/**
 * Returns a read by key. The reads of one event-loop turn, whoever asks, share one call of `load` for each 100 keys; where it fails, it fails for
 * each of them. Nothing is kept beyond that.
 */
export function gather<V>(load: (keys: string[]) => Promise<ReadonlyMap<string, V>>): (key: string) => Promise<V | undefined> {
  let open: { keys: Set<string>; found: Promise<ReadonlyMap<string, V>> } | undefined;

  const begin = () => {
    const keys = new Set<string>();
    const turn = new Promise<void>((resolve) => {
      setImmediate(() => {
        if (open?.keys === keys) open = undefined;
        resolve();
      });
    });
    return { keys, found: turn.then(() => load([...keys])) };
  };

  return async (key) => {
    if (open === undefined || (open.keys.size >= MAX_KEYS && !open.keys.has(key))) open = begin();
    open.keys.add(key);
    return (await open.found).get(key);
  };
}
