// Reads values out of JSON that nobody has checked yet.

/** The text without white space around it; undefined unless it has 1 to `longest` characters then, and no control character or lone surrogate. */
export function textOf(value: unknown, longest: number): string | undefined {
  if (typeof value !== 'string' || UNFIT.test(value)) return undefined;
  const text = value.trim();
  // A character is up to two UTF-16 units.
  const fits =
    text.length <= longest || (text.length <= 2 * longest && [...text].length <= longest);
  return fits && text !== '' ? text : undefined;
}

/** The number, where it is an integer from `lowest` to `highest`; never -0. */
export function integerOf(value: unknown, lowest: number, highest: number): number | undefined {
  return Number.isInteger(value) && Number(value) >= lowest && Number(value) <= highest
    ? Number(value) + 0
    : undefined;
}

/** The properties of an object that are none of `known`, as one fault each. */
export function strayFaults(
  object: Record<string, unknown>,
  known: readonly string[],
  at = '',
): string[] {
  return Object.keys(object)
    .filter((name) => !known.includes(name))
    .map((name) => `${at}${JSON.stringify(name.slice(0, 50))} is not a property of it`);
}

const UNFIT = /[\p{Cc}\p{Cs}]/u;
