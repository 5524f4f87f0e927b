// Remembers which signatures were used, so that a signed request is valid only once.

/** How many signatures, at about 40 bytes each. */
const CAPACITY = 500_000;
const WINDOW_MS = 30_000;

export type ReplayGuard = ReturnType<typeof createReplayGuard>;

/**
 * Accepts signatures within 30 seconds of now. If there are more than `capacity`, it forgets those
 * of the oldest second, and refuses all requests signed up to then.
 */
export function createReplayGuard(now: () => number = Date.now, capacity = CAPACITY) {
  // By the second of signing, so that it can forget a whole second at once.
  const seen = new Map<number, Set<number>>();
  let size = 0;
  let floorMs = 0;

  function forget(second: number): void {
    size -= seen.get(second)?.size ?? 0;
    seen.delete(second);
  }

  function bucketOf(second: number): Set<number> {
    const known = seen.get(second);
    if (known !== undefined) return known;
    for (const old of seen.keys()) if (endMs(old) < now() - WINDOW_MS) forget(old);
    const bucket = new Set<number>();
    seen.set(second, bucket);
    return bucket;
  }

  function forgetOldest(): void {
    const oldest = Math.min(...seen.keys());
    floorMs = endMs(oldest);
    forget(oldest);
  }

  const fresh = (timeMs: number) => timeMs >= floorMs && Math.abs(now() - timeMs) <= WINDOW_MS;
  return {
    /** Whether a request signed at `timeMs` may still be accepted. */
    fresh,
    /** Returns true for the first use of a fresh signature in Base64, and false for any other. */
    firstUse(timeMs: number, signature: string): boolean {
      if (!fresh(timeMs)) return false;
      const bucket = bucketOf(Math.floor(timeMs / 1000));
      // 48 bits of the signature fit a number, which takes the least memory.
      const fingerprint = Buffer.from(signature.slice(0, 8), 'base64').readUIntBE(0, 6);
      if (bucket.has(fingerprint)) return false;
      bucket.add(fingerprint);
      size++;
      if (size > capacity) forgetOldest();
      return true;
    },
  };
}

function endMs(second: number): number {
  return second * 1000 + 1000;
}
