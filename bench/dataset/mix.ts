// The requests of the mix: the same list for every server of a run, but for its keys.
import { writeFileSync } from 'node:fs';
import { MUTATIONS, type Operation, READS, UNKNOWN } from './operations.ts';
import { seededRandom, weighted } from './random.ts';
import { rawRequest, type Target } from './requests.ts';

export type Mix = {
  /** Which part of the requests are mutations. */
  mutations: number;
};

/** How many members they are about. */
export const MIX_MEMBERS = 10_000;

const REQUESTS = 20_000;
const MISSES = 1 / 3;
const SEED = 14;

/**
 * Writes requests to a file, for load/wrk.ts: for each, its length on a
 * line of its own, and its text. Keys are used by Zipf: the second one half as often as the first,
 * the third a third as often, and so on. Mutations are about members that exist.
 */
export function writeList(file: string, target: Target, mix: Mix): void {
  const random = seededRandom(SEED);
  const zipf = target.keys.map((_, rank) => 1 / (rank + 1));
  const lines: string[] = [];
  for (let sent = 0; sent < REQUESTS; sent++) {
    const isMutation = random() < mix.mutations;
    const operations: readonly Operation[] = isMutation ? MUTATIONS : READS;
    const index = weighted(
      operations.map(({ weight }) => weight),
      random,
    );
    const operation = operations[index];
    // Drawn for a server without keys too, so that the same requests follow.
    const draw = random();
    if (operation === undefined) continue;
    const members = Array.from({ length: operation.count }, () =>
      randomMember(random, isMutation ? 0 : MISSES),
    );
    const key = target.keys[weighted(zipf, () => draw)] ?? {};
    const request = rawRequest(target.url, key, requestBody(operation, members));
    lines.push(`${request.length}\n${request}`);
  }
  writeFileSync(file, lines.join(''), 'latin1');
}

/** The body of a request of the mix. */
export function requestBody(
  { query, name, variables }: Operation,
  members: readonly number[],
): string {
  return JSON.stringify({ query, operationName: name, variables: variables(members) });
}

function randomMember(random: () => number, misses: number): number {
  const member = Math.floor(random() * MIX_MEMBERS);
  return random() < misses ? UNKNOWN + member : member;
}
