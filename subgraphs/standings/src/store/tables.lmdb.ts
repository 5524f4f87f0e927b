// The databases of the standings store in LMDB, and the stored form of what is in them.
//
// Standings, activities and events are arrays, since there are millions of them. Only the functions
// of this file know the positions.
import { openLmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { Activity, ActivityContent } from '../rules/activity.ts';
import { EVENT_TYPES, type Event, type EventType, type PendingEvent } from '../rules/event.ts';
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
    /** By the ID that each had, the member that it is part of now. */
    merged: root.openDB<string, string>({ name: 'merged', encoding: 'json' }),
    /** Events without a position, those of a transaction together, in the order of transactions. */
    outbox: root.openDB<StoredPending[], number>({ name: 'outbox', encoding: 'json' }),
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

/** What its type holds comes last, in the order of EVENT_TYPES; what is missing is null. */
type StoredEvent = [type: EventType, id: string, occurredAt: number, ...content: unknown[]];
export type StoredPending = [
  partnerId: string,
  year: string | undefined,
  before: number | undefined,
  after: number | undefined,
  otherYear: number | undefined,
  ...event: StoredEvent,
];

// Plain loops, since spreading and destructuring arrays costs more here than JSON does.

/** Adds the event, without the partner, to `stored`. */
function pushEvent(stored: unknown[], event: Event): void {
  stored.push(event.type, event.id, event.occurredAt);
  const fields: readonly (keyof Event)[] = EVENT_TYPES[event.type];
  for (let at = 0; at < fields.length; at += 1) stored.push(event[fields[at] as keyof Event]);
}

/** The event that begins at `start`. */
function eventAt(stored: readonly unknown[], start: number, partnerId: string): Event {
  // Casts: pushEvent has written them.
  const type = stored[start] as EventType;
  const id = stored[start + 1] as string;
  const occurredAt = stored[start + 2] as number;
  const event: Record<string, unknown> = { id, type, partnerId, occurredAt };
  const fields: readonly string[] = EVENT_TYPES[type];
  for (let at = 0; at < fields.length; at += 1) {
    const value = stored[start + 3 + at] ?? undefined;
    if (value !== undefined) event[fields[at] as string] = value;
  }
  return event as Event;
}

export function encodePending(event: PendingEvent): StoredPending {
  const { partnerId, year, before, after, otherYear } = event;
  const stored: unknown[] = [partnerId, year, before, after, otherYear];
  pushEvent(stored, event);
  return stored as StoredPending; // Cast: the event is there now.
}

export function decodePending(stored: StoredPending): PendingEvent {
  const event: PendingEvent = eventAt(stored, 5, stored[0]);
  const year = stored[1] ?? undefined;
  if (year === undefined) return event;
  event.year = year;
  event.before = stored[2] ?? 0;
  event.after = stored[3] ?? 0;
  if (typeof stored[4] === 'number') event.otherYear = stored[4];
  return event;
}

/** Without the partner, which the key has. */
export function encodeBlock(events: readonly Event[]): Buffer {
  const stored = events.map((event) => {
    const one: unknown[] = [];
    pushEvent(one, event);
    return one;
  });
  return Buffer.from(JSON.stringify(stored));
}

export function decodeBlock([partnerId]: BlockKey, block: Buffer): Event[] {
  const stored = JSON.parse(block.toString()) as StoredEvent[]; // Cast: encodeBlock has written it.
  return stored.map((event) => eventAt(event, 0, partnerId));
}

/** Adds events to the outbox. Call it in a transaction. */
export function putPending(
  { outbox }: Pick<Tables, 'outbox'>,
  events: readonly PendingEvent[],
): void {
  if (events.length === 0) return;
  const [last = 0] = outbox.getKeys({ reverse: true, limit: 1 });
  outbox.put(last + 1, events.map(encodePending));
}

/** Reads programs, each once, within a transaction. */
export function programReader({ programs }: Pick<Tables, 'programs'>) {
  const read = new Map<string, Program | undefined>();
  return (partnerId: string): Program | undefined => {
    if (!read.has(partnerId)) read.set(partnerId, programs.get(partnerId));
    return read.get(partnerId);
  };
}
