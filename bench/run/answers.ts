// Checks that a server answers correctly: one look-up alone, then 200 different ones at once.
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { emailOf, expectedMember, LOOKUP_QUERY } from '../dataset/population.ts';
import type { Target } from '../dataset/requests.ts';

const CONCURRENT = 200;

/** Rejects with the first wrong answer. The look-ups are spread evenly over the members. */
export async function checkAnswers(target: Target): Promise<void> {
  await checkLookup(target, 0);
  const step = Math.max(1, Math.floor(target.members / CONCURRENT));
  await Promise.all(
    Array.from({ length: CONCURRENT }, (_, index) =>
      checkLookup(target, (index * step) % target.members, index),
    ),
  );
}

/** Waits until a server listens, and checks one answer. Rejects when the signal aborts. */
export async function checkFirstAnswer(target: Target, signal: AbortSignal): Promise<void> {
  for (;;) {
    await untilListening(target.url, signal);
    try {
      return await checkLookup(target, 1);
    } catch (error) {
      // fetch could not connect: untilListening may have connected to its own socket.
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

/** Waits until a server accepts connections. Rejects when the signal aborts. */
export async function untilListening(url: string, signal: AbortSignal): Promise<void> {
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

/** Posts JSON, and once more if fetch rejects: the server may have closed an idle connection. */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<Response> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  };
  return fetch(url, request).catch(() => fetch(url, request));
}

async function checkLookup(target: Target, member: number, keyIndex = 0): Promise<void> {
  const key = target.keys[keyIndex % target.keys.length];
  const body = JSON.stringify({ query: LOOKUP_QUERY, variables: { email: emailOf(member) } });
  const reply = await post(target.url, key ?? {}, body);
  const text = await reply.text();
  const expected = { data: { memberByEmail: expectedMember(member) } };
  if (reply.status !== 200 || !isDeepStrictEqual(JSON.parse(text), expected)) {
    throw new Error(
      `${target.url} answers ${reply.status} ${text.slice(0, 500)} instead of ${JSON.stringify(expected)}`,
    );
  }
}
