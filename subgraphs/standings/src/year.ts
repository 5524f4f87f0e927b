// Which membership year of a program an instant falls into (contract, section 4, Standing).
import { Temporal } from 'temporal-polyfill';
import { DEFAULT_PROGRAM } from './program.ts';
import type { Program } from './store/store.ts';

/**
 * The membership year that holds an instant, named by its first day, "YYYY-MM-DD" in the program's time zone. It starts at that day's midnight,
 * or at the first instant after it where the zone's clocks skip midnight. The default program's year where there is no program.
 */
export function yearOf(program: Program | undefined, at: Date): string {
  const { membershipYear } = program ?? DEFAULT_PROGRAM;
  const atMs = at.getTime();
  // East of Greenwich a calendar year starts while UTC is in the one before.
  for (let calendarYear = at.getUTCFullYear() + 1; ; calendarYear--) {
    const { firstDay, startMs } = startOf(membershipYear, calendarYear);
    if (startMs <= atMs) return firstDay;
  }
}

type Start = { firstDay: string; startMs: number };

/** The starts found so far: time zone rules cost microseconds, and a program is asked about millions of instants. */
const known = new WeakMap<Program['membershipYear'], Map<number, Start>>();

function startOf(membershipYear: Program['membershipYear'], calendarYear: number): Start {
  const starts = known.get(membershipYear) ?? new Map<number, Start>();
  const seen = starts.get(calendarYear);
  if (seen !== undefined) return seen;
  const [month = 1, day = 1] = membershipYear.start.split('-').map(Number);
  const date = Temporal.PlainDate.from({ year: calendarYear, month, day }, { overflow: 'reject' });
  const start = {
    firstDay: date.toString(),
    startMs: date.toZonedDateTime(membershipYear.timeZone).epochMilliseconds,
  };
  known.set(membershipYear, starts.set(calendarYear, start));
  return start;
}
