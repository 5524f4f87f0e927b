// Checks that a target answers right before it is timed: a look-up by itself, then 200 different ones at once.
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Target } from './http.ts';
import { answerOf, emailOf, HOT_QUERY } from './population.ts';

const CONCURRENT = 200;

/** Rejects with the first wrong answer. `members` above 200 are asked for at even distances. */
export async function checkAnswers(target: Target): Promise<void> {
  await checkLookup(target, 0);
  const step = Math.max(1, Math.floor(target.members / CONCURRENT));
  await Promise.all(
    Array.from({ length: CONCURRENT }, (_, index) =>
      checkLookup(target, (index * step) % target.members, index),
    ),
  );
}

/** Waits until a target listens and asks it once. Rejects with a wrong answer, or when the signal aborts. */
export async function firstAnswer(target: Target, signal: AbortSignal): Promise<void> {
  await untilListening(target.url, signal);
  await checkLookup(target, 1);
}

/** Waits until something accepts connections at an address. Rejects when the signal aborts. */
export async function untilListening(url: string, signal?: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = connect(Number(port), hostname);
    const accepted = await new Promise((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    );
    socket.destroy();
    if (accepted) return;
    await setTimeout(2, undefined, { signal });
  }
}

async function checkLookup(target: Target, member: number, turn = 0): Promise<void> {
  const headers = { 'content-type': 'application/json', ...target.keys[turn % target.keys.length] };
  const body = JSON.stringify({ query: HOT_QUERY, variables: { email: emailOf(member) } });
  const reply = await fetch(target.url, { method: 'POST', headers, body });
  const text = await reply.text();
  const right = { data: { memberByEmail: answerOf(member) } };
  if (reply.status !== 200 || !isDeepStrictEqual(JSON.parse(text), right)) {
    throw new Error(
      `${target.url} answers ${reply.status} ${text.slice(0, 500)} instead of ${JSON.stringify(right)}`,
    );
  }
}
