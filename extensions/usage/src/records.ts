// What the usage stores have in common: their records, and how many of them are kept.
import { createHash } from 'node:crypto';
import { hourOf } from '@partner-loyalty/gateway/usage/requests.ts';
import type {
  FieldUsage,
  OperationUsage,
  UsageCaller,
} from '@partner-loyalty/gateway/usage/usage.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { Counts, UsageStore } from './store.ts';

type Usage = Parameters<UsageStore['add']>[0];

const KEPT_DAYS = 60;
/** The most used operations of a day. */
export const KEPT_OPERATIONS = 500;
/** If a day has more operations, the store removes all but those it keeps. */
export const MAX_OPERATIONS = 2 * KEPT_OPERATIONS;
/** For each caller and day in a write; others are not counted. A graph has far fewer. */
const MAX_COORDINATES = 10_000;
/** The rest of an operation is cut off. */
const MAX_OPERATION_CHARACTERS = 4_000;

/** A row for each caller and day, which counts by coordinate. IDs begin with the day. */
export function fieldCounts(fields: readonly FieldUsage[]): Counts<UsageCaller>[] {
  const rows = new Map<string, { about: UsageCaller; counts: Map<string, number> }>();
  for (const { coordinate, count, ...about } of fields) {
    const id = fieldsId(about);
    const row = rows.get(id) ?? { about: omitUndefined(about), counts: new Map() };
    rows.set(id, row);
    if (row.counts.size < MAX_COORDINATES || row.counts.has(coordinate))
      row.counts.set(coordinate, (row.counts.get(coordinate) ?? 0) + count);
  }
  return Array.from(rows, ([id, { about, counts }]) => ({
    id,
    about,
    counts: Object.fromEntries(counts),
  }));
}

/** The ID of the row of a caller and day. */
export function fieldsId({ day, surface, partnerId }: UsageCaller): string {
  return idOf(day, 'fields', surface, partnerId);
}

/** A row for each operation, caller and day; at most MAX_OPERATIONS, the most used. */
export function operationCounts(
  operations: readonly OperationUsage[],
): Counts<Omit<OperationUsage, 'count'>>[] {
  return mostUsed([...operations], MAX_OPERATIONS).map(({ count, ...about }) => {
    const hash = createHash('sha256').update(about.operation).digest('base64url');
    return {
      id: `${operationsOf(about.day).from}${idOf(about.surface, about.partnerId, hash)}`,
      about: omitUndefined({
        ...about,
        operation: about.operation.slice(0, MAX_OPERATION_CHARACTERS),
      }),
      counts: { all: count },
    };
  });
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

/** The ID of the record of a key in an hour. IDs sort by the hour. */
export function hourId(hour: string, keyId: string): string {
  return `${hour} ${keyId}`;
}

/** Hours sort before this, and keys, which begin with a letter, after it. */
export const AFTER_HOURS = ':';

export function keyIdIn(id: string): string {
  return id.slice(id.indexOf(' ') + 1);
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

export const CHUNK_MS = 2_000;

/** IDs of chunks begin with the partner and the time of the first record. No part has a space. */
export function chunkPlace(partnerId: string, time: number): string {
  return `${partnerId} ${new Date(time).toISOString()}`;
}

export function partsOf(chunkId: string): { partnerId: string; begun: number } {
  const [partnerId = '', begun = ''] = chunkId.split(' ');
  return { partnerId, begun: Date.parse(begun) };
}
