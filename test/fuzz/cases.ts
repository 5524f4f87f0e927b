// Runs a property for a given time, with a given seed, and a well-behaved caller after each case.
import * as fc from 'fast-check';
import type { Target } from './target.ts';

/** Resolves with the number of cases. Rejects with the smallest case that fails. */
export async function runCases<T>(
  target: Pick<Target, 'checkAlive'>,
  arbitrary: fc.Arbitrary<T>,
  { seed, milliseconds }: { seed: number; milliseconds: number },
  check: (input: T) => Promise<void>,
): Promise<number> {
  let cases = 0;
  const property = fc.asyncProperty(arbitrary, async (input) => {
    cases += 1;
    await check(input);
    await target.checkAlive();
  });
  await fc.assert(property, {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: milliseconds,
    markInterruptAsFailure: false,
  });
  return cases;
}
