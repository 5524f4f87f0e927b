// Lets a few requests at a time do what takes much memory; the others wait.

type Semaphore = {
  /** Resolves with what releases the slot, in the order of the calls. */
  acquire(): Promise<() => void>;
};

export function createSemaphore(slots: number): Semaphore {
  const waiting: (() => void)[] = [];
  let taken = 0;

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  }

  return {
    async acquire() {
      if (taken < slots) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return release;
    },
  };
}

/** Resolves with what ends the turn of the key, once all turns before it have ended. */
type Turns = (key: string) => Promise<() => void>;

/** Remembers every key: for those that have a bound, such as partners. */
export function createTurns(): Turns {
  const byKey = new Map<string, Semaphore>();
  return (key) => {
    const ofKey = byKey.get(key) ?? createSemaphore(1);
    byKey.set(key, ofKey);
    return ofKey.acquire();
  };
}
