// The range of GraphQL's Int, which points, stays and their sums keep within (GraphQL specification, section 3.5.1).

export const INT_MIN = -(2 ** 31);
export const INT_MAX = 2 ** 31 - 1;

/** Whether a sum can be answered as an Int. */
export function fitsInt(sum: number): boolean {
  return sum >= INT_MIN && sum <= INT_MAX;
}

/** The nearest Int. */
export function clampInt(sum: number): number {
  return Math.min(INT_MAX, Math.max(INT_MIN, sum));
}
