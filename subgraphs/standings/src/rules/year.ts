// The membership year of a program that an instant falls into (docs/api.md, Standing).
import { Temporal } from 'temporal-polyfill';
import { DEFAULT_PROGRAM, type Program } from './program.ts';

/**
 * The membership year that contains an instant, named by its first day, "YYYY-MM-DD" in the
 * program's time zone. It starts at midnight of that day, or at the first instant after midnight
 * if the zone's clocks skip it. Without a program, the default program applies.
 */
export function yearOf(program: Program | undefined, at: Date): string {
  const { membershipYear } = program ?? DEFAULT_PROGRAM;
  const atMs = at.getTime();
  // East of Greenwich, a calendar year starts while it is still the year before in UTC.
  for (let calendarYear = at.getUTCFullYear() + 1; ; calendarYear--) {
    const { firstDay, startMs } = startOf(membershipYear, calendarYear);
    if (startMs <= atMs) return firstDay;
  }
}

/** The instants at which the membership year that contains an instant begins and ends. */
export function yearBounds(program: Program | undefined, at: Date): { start: Date; end: Date } {
  const { membershipYear } = program ?? DEFAULT_PROGRAM;
  const year = Number(yearOf(program, at).slice(0, 4));
  const instant = (calendarYear: number) => new Date(startOf(membershipYear, calendarYear).startMs);
  return { start: instant(year), end: instant(year + 1) };
}

type Start = { firstDay: string; startMs: number };

/** A cache, since time zone rules cost microseconds and an import needs millions of years. */
const cachedStarts = new WeakMap<Program['membershipYear'], Map<number, Start>>();

function startOf(membershipYear: Program['membershipYear'], calendarYear: number): Start {
  const starts = cachedStarts.get(membershipYear) ?? new Map<number, Start>();
  const cached = starts.get(calendarYear);
  if (cached !== undefined) return cached;
  const [month = 1, day = 1] = membershipYear.start.split('-').map(Number);
  const date = Temporal.PlainDate.from({ year: calendarYear, month, day }, { overflow: 'reject' });
  const start = {
    firstDay: date.toString(),
    startMs: date.toZonedDateTime(membershipYear.timeZone).epochMilliseconds,
  };
  cachedStarts.set(membershipYear, starts.set(calendarYear, start));
  return start;
}
