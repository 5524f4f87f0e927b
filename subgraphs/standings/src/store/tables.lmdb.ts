// The databases of the standings store in LMDB, and the stored form of what is in them.
//
// Standings and activities are arrays, since there are millions of them. Only the functions of this
// file know the positions.
import { openLmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { Activity, ActivityContent } from '../rules/activity.ts';
import type { PendingEvent } from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import type { Standing } from '../rules/standing.ts';

export type Tables = Awaited<ReturnType<typeof openTables>>;

/**
 * Opens the databases. In one transaction: otherwise each one begins its own, which blocks this
 * whole process while another process writes.
 */
export function openTables(root: RootDatabase) {
  return root.transaction(() => ({
    root,
    programs: root.openDB<Program, string>({ name: 'programs', encoding: 'json' }),
    standings: root.openDB<StoredStanding, StandingKey>({ name: 'standings' }),
    /** By partner and the partner's own ID. */
    activities: root.openDB<StoredActivity, ActivityKey>({ name: 'activities' }),
    /** The activities of each member, by partner and in the order of time. The key says it all. */
    memberActivities: root.openDB<Buffer, MemberActivityKey>({
      name: 'memberActivities',
      encoding: 'binary',
    }),
    marks: openLmdbMarks(root),
    /** Events without a position, those of a transaction together, in the order of transactions. */
    outbox: root.openDB<PendingEvent[], number>({ name: 'outbox', encoding: 'json' }),
    /** Blocks of the feed, by partner and the position of the first event, as JSON. */
    events: root.openDB<Buffer, BlockKey>({ name: 'events', encoding: 'binary' }),
    /** The last position of each partner, and the day on which it was given. */
    eventHeads: root.openDB<EventHead, string>({ name: 'eventHeads' }),
    /** The last position of each partner on each day. */
    eventDays: root.openDB<number, EventDayKey>({ name: 'eventDays' }),
    /** `members`: the IDs of their events that got positions last. `years`: see Feed. */
    eventState: root.openDB<string[] | number, 'members' | 'years'>({
      name: 'eventState',
      encoding: 'json',
    }),
  }));
}

export type BlockKey = [partnerId: string, first: number];
export type EventHead = [last: number, day: number];
export type EventDayKey = [day: number, partnerId: string];
export type StandingKey = [partnerId: string, memberId: string, year: string];
export type StoredStanding = [points: number, stays: number];
export type ActivityKey = [partnerId: string, activityId: string];
export type StoredActivity = [
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

/** Without what the key has, and without the year, which follows from the rest. */
export function encodeActivity(activity: ActivityContent): StoredActivity {
  const { memberId, points, stays, occurredAt } = activity;
  return [memberId, points, stays, occurredAt.getTime()];
}

export function decodeActivity(
  [partnerId, activityId]: ActivityKey,
  stored: StoredActivity,
): Activity {
  const [memberId, points, stays, occurredAtMs] = stored;
  return { activityId, partnerId, memberId, points, stays, occurredAt: new Date(occurredAtMs) };
}

/** Where the index of each member's activities has one. */
export function memberActivityKey(
  [partnerId, activityId]: ActivityKey,
  [memberId, , , occurredAtMs]: StoredActivity,
): MemberActivityKey {
  return [memberId, partnerId, occurredAtMs, activityId];
}

/** The key of the activity that an entry of that index is for. */
export function activityKeyOf([, partnerId, , activityId]: MemberActivityKey): ActivityKey {
  return [partnerId, activityId];
}

/** Adds events to the outbox. Call it in a transaction. */
export function putPending({ outbox }: Pick<Tables, 'outbox'>, events: PendingEvent[]): void {
  if (events.length === 0) return;
  const [last = 0] = outbox.getKeys({ reverse: true, limit: 1 });
  outbox.put(last + 1, events);
}

/** Reads programs, each once, within a transaction. */
export function programReader({ programs }: Pick<Tables, 'programs'>) {
  const read = new Map<string, Program | undefined>();
  return (partnerId: string): Program | undefined => {
    if (!read.has(partnerId)) read.set(partnerId, programs.get(partnerId));
    return read.get(partnerId);
  };
}
