// What gateways and subgraphs agree on: the number of the protocol, and the probe.
import type { SubgraphRequest } from './types.ts';

/**
 * Raise it with every change to what is sent. Processes whose numbers differ by one work together:
 * the older one ignores what a number adds, and must not need what it removes.
 */
export const PROTOCOL = 4;

/** Stands for requests without a number. */
export const UNNUMBERED = 1;

export function isUnderstood(protocol: number): boolean {
  return Math.abs(protocol - PROTOCOL) <= 1;
}

/** Why requests are refused, in the words of both logs. */
export function mismatch(protocol: number): string {
  return `the versions are too far apart: protocol ${PROTOCOL} here, ${protocol} there`;
}

/**
 * Every GraphQL server can answer it; the subgraphs of this repository check their stores first.
 */
export const PROBE: SubgraphRequest = {
  query: '{__typename}',
  caller: { kind: 'service' },
  requestId: 'ready',
};

/** Whether an operation is a probe. For any other caller, the same operation is an ordinary one. */
export function isProbe({ query, caller }: SubgraphRequest): boolean {
  return caller.kind === 'service' && /^\s*(?:query\s*)?\{\s*__typename\s*\}\s*$/.test(query);
}
