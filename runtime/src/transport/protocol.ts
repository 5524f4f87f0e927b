// The number of the protocol between gateways and subgraphs, which each signature has.

/**
 * Raise it with every change to what is sent. Processes whose numbers differ by one work together:
 * the older one ignores what a number adds, and must not need what it removes.
 */
export const PROTOCOL = 3;

/** Stands for requests without a number: from an earlier version, or from other signers. */
export const UNNUMBERED = 1;

export function isUnderstood(protocol: number): boolean {
  return Math.abs(protocol - PROTOCOL) <= 1;
}

/** Why requests are refused, in the words of both logs. */
export function mismatch(protocol: number): string {
  return `the versions are too far apart: protocol ${PROTOCOL} here, ${protocol} there`;
}
