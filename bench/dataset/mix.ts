// The requests of the mix: the same list for every server of a run, but for its keys.
import { MUTATIONS, type Operation, READS, UNKNOWN } from './operations.ts';
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

/** Numbers from 0 up to 1, evenly spread (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws an index as often as its weight says. */
export function weighted(weights: readonly number[], random: () => number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = random() * total;
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return weights.length - 1;
}
