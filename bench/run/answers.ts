// Checks that a server answers look-ups and the operations of the mix correctly.
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { MIX_MEMBERS, requestBody } from '../dataset/mix.ts';
import { expectedData, MUTATIONS, READS, UNKNOWN } from '../dataset/operations.ts';
import { emailOf, expectedMember, LOOKUP_QUERY } from '../dataset/population.ts';
import { aboutRandomMembers, type Target } from '../dataset/requests.ts';

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

/**
 * Waits until a server listens and its checks at the start are done, and checks one answer. Rejects
 * when the signal aborts.
 */
export async function checkFirstAnswer(
  target: Target,
  signal: AbortSignal,
  check = (first: Target) => checkLookup(first, 1),
): Promise<void> {
  for (;;) {
    await untilListening(target.url, signal);
    try {
      return await check(target);
    } catch (error) {
      // fetch could not connect: untilListening may have connected to its own socket.
      const isStarting = error instanceof Error && error.cause === 503;
      if (!(error instanceof TypeError) && !isStarting) throw error;
      await setTimeout(2, undefined, { signal });
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

async function checkLookup(target: Target, member: number, keyIndex = 0): Promise<void> {
  const key = target.keys[keyIndex % target.keys.length] ?? {};
  const body = JSON.stringify({ query: LOOKUP_QUERY, variables: { email: emailOf(member) } });
  const answer = await post(target, key, body);
  const isRight = isDeepStrictEqual(answer.body, {
    data: { memberByEmail: expectedMember(member) },
  });
  if (answer.status !== 200 || !isRight) throw wrong(target, `a look-up of ${member}`, answer);
}

/** Rejects if a query has another answer than this data. */
export async function checkAnswer(target: Target, query: string, data: object): Promise<void> {
  const answer = await post(target, target.keys[0] ?? {}, JSON.stringify({ query }));
  const isRight = answer.status === 200 && isDeepStrictEqual(answer.body, { data });
  if (!isRight) throw wrong(target, query, answer);
}

/** Sends each operation with each of some keys. Rejects with the first wrong answer. */
export async function checkMix(target: Target, mutations: boolean): Promise<void> {
  for (const key of [target.keys[0] ?? {}, target.keys.at(-1) ?? {}]) {
    for (const [index, read] of READS.entries()) {
      const known = Array.from({ length: read.count }, (_, each) => index * 100 + each);
      const nobody = known.map((member) => UNKNOWN + member);
      const mixed = known.map((member, each) => (each % 2 === 0 ? member : UNKNOWN + member));
      for (const members of [known, nobody, mixed]) {
        const answer = await post(target, key, requestBody(read, members));
        const misses = members.filter((member) => member >= UNKNOWN).length;
        const isRight =
          answer.status === 200 &&
          isDeepStrictEqual(answer.body.data, expectedData(read, members)) &&
          (answer.body.errors?.length ?? 0) === misses;
        if (!isRight) throw wrong(target, read.name, answer);
      }
    }
    for (const mutation of mutations ? MUTATIONS : []) {
      const body = requestBody(mutation, [Math.floor(Math.random() * MIX_MEMBERS)]);
      const answer = await post(target, key, aboutRandomMembers(body, UNKNOWN));
      if (answer.status !== 200 || answer.body.errors) throw wrong(target, mutation.name, answer);
    }
  }
}

type Answer = { status: number; body: { data?: unknown; errors?: unknown[] } };

/** Posts JSON, and once more if fetch rejects: the server may have closed an idle connection. */
async function post({ url }: Target, key: Record<string, string>, body: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...key };
  const send = () => fetch(url, { method: 'POST', headers, body });
  const reply = await send().catch(send);
  // Cast: GraphQL over HTTP.
  return { status: reply.status, body: (await reply.json()) as Answer['body'] };
}

function wrong({ url }: Target, what: string, { status, body }: Answer): Error {
  const text = JSON.stringify(body).slice(0, 500);
  return new Error(`${url} answers ${what} with ${status} ${text}`, { cause: status });
}
