// Points and stays that members earn or give back (docs/callers/standing.md, Activities).
import {
  createParser,
  idText,
  integer,
  type Parsed,
  parsedBy,
} from '@partner-loyalty/runtime/input.ts';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';

export type Activity = {
  activityId: string;
  partnerId: string;
  memberId: string;
  /** Negative for a reversal, as stays are. */
  points: number;
  stays: number;
  occurredAt: Date;
};

/** What must be the same if the ID of an activity is repeated. */
export type ActivityContent = Omit<Activity, 'activityId'>;

/** An activity with its membership year, as `yearOf` names it. */
export type DatedActivity = Activity & { year: string };

/**
 * Creates a parser of activities from JSON; `now` returns the current time. IDs come out trimmed,
 * times cut to milliseconds, and missing stays as 0.
 */
export function createActivityParser(now: () => Date): (json: unknown) => Parsed<Activity> {
  return createParser(
    z.strictObject({
      activityId: idText(MAX_ID),
      partnerId: idText(MAX_ID),
      memberId: idText(MAX_ID),
      points: amount,
      stays: amount.nullish().transform((stays) => stays ?? 0),
      occurredAt: instant.refine(
        (at) => isPossibleTime(at, now()),
        'must be between 1900 and one day from now',
      ),
    }),
  );
}

/** A number of points or stays that can be recorded. */
export function isAmount(value: number): boolean {
  return Number.isSafeInteger(value) && Math.abs(value) <= MAX_AMOUNT;
}

export function isPossibleTime(at: Date, now: Date): boolean {
  return at.getTime() >= EARLIEST_MS && at.getTime() <= now.getTime() + DAY_MS;
}

/** A time in ISO 8601 with its zone, truncated to milliseconds; undefined for any other text. */
export function parseInstant(iso: string): Date | undefined {
  // Measured: 1 µs for these, and 4 µs for Temporal, a tenth of an import.
  if (PLAIN_INSTANT.test(iso)) return new Date(iso);
  try {
    return new Date(Temporal.Instant.from(iso).epochMilliseconds);
  } catch {
    return undefined;
  }
}

/**
 * Whether two activities have the same content. The membership year does not count: it follows from
 * the rest and from the program at the time of recording.
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

export const MAX_ID = 128;
const MAX_AMOUNT = 1_000_000_000;
const EARLIEST_MS = Date.UTC(1900, 0);
const DAY_MS = 86_400_000;

const amount = integer(-MAX_AMOUNT, MAX_AMOUNT);

/** A time as most files have it, on a day that every month has. */
const PLAIN_INSTANT =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{3})?Z$/;

const instant = parsedBy(
  parseInstant,
  'must be an ISO 8601 time with its zone, such as "2026-01-31T09:00:00Z"',
);
