// Assesses the steps of a graph, in a child process that ends after one.
import { setPriority } from 'node:os';
import type { Answer, Question } from './assess.ts';
import { assessment } from './assessment.ts';
import { CompositionError } from './faults.ts';

/** A schema with thousands of faults has all that a person reads in the first ones. */
const MAX_FAULTS = 100;
const MAX_FAULT = 2_000;
/** More would hold up the parent process while it reads them. */
const MAX_CHANGES = 10_000;

/** Requests that share a core with it get most of it. */
setPriority(5);

process.once('message', async (question: Question) => {
  const answer = await answerTo(question);
  process.send?.(answer, () => process.disconnect());
});

async function answerTo({ step, publisher }: Question): Promise<Answer> {
  const onStage = (stage: string) => void process.send?.({ stage } satisfies Answer);
  try {
    const assessed = await assessment(step, publisher, onStage);
    const isTooLarge = assessed.changes.length + assessed.needs.length > MAX_CHANGES;
    return isTooLarge ? { tooLarge: true } : { assessed };
  } catch (error) {
    // What is nested too deeply for the stack is too large, too.
    if (error instanceof RangeError) return { tooLarge: true };
    if (!(error instanceof CompositionError)) return { error: String(error) };
    const faults = error.faults.slice(0, MAX_FAULTS).map((fault) => fault.slice(0, MAX_FAULT));
    const rest = error.faults.length - faults.length;
    return { faults: rest > 0 ? [...faults, `and ${rest} more`] : faults };
  }
}
