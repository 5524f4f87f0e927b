// Records a batch of activities in LMDB, in one transaction.
import { type ActivityContent, type DatedActivity, isSameActivity } from '../rules/activity.ts';
import { addStandings, NO_ACTIVITY, type Standing } from '../rules/standing.ts';
import type { RecordOutcome } from './store.ts';
import {
  type ActivityKey,
  decodeActivity,
  decodeStanding,
  encodeActivity,
  encodeStanding,
  memberActivityKey,
  NO_VALUE,
  type StandingKey,
  type Tables,
} from './tables.lmdb.ts';

type NewActivity = { key: ActivityKey; content: ActivityContent };

/**
 * Records a batch in the current transaction. The writes come last, so that an error before them
 * leaves nothing behind.
 */
export function recordBatch(tables: Tables, batch: readonly DatedActivity[]): RecordOutcome[] {
  const { standings, activities } = tables;
  const isErased = erasedMembers(tables);
  const newActivities = new Map<string, NewActivity>();
  const newStandings = new Map<string, { key: StandingKey; standing: Standing }>();
  const outcomes = batch.map((activity): RecordOutcome => {
    const { activityId, partnerId, memberId, year } = activity;
    if (isErased(memberId)) return 'erased';
    const activityKey: ActivityKey = [partnerId, activityId];
    const activityName = activityKey.join('\0');
    const recorded =
      newActivities.get(activityName)?.content ??
      mapDefined(activities.get(activityKey), (stored) => decodeActivity(activityKey, stored));
    if (recorded !== undefined)
      return isSameActivity(recorded, activity) ? 'already-recorded' : 'conflict';
    const key: StandingKey = [partnerId, memberId, year];
    const name = key.join('\0');
    const before =
      newStandings.get(name)?.standing ??
      mapDefined(standings.get(key), decodeStanding) ??
      NO_ACTIVITY;
    const standing = addStandings(before, activity);
    if (standing === undefined) return 'out-of-range';
    newStandings.set(name, { key, standing });
    newActivities.set(activityName, { key: activityKey, content: activity });
    return 'recorded';
  });
  write(tables, newActivities, newStandings);
  return outcomes;
}

function write(
  { standings, activities, memberActivities }: Tables,
  newActivities: ReadonlyMap<string, NewActivity>,
  newStandings: ReadonlyMap<string, { key: StandingKey; standing: Standing }>,
): void {
  for (const { key, content } of newActivities.values()) {
    const stored = encodeActivity(content);
    activities.put(key, stored);
    memberActivities.put(memberActivityKey(key, stored), NO_VALUE);
  }
  for (const { key, standing } of newStandings.values())
    standings.put(key, encodeStanding(standing));
}

/** Whether a member was erased: one look-up for each member of a batch, none without any mark. */
function erasedMembers({ marks }: Tables): (memberId: string) => boolean {
  if (marks.isEmpty()) return () => false;
  const known = new Map<string, boolean>();
  return (memberId) => {
    const before = known.get(memberId);
    if (before !== undefined) return before;
    const isErased = marks.has(memberId);
    known.set(memberId, isErased);
    return isErased;
  };
}

export function mapDefined<T, U>(value: T | undefined, map: (value: T) => U): U | undefined {
  return value === undefined ? undefined : map(value);
}
