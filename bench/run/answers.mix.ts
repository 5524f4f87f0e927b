// Checks that a server answers the operations of the mix correctly, for members and for nobody.
import { isDeepStrictEqual } from 'node:util';
import { MIX_MEMBERS, requestBody } from '../dataset/mix/list.ts';
import {
  expectedData,
  MUTATIONS,
  type Operation,
  READS,
  UNKNOWN,
} from '../dataset/mix/operations.ts';
import { memberNumber, PLACEHOLDER } from '../dataset/population.ts';
import type { Target } from '../dataset/requests.ts';
import { post } from './answers.ts';

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
