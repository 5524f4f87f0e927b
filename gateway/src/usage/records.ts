// What the usage stores have in common: their records, and how many of them are kept.
import { createHash } from 'node:crypto';
import type { FieldUsage, KeyActivity, KeyUse, OperationUsage, UsageStore } from './usagestore.ts';

export type Usage = Parameters<UsageStore['add']>[0];

/** The counts of a caller on a day, by schema coordinate. */
export type CallerRecord = {
  id: string;
  day: string;
  surface: FieldUsage['surface'];
  partnerId?: string | undefined;
  counts: Map<string, number>;
};

/** An operation of a caller on a day. */
export type OperationRecord = OperationUsage & { id: string };

export const KEPT_DAYS = 60;
/** The most used operations of a day. */
export const KEPT_OPERATIONS = 500;
/** If a day has more operations, the store removes all but those it keeps. */
export const MAX_OPERATIONS = 2 * KEPT_OPERATIONS;
/** For each caller and day; further coordinates are not counted. A graph has far fewer. */
export const MAX_COORDINATES = 10_000;
/** The rest of an operation is cut off. */
const MAX_OPERATION_CHARACTERS = 4_000;

/** One record for each caller and day. IDs begin with the day. */
export function callerRecords(fields: readonly FieldUsage[]): CallerRecord[] {
  const records = new Map<string, CallerRecord>();
  for (const { day, surface, partnerId, coordinate, count } of fields) {
    const id = idOf(day, 'fields', surface, partnerId);
    let record = records.get(id);
    if (record === undefined) {
      record = { id, day, surface, partnerId, counts: new Map() };
      records.set(id, record);
    }
    const { counts } = record;
    if (counts.size < MAX_COORDINATES || counts.has(coordinate))
      counts.set(coordinate, (counts.get(coordinate) ?? 0) + count);
  }
  return [...records.values()];
}

/** One record for each operation, caller and day; at most MAX_OPERATIONS, the most used. */
export function operationRecords(operations: readonly OperationUsage[]): OperationRecord[] {
  const records = new Map<string, OperationRecord>();
  for (const usage of mostUsed([...operations], MAX_OPERATIONS)) {
    const { day, surface, partnerId, operation, count } = usage;
    const hash = createHash('sha256').update(operation).digest('base64url');
    const id = `${operationsOf(day).from}${idOf(surface, partnerId, hash)}`;
    const known = records.get(id);
    if (known === undefined)
      records.set(id, { ...usage, id, operation: operation.slice(0, MAX_OPERATION_CHARACTERS) });
    else known.count += count;
  }
  return [...records.values()];
}

/** The IDs of a day's operations: `from` inclusive, `to` exclusive. */
export function operationsOf(day: string): { from: string; to: string } {
  return { from: `${day} operation `, to: `${day} operation!` };
}

export function mostUsed<T extends { count: number }>(all: T[], most: number): T[] {
  return all.sort((a, b) => b.count - a.count).slice(0, most);
}

/** The most used operations of each day, in the order of the days. */
export function keptOperations(operations: readonly OperationUsage[]): OperationUsage[] {
  const days = new Map<string, OperationUsage[]>();
  for (const usage of operations) {
    const ofDay = days.get(usage.day);
    if (ofDay === undefined) days.set(usage.day, [usage]);
    else ofDay.push(usage);
  }
  return [...days.values()].flatMap((ofDay) => mostUsed(ofDay, KEPT_OPERATIONS));
}

/** The days that a call adds to. */
export function daysOf({ fields, operations }: Usage): string[] {
  return [...new Set([...fields, ...operations].map(({ day }) => day))].sort();
}

/** The first day to keep if `day` is the last. */
export function firstKeptDay(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - KEPT_DAYS + 1);
  return date.toISOString().slice(0, 10);
}

/** IDs sort by their first part. No part contains a space. */
function idOf(...parts: (string | undefined)[]): string {
  return parts.map((part) => part ?? '').join(' ');
}

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
