// Parses instants, an ISO 8601 date and time with an offset from UTC, and durations.
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

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_DURATION_MS = 36_500 * UNITS.d;

/** The milliseconds of a duration such as 2s, 15m, 12h or 90d; undefined if the text is none. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  // Cast: the pattern allows these units alone.
  const ms = Number(count) * UNITS[unit as keyof typeof UNITS];
  return ms <= MAX_DURATION_MS ? ms : undefined;
}

/** The day, in UTC, on which the last `days` days began, today included: `2031-05-17`. */
export function firstDay(days: number): string {
  const date = new Date();
  date.setUTCDate(date.getUTCDate() - days + 1);
  return date.toISOString().slice(0, 10);
}
