// A line of an activity import: from JSON to the activity that the standings store records.
import type { Parsed } from '@partner-loyalty/runtime/input.ts';
import {
  createActivityParser,
  type DatedActivity,
  type Program,
  yearOf,
} from '@partner-loyalty/standings';

/** A parser of lines. `programs` has an entry for each partner, even for one without a program. */
export function createActivityLineParser(
  programs: ReadonlyMap<string, Program | undefined>,
): (line: Record<string, unknown>) => Parsed<DatedActivity> {
  const parse = createActivityParser(() => new Date());
  return (line) => {
    const parsed = parse(line);
    if ('fault' in parsed) return parsed;
    const { partnerId, occurredAt } = parsed.value;
    if (!programs.has(partnerId)) return { fault: 'partnerId must be that of an existing partner' };
    return { value: { ...parsed.value, year: yearOf(programs.get(partnerId), occurredAt) } };
  };
}
