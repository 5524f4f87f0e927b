// Looks up any number of members, in as many requests as it takes.

/** The most keys that the service takes at once. */
const MAX_KEYS = 100;
/** Leaves room for the document within the 64 KiB of a request. */
const MAX_BYTES = 60_000;

/** The keys in groups that each fit into one request, in their order. */
export function batchesOf<Key>(keys: readonly Key[]): Key[][] {
  const batches: Key[][] = [];
  let bytes = 0;
  for (const key of keys) {
    const size = new TextEncoder().encode(JSON.stringify(key)).byteLength + 1;
    const current = batches.at(-1);
    if (current === undefined || current.length === MAX_KEYS || bytes + size > MAX_BYTES) {
      batches.push([key]);
      bytes = size;
    } else {
      current.push(key);
      bytes += size;
    }
  }
  return batches;
}
