// Bounds the values of labels that callers choose, without a series ever starting again.
import { LRUCache } from 'lru-cache';

/** Names that are counted until they are used often enough; those not used for long go first. */
const MAX_CANDIDATES = 100;

export const OTHER = 'other';

/**
 * Returns a function that gives the label of a name: the name itself for the first `most` names
 * that were used `uses` times, from then on and for good, and `other` for all others.
 */
export function createLabels(most: number, uses: number): (name: string | undefined) => string {
  const known = new Map<string, string>();
  const candidates = new LRUCache<string, number>({ max: MAX_CANDIDATES });
  return (name) => {
    if (name === undefined) return OTHER;
    const label = known.get(name);
    if (label !== undefined) return label;
    if (known.size >= most) return OTHER;
    const count = (candidates.get(name) ?? 0) + 1;
    // The name of an operation is a slice of its document, which it would keep in memory.
    const copy = Buffer.from(name).toString();
    if (count < uses) {
      candidates.set(copy, count);
      return OTHER;
    }
    known.set(copy, copy);
    if (known.size >= most) candidates.clear();
    return copy;
  };
}
