// Questions of the workers to their primary: those of one event loop tick are one message.
import DataLoader from 'dataloader';
import type { MaybePromise } from '../maybe.ts';
import { withTimeout } from '../timeout.ts';

// The primary does nothing else, so only a broken one takes this long.
const DEADLINE_MS = 1_000;

/** From a worker to the primary. The response has the same `relay` and `id`. */
type Questions = { relay: string; id: number; questions: unknown[] };
type Answers = { relay: string; id: number; answers: unknown[] };

/**
 * Answers the questions that workers ask under a name. Call it in the primary, once for each name;
 * it serves for the lifetime of the process. Questions and answers are sent as JSON. `answer` must
 * not reject: that would end the primary.
 */
export async function serveRelay<Question, Answer>(
  name: string,
  answer: (question: Question) => MaybePromise<Answer>,
): Promise<void> {
  // Imported here because a process without workers does not need it.
  const { default: cluster } = await import('node:cluster');
  cluster.on('message', async (worker, message: unknown) => {
    if (!isOf<Questions>(message, name, 'questions')) return;
    const { id, questions } = message;
    // Cast: the worker asks by a function of createRelay with this name.
    const answers = await Promise.all((questions as Question[]).map(answer));
    worker.send({ relay: name, id, answers } satisfies Answers, () => {}); // It may have ended.
  });
}

/**
 * Returns a worker's function that asks its primary, which must have called serveRelay with the
 * name. Rejects if the primary does not respond.
 */
export function createRelay<Question, Answer>(
  name: string,
): (question: Question) => Promise<Answer> {
  const pending = new Map<number, (answers: unknown[]) => void>();
  let lastId = 0;
  process.on('message', (message: unknown) => {
    if (isOf<Answers>(message, name, 'answers')) pending.get(message.id)?.(message.answers);
  });

  function ask(questions: readonly Question[]): Promise<Answer[]> {
    const id = ++lastId;
    const answers = new Promise<unknown[]>((resolve, reject) => {
      pending.set(id, resolve);
      const message: Questions = { relay: name, id, questions: [...questions] };
      process.send?.(message, undefined, undefined, (error) => error && reject(error));
    });
    // Cast: the primary answers by the function that it passed to serveRelay with this name.
    return withTimeout(answers as Promise<Answer[]>, DEADLINE_MS, noAnswer).finally(() =>
      pending.delete(id),
    );
  }

  // With DataLoader's own schedule, because callers ask in steps that run together (afterPoll).
  const loader = new DataLoader(ask, { cache: false });
  return (question) => loader.load(question);
}

function noAnswer(): Error {
  return new Error('the primary does not respond');
}

// Other messages use the same channel.
function isOf<Message extends { relay: string }>(
  message: unknown,
  name: string,
  key: keyof Message & string,
): message is Message {
  return (
    typeof message === 'object' &&
    message !== null &&
    'relay' in message &&
    message.relay === name &&
    key in message
  );
}
