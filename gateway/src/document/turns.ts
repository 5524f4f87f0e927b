// Lets a few requests at a time do what takes much memory; the others wait for their turn.

export type Turns = {
  /** Resolves with what ends the turn, once fewer than the limit have theirs. */
  take(): Promise<() => void>;
};

export function createTurns(limit: number): Turns {
  const waiting: (() => void)[] = [];
  let taken = 0;

  function end(): void {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  }

  return {
    async take() {
      if (taken < limit) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return end;
    },
  };
}
