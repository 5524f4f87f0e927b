// Gathers the reads of one event-loop turn into one query.
import DataLoader from 'dataloader';
import { afterPoll } from './afterpoll.ts';

// As many documents as MongoDB's first answer brings without being asked for more.
const MAX_KEYS = 100;

/**
 * A read by key. The reads of one event-loop turn, whoever asks, share one call of `load` for each 100 keys, each key named once; where it fails, it fails
 * for each of them. Nothing is kept beyond that.
 */
export function batchLoad<V>(
  load: (keys: string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | undefined> {
  const loader = new DataLoader<string, V | undefined>(
    async (keys) => {
      const found = await load([...new Set(keys)]);
      return keys.map((key) => found.get(key));
    },
    { cache: false, maxBatchSize: MAX_KEYS, batchScheduleFn: afterPoll },
  );
  return (key) => loader.load(key);
}
