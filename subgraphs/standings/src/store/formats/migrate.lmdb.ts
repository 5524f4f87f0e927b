// Migrates the standings store in LMDB from its older formats.
//
// Several processes may do this at once, and may be killed: each transaction moves some records.
import type { LmdbMigration } from '@partner-loyalty/runtime/store/lmdb.ts';
import { addStandings } from '../../rules/standing.ts';
import { yearOf } from '../../rules/year.ts';
import {
  type ActivityKey,
  decodeActivity,
  decodeStanding,
  encodeStanding,
  memberActivityKey,
  NO_VALUE,
  type StandingKey,
  type StoredActivity,
} from '../format.lmdb.ts';
import { countOf, openTables, type Tables } from '../tables.lmdb.ts';
import { presentOf } from './former.lmdb.ts';

const BATCH_SIZE = 5_000;

/** Format 2 has an index by member, and format 3 has keys by partner. */
export const migrateLmdb: LmdbMigration = async (root) => takeOver(await openTables(root));

/**
 * Moves the records of an older format: all of a store in such a format, and those that a process
 * of that format writes while this one runs.
 */
export async function takeOver(tables: Tables): Promise<void> {
  const { root, former } = tables;
  if (countOf(former) === 0) return;
  let moved: number;
  do moved = await root.transaction(() => moveSome(tables));
  while (moved > 0);
  await root.flushed;
}

/** Returns how many it moved. */
function moveSome(tables: Tables): number {
  const { former, activities, memberActivities } = tables;
  const some = [...former.getRange({ limit: BATCH_SIZE })];
  for (const { key: activityId, value } of some) {
    const { key, stored } = presentOf(activityId, value);
    const present = activities.get(key);
    if (present === undefined) {
      activities.put(key, stored);
      memberActivities.put(memberActivityKey(key, stored), NO_VALUE);
    } else takeBack(tables, key, stored, present);
    former.remove(activityId);
  }
  return some.length;
}

/**
 * Undoes what a process of an older format recorded a second time: it did not find the activity,
 * which had been moved, and added it to the sums again.
 */
function takeBack(
  { programs, standings, memberActivities }: Tables,
  key: ActivityKey,
  stored: StoredActivity,
  present: StoredActivity,
): void {
  const { partnerId, memberId, points, stays, occurredAt } = decodeActivity(key, stored);
  const year = yearOf(programs.get(partnerId), occurredAt);
  const standingKey: StandingKey = [partnerId, memberId, year];
  const standing = standings.get(standingKey);
  const sums =
    standing && addStandings(decodeStanding(standing), { points: -points, stays: -stays });
  if (sums !== undefined) standings.put(standingKey, encodeStanding(sums));
  const entry = memberActivityKey(key, stored);
  const kept = memberActivityKey(key, present);
  if (JSON.stringify(entry) !== JSON.stringify(kept)) memberActivities.remove(entry);
}
