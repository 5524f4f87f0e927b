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
  const { standings, activities, marks } = tables;
  const hasMarks = !marks.isEmpty();
  const newActivities = new Map<string, NewActivity>();
  const newStandings = new Map<string, { key: StandingKey; standing: Standing }>();
  const outcomes = batch.map((activity): RecordOutcome => {
    const { activityId, partnerId, memberId, year } = activity;
    if (hasMarks && marks.has(memberId)) return 'erased';
    const activityKey: ActivityKey = [partnerId, activityId];
    const activityName = activityKey.join('\0');
    const stored = activities.get(activityKey);
    const recorded =
      newActivities.get(activityName)?.content ?? (stored && decodeActivity(activityKey, stored));
    if (recorded !== undefined)
      return isSameActivity(recorded, activity) ? 'already-recorded' : 'conflict';
    const key: StandingKey = [partnerId, memberId, year];
    const name = key.join('\0');
    const sums = standings.get(key);
    const before = newStandings.get(name)?.standing ?? (sums ? decodeStanding(sums) : NO_ACTIVITY);
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
