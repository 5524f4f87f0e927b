// An activity out of JSON: a line of an import (contract, section 4, Activities).

import { isJsonObject } from '@partner-loyalty/runtime';
import { Temporal } from 'temporal-polyfill';
import { integerOf, strayFaults, textOf } from './json.ts';

export type Activity = {
  activityId: string;
  partnerId: string;
  memberId: string;
  /** Negative for a reversal, as stays are. */
  points: number;
  stays: number;
  occurredAt: Date;
};

/** What a repeated activity ID must repeat as well. */
export type ActivityContent = Omit<Activity, 'activityId'>;

/** An activity and the membership year it falls into, named as yearOf names it. */
export type DatedActivity = Activity & { year: string };

const LONGEST_ID = 128;
const LARGEST = 1_000_000_000;
const EARLIEST_MS = Date.UTC(1900, 0);
const DAY_MS = 86_400_000;

const ID = `a text of 1 to ${LONGEST_ID} characters without control characters`;
const AMOUNT = 'an integer within ±1,000,000,000';

/** What each property has to be. */
const RULES: Record<keyof Activity, string> = {
  activityId: ID,
  partnerId: ID,
  memberId: ID,
  points: AMOUNT,
  stays: AMOUNT,
  occurredAt:
    'an ISO 8601 time with its zone, such as "2026-01-31T09:00:00Z", from 1900 to a day ahead',
};
const PROPERTIES = Object.keys(RULES);

/**
 * The activity in a JSON value, or a text, one line, that names every fault. Ids come trimmed, times cut to milliseconds. `stays` is 0 where it is
 * absent, and negative in a reversal, as points are. An unknown property is a fault: it is most often `stays` misspelt, which would be lost.
 */
export function checkActivity(json: unknown, now: Date): Activity | string {
  if (!isJsonObject(json)) return 'it is not a JSON object';
  const activityId = textOf(json.activityId, LONGEST_ID);
  const partnerId = textOf(json.partnerId, LONGEST_ID);
  const memberId = textOf(json.memberId, LONGEST_ID);
  const points = integerOf(json.points, -LARGEST, LARGEST);
  const stays = integerOf(json.stays ?? 0, -LARGEST, LARGEST);
  const occurredAt = instantOf(json.occurredAt, now.getTime() + DAY_MS);
  const faults = strayFaults(json, PROPERTIES);
  const complete =
    activityId !== undefined &&
    partnerId !== undefined &&
    memberId !== undefined &&
    points !== undefined &&
    stays !== undefined;
  if (complete && occurredAt !== undefined && faults.length === 0)
    return { activityId, partnerId, memberId, points, stays, occurredAt };
  for (const [property, value] of Object.entries({
    activityId,
    partnerId,
    memberId,
    points,
    stays,
    occurredAt,
  } satisfies Partial<Activity>)) {
    if (value === undefined) faults.push(`${property} is not ${RULES[property as keyof Activity]}`); // Object.entries forgets the names
  }
  return faults.join('; ');
}

/**
 * Whether two activities have the same content. The membership year is no part of it: it follows
 * from the rest and from the program at the time of recording.
 */
export function isSameActivity(one: ActivityContent, other: ActivityContent): boolean {
  return (
    one.partnerId === other.partnerId &&
    one.memberId === other.memberId &&
    one.points === other.points &&
    one.stays === other.stays &&
    one.occurredAt.getTime() === other.occurredAt.getTime()
  );
}

function instantOf(value: unknown, latestMs: number): Date | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const { epochMilliseconds } = Temporal.Instant.from(value);
    return epochMilliseconds >= EARLIEST_MS && epochMilliseconds <= latestMs
      ? new Date(epochMilliseconds)
      : undefined;
  } catch {
    return undefined;
  }
}
