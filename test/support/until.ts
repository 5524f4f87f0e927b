// Waits for a condition, in place of a sleep.

const POLL_MS = 10;
const PATIENCE_MS = 100_000;

/**
 * Resolves with the first truthy result of `check`. Rejects if there is none within 100 seconds.
 */
export async function until<T>(
  check: () => T | Promise<T>,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  for (const began = performance.now(); performance.now() - began < PATIENCE_MS; ) {
    const result = await check();
    // Cast: a truthy value is none of the falsy ones.
    if (result) return result as Exclude<T, undefined | null | false | 0 | ''>;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`this never became true: ${check}`);
}

/** Lists of members end a second before now: resolves when they have what is stored by now. */
export function listsAreSettled(): Promise<boolean> {
  const storedAt = Date.now();
  return until(() => Date.now() - storedAt > 1_100);
}
