// Remembers used signatures in the primary, so that each is valid once across all workers.
import { withTimeout } from '../../timeout.ts';
import { createReplayGuard, isFresh, type ReplayGuard } from './replay.ts';

/** From a worker to the primary. The response has the same `use`. */
type Question = { use: number; timeMs: number; signature: string };
type Answer = { use: number; isFirst: boolean };

// The primary does nothing else, so only a broken one takes this long.
const DEADLINE_MS = 1_000;

/** Answers the workers' questions for the lifetime of the primary, in which it is called. */
export async function serveReplayGuard(): Promise<void> {
  // Imported here because a process without workers does not need it.
  const { default: cluster } = await import('node:cluster');
  const guard = createReplayGuard();
  cluster.on('message', (worker, message: unknown) => {
    if (!isQuestion(message)) return;
    const { use, timeMs, signature } = message;
    const answer: Answer = { use, isFirst: guard.firstUse(timeMs, signature) };
    worker.send(answer, () => {}); // The worker may have ended.
  });
}

/**
 * The guard of a worker, which asks the primary with one message for each request. Without a
 * response from the primary, no request is accepted.
 */
export function createWorkerReplayGuard(): ReplayGuard {
  const pending = new Map<number, (isFirst: boolean) => void>();
  let lastUse = 0;
  process.on('message', (message: unknown) => {
    if (isAnswer(message)) pending.get(message.use)?.(message.isFirst);
  });

  function ask(timeMs: number, signature: string): Promise<boolean> {
    const use = ++lastUse;
    const answer = new Promise<boolean>((resolve) => {
      pending.set(use, resolve);
      const question: Question = { use, timeMs, signature };
      process.send?.(question, undefined, undefined, (error) => error && resolve(false));
    });
    return withTimeout(answer, DEADLINE_MS, () => new Error('the primary does not answer'))
      .catch(() => false)
      .finally(() => pending.delete(use));
  }

  return {
    fresh: (timeMs) => isFresh(timeMs, Date.now()),
    firstUse: (timeMs, signature) => (process.connected ? ask(timeMs, signature) : false),
  };
}

// Other messages use the same channel; the key is enough to tell them apart.
function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'signature' in message;
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null && 'isFirst' in message;
}
