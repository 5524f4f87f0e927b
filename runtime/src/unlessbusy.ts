// Work that is repeated, but never overlaps itself.

/** Returns a function that begins `work`, or returns what is under way if it has not ended. */
export function unlessBusy(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
