// The databases of the standings store in LMDB, and the stored form of what is in them.
//
// Standings, activities and events are arrays, since there are millions of them. Only the functions
// of this file know the positions.
import { randomUUID } from 'node:crypto';
import { openLmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { Activity, ActivityContent } from '../rules/activity.ts';
import {
  ERASED_FIELDS,
  EVENT_TYPES,
  type Event,
  type EventType,
  type NewEvent,
} from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import type { Standing } from '../rules/standing.ts';
import { blocksOf } from './feed.ts';
import { shownProgram } from './programs.ts';

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
    /** Changes without a position, in the order of transactions. */
    outbox: root.openDB<Buffer, ChangeKey>({ name: 'outbox', encoding: 'binary' }),
    /** Blocks of the feed, by partner and the position of the first event: changes together. */
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

/** Events that a transaction has made for a partner, at one time. `count` is how many. */
export type ChangeKey = [number: number, partnerId: string, occurredAt: number, count: number];
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

type StoredChange = [id: string, occurredAt: number, ...events: StoredEvent[]];
/** What its type holds has the order of EVENT_TYPES; what is missing is null. */
type StoredEvent = [type: EventType, ...content: unknown[]];

/** Events of one partner and time as JSON. Their IDs follow from this one. */
export function encodeChange(id: string, events: readonly NewEvent[]): Buffer {
  const stored: unknown[] = [id, events[0]?.occurredAt];
  for (const event of events) {
    const one: unknown[] = [event.type];
    // A plain loop, since spreading costs more here than JSON does.
    for (const field of EVENT_TYPES[event.type]) one.push(event[field]);
    stored.push(one);
  }
  return Buffer.from(JSON.stringify(stored));
}

/** Changes together, as they are. */
export function joinChanges(changes: readonly Buffer[]): Buffer {
  return Buffer.concat(
    changes.flatMap((change, index) => (index === 0 ? change : [COMMA, change])),
  );
}

export function decodeBlock([partnerId]: BlockKey, block: Buffer): Event[] {
  return parseBlock(block).flatMap(([changeId, occurredAt, ...events]) =>
    events.map(([type, ...content], index) => {
      const id = index === 0 ? changeId : `${changeId}-${index}`;
      const event: Record<string, unknown> = { id, type, partnerId, occurredAt };
      for (const [at, field] of EVENT_TYPES[type].entries())
        if (content[at] !== null) event[field] = content[at];
      return event as Event; // Cast: encodeChange has written its fields.
    }),
  );
}

/** Without what an erased member's events may not have; undefined if it has none of the member. */
export function withoutIdsOf(memberId: string, block: Buffer): Buffer | undefined {
  // The text is found much faster than each block is parsed.
  if (!block.includes(JSON.stringify(memberId))) return undefined;
  const changes = parseBlock(block).map(([id, occurredAt, ...events]) => {
    const erased = events.map(([type, ...content]) => {
      const fields: readonly string[] = EVENT_TYPES[type];
      const isOwn = content[fields.indexOf('memberId')] === memberId;
      return [type, ...content.map((one, at) => (isOwn && isErased(fields[at]) ? null : one))];
    });
    return Buffer.from(JSON.stringify([id, occurredAt, ...erased]));
  });
  return joinChanges(changes);
}

const COMMA = Buffer.from(',');

function isErased(field: string | undefined): boolean {
  return ERASED_FIELDS.some((one) => one === field);
}

function parseBlock(block: Buffer): StoredChange[] {
  return JSON.parse(`[${block}]`) as StoredChange[]; // Cast: encodeChange has written them.
}

/** Adds events of one time to the outbox. Call it in a transaction. */
export function putPending(
  { outbox }: Pick<Tables, 'outbox'>,
  occurredAt: number,
  events: readonly NewEvent[],
): void {
  if (events.length === 0) return;
  let [[number] = [0]] = outbox.getKeys({ reverse: true, limit: 1 });
  for (const { partnerId, parts } of blocksOf(events, () => 0)) {
    number += 1;
    outbox.put([number, partnerId, occurredAt, parts.length], encodeChange(randomUUID(), parts));
  }
}

/** Reads programs, each once, within a transaction. */
export function programReader({ programs }: Pick<Tables, 'programs'>) {
  const read = new Map<string, Program | undefined>();
  return (partnerId: string): Program | undefined => {
    if (!read.has(partnerId)) read.set(partnerId, shownProgram(programs.get(partnerId)));
    return read.get(partnerId);
  };
}
