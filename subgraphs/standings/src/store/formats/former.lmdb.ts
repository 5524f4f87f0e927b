// How formats 1 and 2 stored an activity in LMDB: under its ID, which was unique over all partners.
import type { ActivityKey, StoredActivity } from '../format.lmdb.ts';

export type FormerActivity = [partnerId: string, ...stored: StoredActivity];

/** The record that replaces it in the current format. */
export function presentOf(
  activityId: string,
  [partnerId, ...stored]: FormerActivity,
): { key: ActivityKey; stored: StoredActivity } {
  return { key: [partnerId, activityId], stored };
}
