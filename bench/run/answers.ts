// Checks that a server answers look-ups and the operations of the mix correctly.
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { MIX_MEMBERS, requestBody } from '../dataset/mix.ts';
import { expectedData, MUTATIONS, type Operation, READS, UNKNOWN } from '../dataset/operations.ts';
import {
  emailOf,
  expectedMember,
  LOOKUP_QUERY,
  memberNumber,
  PLACEHOLDER,
} from '../dataset/population.ts';
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

type Answer = { status: number; body: { data?: unknown; errors?: unknown[] } };

/** Sends each operation with each of some keys. Rejects with the first wrong answer. */
export async function checkMix(target: Target, mutations: boolean): Promise<void> {
  const keys = [target.keys[0] ?? {}, target.keys.at(-1) ?? {}];
  for (const key of keys) {
    for (const [index, read] of READS.entries()) {
      const known = Array.from({ length: read.count }, (_, each) => index * 100 + each);
      const nobody = known.map((member) => UNKNOWN + member);
      const mixed = known.map((member, each) => (each % 2 === 0 ? member : UNKNOWN + member));
      for (const members of [known, nobody, mixed]) {
        const { status, body } = await ask(target, key, read, members);
        const misses = members.filter((member) => member >= UNKNOWN).length;
        const isRight =
          status === 200 &&
          isDeepStrictEqual(body.data, expectedData(read, members)) &&
          (body.errors?.length ?? 0) === misses;
        if (!isRight) throw wrong(target, read, { status, body });
      }
    }
    for (const mutation of mutations ? MUTATIONS : []) {
      const answer = await ask(target, key, mutation, [Math.floor(Math.random() * MIX_MEMBERS)]);
      if (answer.status !== 200 || answer.body.errors) throw wrong(target, mutation, answer);
    }
  }
}

async function ask(
  { url }: Target,
  key: Record<string, string>,
  operation: Operation,
  members: readonly number[],
): Promise<Answer> {
  const body = requestBody(operation, members).replaceAll(PLACEHOLDER, () =>
    memberNumber(Math.floor(Math.random() * UNKNOWN)),
  );
  const reply = await post(url, key, body);
  // Cast: GraphQL over HTTP.
  return { status: reply.status, body: (await reply.json()) as Answer['body'] };
}

function wrong({ url }: Target, { name }: Operation, { status, body }: Answer): Error {
  return new Error(`${url} answers ${name} with ${status} ${JSON.stringify(body).slice(0, 500)}`);
}
