// Answers questions about schemas in a child process, one after the other.
import { setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { GraphQLError } from 'graphql';
import type { Answer, Question, Spent } from './assess.ts';
import { CompositionError, UnservedError } from './faults.ts';

/** A schema with thousands of faults has all that a person reads in the first ones. */
const MAX_FAULTS = 100;
const MAX_FAULT = 2_000;
/** In UTF-16 units. More would hold up the parent process while it reads them. */
const MAX_FOUND = 4_000_000;
/** The parent ends it sooner, unless it was killed: a thread sees the time pass meanwhile. */
const LAST_RESORT_MS = 60_000;

/** Requests that share a core with it get most of it. */
setPriority(5);
new Worker(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${LAST_RESORT_MS})`, {
  eval: true,
}).unref();

let countedMs = 0;

process.on('message', async (question: Question) => {
  const answer = await answerTo(question);
  const { user, system } = process.cpuUsage();
  const spent: Spent = { cpuMs: (user + system) / 1_000 - countedMs };
  countedMs += spent.cpuMs;
  process.send?.({ ...answer, ...spent });
});

async function answerTo(question: Question): Promise<Answer> {
  try {
    if ('running' in question) {
      const { missingFrom } = await import('./missing.ts');
      return { missing: missingFrom(question.running, question.sdl) };
    }
    // Loading the composer takes a while.
    const { assessment } = await import('./assessment.ts');
    const assessed = await assessment(question.step, question.publisher);
    const { after: _, ...found } = assessed;
    return JSON.stringify(found).length > MAX_FOUND ? { tooLarge: true } : { assessed };
  } catch (error) {
    // What is nested too deeply for the stack is too large, too.
    if (error instanceof RangeError) return { tooLarge: true };
    if (error instanceof GraphQLError) return { faults: [error.message] };
    if (error instanceof UnservedError) return { unserved: error.message };
    if (!(error instanceof CompositionError)) return { error: String(error) };
    const faults = error.faults.slice(0, MAX_FAULTS).map((fault) => fault.slice(0, MAX_FAULT));
    const rest = error.faults.length - faults.length;
    return { faults: rest > 0 ? [...faults, `and ${rest} more`] : faults };
  }
}
