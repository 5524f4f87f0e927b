// Sends requests to URLs of strangers, in a thread of its own.
import { parentPort } from 'node:worker_threads';
import { yieldToMain } from '@partner-loyalty/runtime/process/thread.ts';
import { createOutgoing, type Outgoing } from './outgoing.ts';
import { allowsReach, type TargetRules } from './target.ts';
import type { Job, JobDone } from './thread.ts';

yieldToMain();

const opened = new Map<TargetRules['webhookPrivate'], Outgoing>();
const running = new Map<number, AbortController>();

function outgoingBy(rules: TargetRules): Outgoing {
  const outgoing =
    opened.get(rules.webhookPrivate) ?? createOutgoing((reach) => allowsReach(reach, rules));
  opened.set(rules.webhookPrivate, outgoing);
  return outgoing;
}

parentPort?.on('message', async ({ id, request }: Job) => {
  if (request === undefined) {
    running.get(id)?.abort();
    return;
  }
  const { url, content, rules } = request;
  const abort = new AbortController();
  running.set(id, abort);
  const posted = await outgoingBy(rules).post(new URL(url), content, abort.signal);
  running.delete(id);
  parentPort?.postMessage({ id, posted } satisfies JobDone);
});
