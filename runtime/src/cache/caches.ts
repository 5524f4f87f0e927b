// The caches of one process: together they keep at most a quarter of its heap, whoever fills them.
import { createHash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { LRUCache } from 'lru-cache';
import { LONGEST_HASHED } from '../input.ts';

/** A cache that forgets what was not used for the longest time. */
export type Cache<V> = {
  /** Counts as a use. */
  get(key: string): V | undefined;
  peek(key: string): V | undefined;
  /** The values, the one used last first. */
  values(): Iterable<V>;
  /** Keeps the value, unless it is too large. */
  set(key: string, value: V): void;
  /** Weighs a value again that has grown in place. */
  weighAgain(key: string): void;
  delete(key: string): void;
  /** Forgets all entries. The cache takes no more. */
  close(): void;
};

export type Caches = ReturnType<typeof createCaches>;

const HEAP_PARTS = 4;
// A Map entry, the lists of an LRU cache, and the objects that hold a string.
const BYTES_PER_ENTRY = 320;
const BYTES_PER_KEY_CHARACTER = 2;
// A single entry beyond this part of the limit would evict too much that others use.
const LARGEST_ENTRY_PARTS = 8;

const hashed = (key: string) =>
  key.length > LONGEST_HASHED ? createHash('sha256').update(key).digest('base64') : key;

/** Callers choose the keys and the values, so only their bytes count, not their number. */
export function createCaches(maxBytes = getHeapStatistics().heap_size_limit / HEAP_PARTS) {
  const opened = new Set<Pick<LRUCache<string, object>, 'calculatedSize' | 'pop'>>();
  let reserved = 0;

  /** What all entries take, and what is reserved. */
  const bytes = (): number => {
    let sum = reserved;
    for (const { calculatedSize } of opened) sum += calculatedSize;
    return sum;
  };

  // Evicts from the heaviest cache, so that a flood of one thing does not evict everything else.
  function shrink(): void {
    while (bytes() > maxBytes) {
      const [heaviest] = [...opened].sort(
        (one, other) => other.calculatedSize - one.calculatedSize,
      );
      if (heaviest === undefined || heaviest.calculatedSize === 0) return;
      heaviest.pop();
    }
  }

  return {
    /**
     * Opens a cache. `weigh` returns the bytes that a value takes, in addition to its key: never
     * less than what hostile callers can make it take, which test/memory measures.
     */
    open<V>(weigh: (value: V, key: string) => number): Cache<V> {
      const entries = new LRUCache<string, { value: V }>({
        maxSize: Math.ceil(maxBytes),
        maxEntrySize: Math.ceil(maxBytes / LARGEST_ENTRY_PARTS),
        sizeCalculation: ({ value }, key) =>
          Math.ceil(BYTES_PER_ENTRY + key.length * BYTES_PER_KEY_CHARACTER + weigh(value, key)),
      });
      opened.add(entries);
      const set = (key: string, value: V) => {
        if (!opened.has(entries)) return;
        entries.set(hashed(key), { value });
        shrink();
      };
      return {
        get: (key) => entries.get(hashed(key))?.value,
        peek: (key) => entries.peek(hashed(key))?.value,
        values: () => Array.from(entries.values(), ({ value }) => value),
        set,
        weighAgain(key) {
          const entry = entries.peek(hashed(key));
          if (entry !== undefined) set(key, entry.value);
        },
        delete: (key) => void entries.delete(hashed(key)),
        close() {
          entries.clear();
          opened.delete(entries);
        },
      };
    },
    /** Sets bytes aside for something that is never forgotten. */
    reserve(more: number): void {
      reserved += more;
      shrink();
    },
    bytes,
  };
}
