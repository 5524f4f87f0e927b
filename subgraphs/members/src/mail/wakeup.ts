// A pause that can be ended early.

export type Wakeup = {
  /**
   * Resolves after `ms`, or as soon as `wake` is called; immediately if it was called since the
   * last pause.
   */
  pause(ms: number): Promise<void>;
  wake(): void;
};

export function createWakeup(): Wakeup {
  let isWoken = false;
  let endPause = () => {};
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
    wake() {
      isWoken = true;
      endPause();
    },
  };
}
