// What JSON values are, for code that checks them by hand.

/** Whether a value is an object as JSON has them: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
