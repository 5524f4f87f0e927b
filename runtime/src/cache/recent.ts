// Remembers texts for a fixed time, in bounded memory.

/** Each takes about 0.2 KB. */
const MAX_TEXTS = 20_000;

/** `uptime` counts milliseconds and never jumps. */
export function createRecent(forMs: number, uptime = () => performance.now()) {
  // In the order of their times.
  const addedAt = new Map<string, number>();
  const isRecent = (at: number | undefined) => at !== undefined && uptime() - at < forMs;
  return {
    /** Whether it was added within the time, and fewer than 20,000 others since. */
    has: (text: string) => isRecent(addedAt.get(text)),
    add(text: string): void {
      addedAt.delete(text);
      addedAt.set(text, uptime());
      for (const [oldest, at] of addedAt) {
        if (addedAt.size <= MAX_TEXTS && isRecent(at)) return;
        addedAt.delete(oldest);
      }
    },
  };
}
