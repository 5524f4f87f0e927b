// The stored form of standings and activities in LMDB: arrays, since there are millions of them.
// Only the functions of this file know the positions.
import type { ActivityContent } from '../rules/activity.ts';
import type { Standing } from '../rules/standing.ts';

export type StandingKey = [partnerId: string, memberId: string, year: string];
export type StoredStanding = [points: number, stays: number];
export type StoredActivity = [
  partnerId: string,
  memberId: string,
  points: number,
  stays: number,
  occurredAtMs: number,
];

export type MemberActivityKey = [
  memberId: string,
  partnerId: string,
  occurredAtMs: number,
  activityId: string,
];

/** The value of an entry whose key says everything. */
export const NO_VALUE = Buffer.alloc(0);

export function encodeStanding({ points, stays }: Standing): StoredStanding {
  return [points, stays];
}

export function decodeStanding([points, stays]: StoredStanding): Standing {
  return { points, stays };
}

/** Without the ID, which is the key, and without the year, which follows from the rest. */
export function encodeActivity(activity: ActivityContent): StoredActivity {
  const { partnerId, memberId, points, stays, occurredAt } = activity;
  return [partnerId, memberId, points, stays, occurredAt.getTime()];
}

export function decodeActivity(stored: StoredActivity): ActivityContent {
  const [partnerId, memberId, points, stays, occurredAtMs] = stored;
  return { partnerId, memberId, points, stays, occurredAt: new Date(occurredAtMs) };
}

/** Where the index of each member's activities has one. */
export function memberActivityKey(activityId: string, stored: StoredActivity): MemberActivityKey {
  const [partnerId, memberId, , , occurredAtMs] = stored;
  return [memberId, partnerId, occurredAtMs, activityId];
}

/** The ID of the activity that an entry of that index is for. */
export function activityIdOf([, , , activityId]: MemberActivityKey): string {
  return activityId;
}
