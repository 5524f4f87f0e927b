// The membership year of a program that an instant falls into (docs/callers/standing.md, Standing).
import { Temporal } from 'temporal-polyfill';
import { DEFAULT_PROGRAM, type Program } from './program.ts';

/**
 * The membership year that contains an instant, named by its first day, "YYYY-MM-DD" in the
 * program's time zone. It starts at midnight of that day, or at the first instant after midnight
 * if the zone's clocks skip it. Without a program, the default program applies. With `yearsLater`,
 * the year that many after it; the year before is -1.
 */
export function yearOf(program: Program | undefined, at: Date, yearsLater = 0): string {
  return startBy(program, at, yearsLater).firstDay;
}

export function yearStart(program: Program | undefined, at: Date, yearsLater = 0): Date {
  return new Date(startBy(program, at, yearsLater).startMs);
}

function startBy(program: Program | undefined, at: Date, yearsLater: number): Start {
  const { membershipYear } = program ?? DEFAULT_PROGRAM;
  const atMs = at.getTime();
  // East of Greenwich, a calendar year starts while it is still the year before in UTC.
  for (let calendarYear = at.getUTCFullYear() + 1; ; calendarYear--) {
    const start = startOf(membershipYear, calendarYear);
    if (start.startMs <= atMs)
      return yearsLater === 0 ? start : startOf(membershipYear, calendarYear + yearsLater);
  }
}

/** When the program's membership years ended, after `sinceMs` and until `untilMs`. */
export function yearsEnded(program: Program | undefined, sinceMs: number, untilMs: number): Date[] {
  const ends: Date[] = [];
  for (let at = new Date(sinceMs); ; ) {
    const end = yearStart(program, at, 1);
    if (end.getTime() > untilMs) return ends;
    ends.push(end);
    at = end;
  }
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
