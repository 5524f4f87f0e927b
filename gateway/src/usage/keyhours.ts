// The hours by which the use of keys is stored, and how long they are kept.
import type { KeyActivity, KeyUse } from './usagestore.ts';

const HOUR_MS = 3_600_000;
/** The last day, as `loyalty keys list` shows it. */
const SHOWN_HOURS = 24;
const KEPT_HOURS = 48;

/** The counts of a key in an hour. */
export type HourCounts = Pick<KeyUse, 'requests' | 'refusals'>;

/** The hour of an instant, in UTC: `2031-05-17T10`. */
export function hourOf(at: Date): string {
  return at.toISOString().slice(0, 13);
}

/** The ID of the record of a key in an hour. IDs sort by the hour. */
export function hourId(hour: string, keyId: string): string {
  return `${hour} ${keyId}`;
}

/** The last hours, the one of `now` included. */
export function lastHours(now: Date): string[] {
  return Array.from({ length: SHOWN_HOURS }, (_, ago) =>
    hourOf(new Date(now.getTime() - ago * HOUR_MS)),
  );
}

/** The first hour to keep if `hour` is the last. */
export function firstKeptHour(hour: string): string {
  return hourOf(new Date(Date.parse(`${hour}:00:00Z`) - KEPT_HOURS * HOUR_MS));
}

/** The newest hour of what is written; undefined if nothing is. */
export function newestHour(uses: readonly KeyUse[]): string | undefined {
  return uses
    .map(({ hour }) => hour)
    .sort()
    .at(-1);
}

/** What is shown of a key. */
export function activityOf(
  keyId: string,
  lastUsedAt: Date,
  hours: readonly HourCounts[],
): KeyActivity {
  const sum = (name: keyof HourCounts) => hours.reduce((total, hour) => total + hour[name], 0);
  return { keyId, lastUsedAt, requests: sum('requests'), refusals: sum('refusals') };
}
