// Bounds the values of labels that callers choose, without a series ever starting again.

/** Names that are counted until they are used often enough; those not used for long go first. */
const MAX_CANDIDATES = 1_000;

export const OTHER = 'other';

/**
 * Returns a function that gives the label of a name: the name itself for the first `most` names
 * that were used `uses` times, from then on and for good, and `other` for all others.
 */
export function createLabels(most: number, uses: number): (name: string | undefined) => string {
  const known = new Set<string>();
  const candidates = new Map<string, number>();
  return (name) => {
    if (name === undefined) return OTHER;
    if (known.has(name)) return name;
    if (known.size >= most) return OTHER;
    const count = (candidates.get(name) ?? 0) + 1;
    candidates.delete(name);
    if (count < uses) {
      candidates.set(name, count);
      const [oldest = name] = candidates.size > MAX_CANDIDATES ? candidates.keys() : [];
      if (candidates.size > MAX_CANDIDATES) candidates.delete(oldest);
      return OTHER;
    }
    known.add(name);
    if (known.size >= most) candidates.clear();
    return name;
  };
}
