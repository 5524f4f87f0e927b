// Assesses and compares schemas in a child process, since any of them may take long.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { RUN } from '@partner-loyalty/runtime/process/run.ts';
import type { Assessment, Step } from './assessment.ts';
import { CompositionError, TooLargeError, UnservedError } from './faults.ts';
import { typesIn } from './size.ts';

/** The messages to the child process, and from it. */
export type Question =
  | { step: Step; publisher: string | undefined }
  | { running: string; sdl: string };
export type Answer =
  | { assessed: Assessment }
  | { missing: string[] }
  | { faults: string[] }
  | { unserved: string }
  | { tooLarge: true }
  | { error: string };
export type Spent = { cpuMs: number };

const DEADLINE_MS = 30_000;
const MEMORY_MB = 512;

/** Called with the milliseconds of CPU that a child process took. */
export type Ran = (ms: number) => void;

let last: Promise<unknown> = Promise.resolve();

/**
 * Assesses a step, after those that wait already. Rejects with a CompositionError if the schemas do
 * not compose, with an UnservedError if gateways cannot serve what is published, and with a
 * TooLargeError after 30 seconds or with more than 512 MB.
 */
export async function assess(step: Step, ran?: Ran): Promise<Assessment> {
  const answer = await inTurn({ step, publisher: publisherOf(step) }, ran);
  if ('assessed' in answer) return answer.assessed;
  if ('faults' in answer) throw new CompositionError(answer.faults);
  if ('unserved' in answer) throw new UnservedError(answer.unserved);
  throw tooLarge(step);
}

/** The subgraph that a step changes, if it is only one. */
export function publisherOf(step: Step): string | undefined {
  if (step.kind === 'subgraph') return step.entry.name;
  return step.kind === 'removal' ? step.name : undefined;
}

/**
 * The fields and arguments of `sdl` that the schema `running` lacks, after the steps that wait
 * already; a fault in a few words if `running` is no schema, or takes too long to read.
 */
export async function missingFromRunning(
  running: string,
  sdl: string,
  ran?: Ran,
): Promise<{ missing: string[] } | { fault: string }> {
  const answer = await inTurn({ running, sdl }, ran);
  if ('missing' in answer) return answer;
  return { fault: 'faults' in answer ? 'with a syntax error' : 'with a schema that is too large' };
}

async function inTurn(question: Question, ran?: Ran): Promise<Exclude<Answer, { error: string }>> {
  const answered = last.then(() => inChild(question));
  last = answered.catch(() => {});
  const { cpuMs, ...answer } = await answered;
  ran?.(cpuMs);
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

async function inChild(question: Question): Promise<Answer & Spent> {
  const publisher = 'publisher' in question ? question.publisher : undefined;
  const assessor = takeWarm(publisher) ?? startAssessor();
  let staysWarm = false;
  try {
    const answer = await answerOf(assessor, question);
    staysWarm = publisher !== undefined && answer.cpuMs < MAX_WARM_MS;
    if (staysWarm) keepWarm(assessor, publisher);
    return answer;
  } finally {
    if (!staysWarm) assessor.kill();
  }
}

type Assessor = { child: ChildProcess; startedAt: number; kill(): void };

/**
 * The last one, for the next question of the same publisher: what its schemas left in the process
 * concerns nobody else. Two thirds of a first assessment are the loading and compiling of code.
 */
let warm: (Assessor & { publisher: string | undefined; timer: NodeJS.Timeout }) | undefined;

const WARM_MS = 5_000;
/** Large graphs take a third less in a warm one, and are measured for all who begin with none. */
const MAX_WARM_MS = 2_000;
/** The worker ends itself after a minute. */
const MAX_AGE_MS = 20_000;

function startAssessor(): Assessor {
  // The child needs no setting, and no secret: the schemas may be hostile.
  const child = fork(RUN, [join(import.meta.dirname, 'worker.ts')], {
    execArgv: [`--max-old-space-size=${MEMORY_MB}`, '--expose-gc'],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const kill = () => {
    process.removeListener('exit', kill);
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  return { child, startedAt: performance.now(), kill };
}

function answerOf({ child, kill }: Assessor, question: Question): Promise<Answer & Spent> {
  const deadline = setTimeout(kill, DEADLINE_MS);
  return new Promise<Answer & Spent>((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code, by) => {
      // V8 aborts a process that runs out of memory.
      if (by !== null || code === 134) resolve({ tooLarge: true, cpuMs: DEADLINE_MS });
      else reject(new Error(`the process that assesses a schema ended with code ${code}`));
    });
    child.send(question);
  }).finally(() => {
    clearTimeout(deadline);
    for (const event of ['message', 'error', 'exit']) child.removeAllListeners(event);
    // While it waits, an error is only the end of it.
    child.once('error', kill);
  });
}

function keepWarm(assessor: Assessor, publisher: string | undefined): void {
  assessor.child.unref();
  assessor.child.channel?.unref();
  const timer = setTimeout(() => takeWarm(undefined), WARM_MS).unref();
  warm = { ...assessor, publisher, timer };
}

/** Ends the warm one if it is not this publisher's. */
function takeWarm(publisher: string | undefined): Assessor | undefined {
  const found = warm;
  warm = undefined;
  if (found === undefined) return undefined;
  clearTimeout(found.timer);
  const isYoung = performance.now() - found.startedAt < MAX_AGE_MS;
  if (found.publisher === publisher && found.child.connected && isYoung) {
    found.child.ref();
    found.child.channel?.ref();
    return found;
  }
  found.kill();
  return undefined;
}

function tooLarge(step: Step): TooLargeError {
  const { schemas } = step.kind === 'content' ? step.after : step.before;
  const changed = step.kind === 'subgraph' ? { [step.entry.name]: step.sdl } : {};
  const texts = Object.values({ ...schemas, ...changed });
  const limits = `${DEADLINE_MS / 1_000} s or ${MEMORY_MB} MB`;
  return new TooLargeError(
    `the graph is too large: composing and comparing its ${typesIn(texts)} types takes over ${limits}`,
  );
}
