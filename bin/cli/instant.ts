// Reads instants: a date, a time and an offset from UTC, by ISO 8601.

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The instant; undefined where the text is none, as for a day that the month does not have or a time without an offset. */
export function parseInstant(text: string): Date | undefined {
  const [, day] = INSTANT.exec(text) ?? [];
  if (day === undefined) return undefined;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day)
    return undefined;
  const instant = new Date(text.replace(',', '.'));
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}
