// The thread that sends messages: a receiver can make TLS take a second of CPU in one piece.
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { RUN } from '@partner-loyalty/runtime/process/run.ts';
import type { Content, Posted } from './outgoing.ts';
import type { TargetRules } from './target.ts';

/** To the thread. Without a request, the one with this ID is to end. */
export type Job = { id: number; request?: { url: string; content: Content; rules: TargetRules } };
/** From the thread. */
export type JobDone = { id: number; posted: Posted };

const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
const LOST: Posted = { reason: 'CONNECTION' };

/** The thread starts with the first request: most processes send none. */
export function createSendingThread() {
  const waiting = new Map<number, (posted: Posted) => void>();
  let running: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const worker = new Worker(RUN, {
      argv: [join(import.meta.dirname, 'worker.ts')],
      resourceLimits: LIMITS,
      execArgv: [],
    });
    worker.on('message', ({ id, posted }: JobDone) => waiting.get(id)?.(posted));
    worker.on('error', () => {});
    worker.on('exit', () => {
      running = undefined;
      for (const done of waiting.values()) done(LOST);
    });
    return worker;
  }

  return {
    /** As the method of Outgoing, with the rules for its URL. */
    post(url: string, content: Content, rules: TargetRules, signal: AbortSignal): Promise<Posted> {
      return new Promise((resolve) => {
        running ??= start();
        const worker = running;
        const id = ++lastId;
        const stop = () => {
          worker.postMessage({ id } satisfies Job);
          done(LOST);
        };
        const done = (posted: Posted) => {
          waiting.delete(id);
          signal.removeEventListener('abort', stop);
          // Only a thread that has work keeps the process running.
          if (waiting.size === 0) worker.unref();
          resolve(posted);
        };
        waiting.set(id, done);
        worker.ref();
        worker.postMessage({ id, request: { url, content, rules } } satisfies Job);
        setMaxListeners(0, signal); // Many requests may have the same one.
        signal.addEventListener('abort', stop);
        if (signal.aborted) stop();
      });
    },
    async close(): Promise<void> {
      await running?.terminate();
    },
  };
}
