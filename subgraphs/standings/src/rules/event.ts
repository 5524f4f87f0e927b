// The events of a partner's feed: their types, what each holds, and those that standings makes.
import { hash, randomUUID } from 'node:crypto';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { Activity } from './activity.ts';

/**
 * Every type of event, with what it holds beside its ID, time and partner. None of it names a
 * person. A new type has its row here, and its value in the enum of the schema.
 */
export const EVENT_TYPES = {
  MEMBER_ENROLLED: ['memberId', 'externalId'],
  ENROLLMENT_ENDED: ['memberId', 'externalId'],
  MEMBER_UPDATED: ['memberId', 'externalId'],
  EXTERNAL_ID_CHANGED: ['memberId', 'externalId'],
  MEMBER_ERASED: ['memberId'],
  MEMBER_MERGED: ['memberId', 'externalId', 'mergedMemberId'],
  POINTS_CHANGED: ['memberId', 'points', 'activityId'],
  TIER_CHANGED: ['memberId', 'tierBefore', 'tierAfter'],
  YEAR_ENDED: [],
  PROGRAM_CHANGED: [],
} as const satisfies Record<string, readonly (keyof EventContent)[]>;

export type EventType = keyof typeof EVENT_TYPES;

type EventContent = {
  memberId?: string;
  externalId?: string;
  mergedMemberId?: string;
  tierBefore?: string;
  tierAfter?: string;
  points?: number;
  activityId?: string;
};

/** `occurredAt` is in milliseconds since 1970. */
export type Event = EventContent & {
  id: string;
  type: EventType;
  partnerId: string;
  occurredAt: number;
};

/** An event without its ID, which follows from those that it is stored with. */
export type NewEvent = Omit<Event, 'id'>;

/** The points of the membership year before and after a POINTS_CHANGED. */
export type YearPoints = { year: string; before: number; after: number };

/** An event that has no position yet. */
export type PendingEvent = Event & { yearPoints?: YearPoints };

/** What the erasure of a member takes out of earlier events. */
export const ERASED_FIELDS = ['externalId', 'activityId'] as const;

/** The event without what an erased member's may not have. */
export function withoutErased({ externalId, activityId, ...event }: Event): Event {
  return event;
}

/**
 * An event of members, as the outbox there has it in JSON. Throws if its type is none that this
 * version knows: then it waits for the next one.
 */
export function parseMemberEvent(json: string): Event {
  const found = JSON.parse(json) as Event; // Cast: members has written it.
  const { id, type, partnerId, occurredAt } = found;
  if (!Object.hasOwn(EVENT_TYPES, type)) throw new Error('an event of an unknown type');
  const content = EVENT_TYPES[type].map((field): [string, unknown] => [
    field,
    found[field as keyof EventContent],
  ]);
  return omitUndefined({ id, type, partnerId, occurredAt, ...Object.fromEntries(content) });
}

export function pointsChanged(
  { partnerId, memberId, activityId, points }: Activity,
  occurredAt: number,
): NewEvent {
  return { type: 'POINTS_CHANGED', partnerId, occurredAt, memberId, activityId, points };
}

export function programChanged(partnerId: string, occurredAt: number): Event {
  return { id: randomUUID(), type: 'PROGRAM_CHANGED', partnerId, occurredAt };
}

/** Two processes that notice the same year's end make the same event. */
export function yearEnded(partnerId: string, end: Date): Event {
  const occurredAt = end.getTime();
  const id = hash('sha256', JSON.stringify(['YEAR_ENDED', partnerId, occurredAt]));
  return { id: id.slice(0, 32), type: 'YEAR_ENDED', partnerId, occurredAt };
}
