// Batches the reads of one event loop tick into one query.
import DataLoader from 'dataloader';
import { afterPoll } from './afterpoll.ts';

// The first batch of MongoDB's cursors has up to 101 documents, so 100 keys take one round trip.
const MAX_KEYS = 100;

/**
 * Returns a read by key. All reads of one event loop tick share a call of `load` for every 100
 * keys, in which each key occurs once; if the call fails, each of its reads fails. Nothing is
 * cached beyond that.
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
