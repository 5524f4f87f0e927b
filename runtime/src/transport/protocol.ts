// The number of the protocol between gateways and subgraphs, which each signature has.

/**
 * Raise it with each change of what is sent. Processes whose numbers differ by one run beside each
 * other: the former ignores what a number adds, and no longer needs what it takes away.
 */
export const PROTOCOL = 2;

/** The version before there were numbers, and whatever else signs requests. */
export const UNNUMBERED = 1;

export function isUnderstood(protocol: number): boolean {
  return Math.abs(protocol - PROTOCOL) <= 1;
}

/** Why requests are refused, in the words of both logs. */
export function mismatch(protocol: number): string {
  return `the versions are too far apart: protocol ${PROTOCOL} here, ${protocol} there`;
}
