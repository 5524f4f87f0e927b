// A pause that can be ended early.

export type Wakeup = {
  /**
   * Resolves after `ms`, or as soon as `wake` is called; immediately if it was called since the
   * last pause.
   */
  pause(ms: number): Promise<void>;
  wake(): void;
  /** Wakes after `ms`. Does nothing if it is already going to wake. */
  wakeAfter(ms: number): void;
};

export function createWakeup(): Wakeup {
  let isWoken = false;
  let endPause = () => {};
  let delay: NodeJS.Timeout | undefined;

  const wake = () => {
    clearTimeout(delay);
    delay = undefined;
    isWoken = true;
    endPause();
  };
  return {
    async pause(ms) {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          endPause = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isWoken = false;
    },
    wake,
    wakeAfter(ms) {
      delay ??= setTimeout(wake, ms);
    },
  };
}
