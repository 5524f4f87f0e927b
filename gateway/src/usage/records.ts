// What the usage stores have in common: their records, and how many of them are kept.
import { createHash } from 'node:crypto';
import type { FieldUsage, OperationUsage, UsageStore } from './usagestore.ts';

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
