// The range of GraphQL's Int (GraphQL, section 3.5.1), which limits points, stays and their sums.

export const INT_MIN = -(2 ** 31);
export const INT_MAX = 2 ** 31 - 1;

/** Whether a sum is within the range of Int. */
export function fitsInt(sum: number): boolean {
  return sum >= INT_MIN && sum <= INT_MAX;
}

/** The Int that is nearest to a sum. */
export function clampInt(sum: number): number {
  return Math.min(INT_MAX, Math.max(INT_MIN, sum));
}
