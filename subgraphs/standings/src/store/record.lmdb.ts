// Records a batch of activities in LMDB, in one transaction.
import { type ActivityContent, type DatedActivity, isSameActivity } from '../rules/activity.ts';
import { type NewEvent, pointsChanged } from '../rules/event.ts';
import { addStandings, NO_ACTIVITY, type Standing } from '../rules/standing.ts';
import { tierChangeOf } from '../rules/tiers.ts';
import type { RecordOutcome } from './store.ts';
import {
  type ActivityKey,
  decodeActivity,
  decodeStanding,
  encodeActivity,
  encodeStanding,
  memberActivityKey,
  NO_VALUE,
  programReader,
  putPending,
  type StandingKey,
  type Tables,
} from './tables.lmdb.ts';

type NewActivity = { key: ActivityKey; content: ActivityContent };

/**
 * Records a batch in the current transaction. The writes come last, so that an error before them
 * leaves nothing behind.
 */
export function recordBatch(tables: Tables, batch: readonly DatedActivity[]): RecordOutcome[] {
  const { standings, activities, marks, merged } = tables;
  const hasMarks = !marks.isEmpty();
  const newActivities = new Map<string, NewActivity>();
  const newStandings = new Map<string, { key: StandingKey; standing: Standing }>();
  const events: NewEvent[] = [];
  const at = Date.now();
  const programOf = programReader(tables);
  const sumsOf = (key: StandingKey): Standing | undefined => {
    const stored = newStandings.get(key.join('\0'))?.standing ?? standings.get(key);
    return Array.isArray(stored) ? decodeStanding(stored) : stored;
  };
  const hasMerged = merged.getKeysCount({ limit: 1 }) > 0;
  const outcomes = batch.map((sent): RecordOutcome => {
    const { activityId, partnerId, year } = sent;
    const memberId = (hasMerged && merged.get(sent.memberId)) || sent.memberId;
    // An erasure that is under way may have marked one of the two only.
    if (hasMarks && (marks.has(sent.memberId) || marks.has(memberId))) return 'erased';
    const activity = memberId === sent.memberId ? sent : { ...sent, memberId };
    const activityKey: ActivityKey = [partnerId, activityId];
    const activityName = activityKey.join('\0');
    const stored = activities.get(activityKey);
    const recorded =
      newActivities.get(activityName)?.content ?? (stored && decodeActivity(activityKey, stored));
    if (recorded !== undefined)
      return isSameActivity(recorded, activity) ? 'already-recorded' : 'conflict';
    const key: StandingKey = [partnerId, memberId, year];
    const before = sumsOf(key) ?? NO_ACTIVITY;
    const standing = addStandings(before, activity);
    if (standing === undefined) return 'out-of-range';
    newStandings.set(key.join('\0'), { key, standing });
    newActivities.set(activityName, { key: activityKey, content: activity });
    const event = pointsChanged(activity, at);
    const points = { year, before: before.points, after: standing.points };
    const pointsOf = (other: string) => sumsOf([partnerId, memberId, other])?.points;
    const tierChange = tierChangeOf(event, points, programOf(partnerId), pointsOf);
    events.push(event);
    if (tierChange !== undefined) events.push(tierChange);
    return 'recorded';
  });
  write(tables, newActivities, newStandings);
  putPending(tables, at, events);
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
