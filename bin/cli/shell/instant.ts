// Parses instants: an ISO 8601 date and time with an offset from UTC.
import { Temporal } from 'temporal-polyfill';

/** The instant, cut to milliseconds; undefined if the text is none. */
export function parseInstant(text: string): Date | undefined {
  // Temporal accepts a space instead of the T, as RFC 3339 does and ISO 8601 does not.
  if (text.includes(' ')) return undefined;
  try {
    return new Date(Temporal.Instant.from(text).epochMilliseconds);
  } catch {
    return undefined;
  }
}

/** The day, in UTC, on which the last `days` days began, today included: `2031-05-17`. */
export function firstDay(days: number): string {
  const date = new Date();
  date.setUTCDate(date.getUTCDate() - days + 1);
  return date.toISOString().slice(0, 10);
}
