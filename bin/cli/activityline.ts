// A line of an activity import: from JSON to the dated activity the standings store takes.
import { fail } from '@partner-loyalty/runtime';
import {
  checkActivity,
  type DatedActivity,
  type Program,
  yearOf,
} from '@partner-loyalty/standings';

/** Checks a line; `programs` has every partner that exists, with its program where it has one. Fails with BAD_USER_INPUT. */
export function checkActivityLine(
  line: Record<string, unknown>,
  programs: ReadonlyMap<string, Program | undefined>,
  now: Date,
): DatedActivity {
  const activity = checkActivity(line, now);
  if (typeof activity === 'string') fail('BAD_USER_INPUT', activity);
  if (!programs.has(activity.partnerId))
    fail('BAD_USER_INPUT', 'partnerId names a partner that does not exist');
  return { ...activity, year: yearOf(programs.get(activity.partnerId), activity.occurredAt) };
}
