// The requests of the mix: the same list for every server of a run, but for its keys.
import { MUTATIONS, type Operation, READS, UNKNOWN } from './operations.ts';
import { seededRandom, weighted } from './random.ts';
import { rawRequest, type Target } from './requests.ts';

/** How many members they are about. */
export const MIX_MEMBERS = 10_000;

const REQUESTS = 20_000;
const MISSES = 1 / 3;
const SEED = 14;

/**
 * The requests, of which `mutations` is the share of mutations. Keys are used by Zipf: the second
 * one half as often as the first, the third a third as often, and so on. Mutations are about
 * members that exist.
 */
export function mixRequests(target: Target, mutations: number): string[] {
  const random = seededRandom(SEED);
  const zipf = target.keys.map((_, rank) => 1 / (rank + 1));
  return Array.from({ length: REQUESTS }, () => {
    const isMutation = random() < mutations;
    const operation = drawn(isMutation ? MUTATIONS : READS, random);
    const key = target.keys[weighted(zipf, random)] ?? {};
    const members = Array.from({ length: operation.count }, () =>
      randomMember(random, isMutation ? 0 : MISSES),
    );
    return rawRequest(target.url, key, requestBody(operation, members));
  });
}

/** The body of a request of the mix. */
export function requestBody(
  { query, name, variables }: Operation,
  members: readonly number[],
): string {
  return JSON.stringify({ query, operationName: name, variables: variables(members) });
}

function drawn(operations: readonly Operation[], random: () => number): Operation {
  const weights = operations.map(({ weight }) => weight);
  // Cast: an index of the weights.
  return operations[weighted(weights, random)] as Operation;
}

function randomMember(random: () => number, misses: number): number {
  const member = Math.floor(random() * MIX_MEMBERS);
  return random() < misses ? UNKNOWN + member : member;
}
