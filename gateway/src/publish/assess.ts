// Assesses a change of the graph in a child process, whatever the schemas are.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { RUN } from '@partner-loyalty/runtime/process/run.ts';
import { type Assessment, publisherOf, type Step } from './assessment.ts';
import { CompositionError, TooLargeError } from './faults.ts';

/** To the child process, and from it. */
export type Question = { step: Step; publisher: string | undefined };
export type Answer =
  | { stage: string }
  | { assessed: Assessment }
  | { faults: string[] }
  | { tooLarge: true }
  | { error: string };

const DEADLINE_MS = 30_000;
const MEMORY_MB = 512;
/** Who waits longer than this wants to know what for. */
const SILENT_MS = 5_000;

let last: Promise<unknown> = Promise.resolve();

/**
 * Assesses a step, after those that wait already. `publisher` is the subgraph that changes, if the
 * step does not name it. `onStage` gets what is done at the moment, once it lasts over 5 seconds.
 * Rejects with a CompositionError if the schemas do not compose, with a TooLargeError after 30
 * seconds or with more than 512 MB, and with the signal's reason if it aborts.
 */
export function assess(
  step: Step,
  publisher: string | undefined = publisherOf(step),
  signal?: AbortSignal,
  onStage?: (stage: string) => void,
): Promise<Assessment> {
  const assessed = last.then(() => inChild({ step, publisher }, signal, onStage));
  last = assessed.catch(() => {});
  return assessed;
}

function inChild(
  question: Question,
  signal: AbortSignal | undefined,
  onStage: ((stage: string) => void) | undefined,
): Promise<Assessment> {
  signal?.throwIfAborted();
  // The child needs no setting, and no secret: the schemas may be hostile.
  const child = fork(RUN, [join(import.meta.dirname, 'worker.ts')], {
    execArgv: [`--max-old-space-size=${MEMORY_MB}`],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const kill = () => child.kill('SIGKILL');
  const startedAt = performance.now();
  let stage = '';
  const report = () => {
    if (stage !== '' && performance.now() - startedAt >= SILENT_MS) onStage?.(stage);
  };
  const deadline = setTimeout(kill, DEADLINE_MS);
  const silence = setTimeout(report, SILENT_MS);
  signal?.addEventListener('abort', kill);
  process.once('exit', kill);
  return new Promise<Assessment>((resolve, reject) => {
    child.on('message', (answer: Answer) => {
      if ('assessed' in answer) resolve(answer.assessed);
      else if ('faults' in answer) reject(new CompositionError(answer.faults));
      else if ('tooLarge' in answer) reject(tooLarge(question.step));
      else if ('error' in answer) reject(new Error(answer.error));
      else {
        stage = answer.stage;
        report();
      }
    });
    child.on('error', reject);
    child.on('exit', (code, by) => {
      if (signal?.aborted) reject(signal.reason);
      // V8 aborts a process that runs out of memory.
      else if (by !== null || code === 134) reject(tooLarge(question.step));
      else reject(new Error(`the process that assesses a schema ended with code ${code}`));
    });
    child.send(question);
  }).finally(() => {
    clearTimeout(deadline);
    clearTimeout(silence);
    signal?.removeEventListener('abort', kill);
    process.removeListener('exit', kill);
    kill();
  });
}

function tooLarge(step: Step): TooLargeError {
  const { schemas } = step.kind === 'content' ? step.after : step.before;
  const changed = step.kind === 'subgraph' ? { [step.entry.name]: step.sdl } : {};
  const texts = Object.values({ ...schemas, ...changed });
  const types = texts.join().match(/\b(type|interface|input|enum|union) +[A-Z_]/gi)?.length ?? 0;
  const limits = `${DEADLINE_MS / 1_000} s or ${MEMORY_MB} MB`;
  return new TooLargeError(
    `the graph is too large: composing and comparing its ${types} types takes over ${limits}`,
  );
}
