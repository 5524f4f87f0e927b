// What is written of usage, and how much of it is kept.
import { createHash } from 'node:crypto';
import { dayOf } from '@partner-loyalty/gateway/schema/dates.ts';
import {
  hourOf,
  type RequestHour,
  type RequestRecord,
} from '@partner-loyalty/gateway/usage/requests.ts';
import type {
  FieldUsage,
  KeyUse,
  OperationUsage,
  UsageCaller,
  UsageCounts,
} from '@partner-loyalty/gateway/usage/usage.ts';
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import type { Addition } from '@partner-loyalty/runtime/store/engine/store.ts';

export type Counts = Readonly<Record<string, number>>;

type Usage = { fields: readonly FieldUsage[]; operations: readonly OperationUsage[] };

/** The requests with a key between two writes of a gateway. */
export type KeyUseInHour = KeyUse & {
  /** The hour of the last request, in UTC: `2031-05-17T10`. */
  hour: string;
  lastUsedAt: Date;
};

/** What a gateway counted of a partner's requests in an hour, or in a part of it. */
export type PartnerHour = RequestHour & { partnerId: string };

/** What one process has recorded of a partner within CHUNK_MS, in the order of time. */
export type RequestChunk = {
  partnerId: string;
  /** The time of the first record, in milliseconds since 1970. */
  begun: number;
  /** Different in each process, and for each of its chunks. */
  writer: string;
  records: readonly RequestRecord[];
};

export type RequestBatch = {
  /** When it is written. */
  at: Date;
  hours: readonly PartnerHour[];
  chunks: readonly RequestChunk[];
};

export type UsageStore = UsageCounts & {
  /** Adds to the counts of earlier calls. */
  add(usage: Usage): Promise<void>;
  /** Adds to the counts of earlier calls. The last use of a key never goes back. */
  addKeyUses(uses: readonly KeyUseInHour[]): Promise<void>;
  /**
   * Adds to the sums of earlier calls, and adds or replaces chunks of records. Then it removes some
   * of what is too old.
   */
  addRequests(batch: RequestBatch): Promise<void>;
  close(): Promise<void>;
};

export const KEPT_DAYS = 60;
/** The most used operations of a day. */
export const KEPT_OPERATIONS = 500;
/** If a day has more operations, the store removes all but those it keeps. */
export const MAX_OPERATIONS = 2 * KEPT_OPERATIONS;
/** For each caller and day; others are not counted. A graph has far fewer. */
const MAX_COORDINATES = 10_000;
/** The rest of an operation is cut off. */
const MAX_OPERATION_CHARACTERS = 4_000;

/** A row for each caller and day, which counts by coordinate. */
export function fieldCounts(fields: readonly FieldUsage[]): Addition[] {
  const rows = new Map<string, { key: Key; counts: Map<string, number> }>();
  for (const { coordinate, count, ...caller } of fields) {
    const key = callerKey(caller);
    const id = key.join(' ');
    const row = rows.get(id) ?? { key, counts: new Map() };
    rows.set(id, row);
    const name = countName(coordinate);
    row.counts.set(name, (row.counts.get(name) ?? 0) + count);
  }
  return Array.from(rows.values(), ({ key, counts }) => ({
    key,
    amounts: Object.fromEntries(counts),
  }));
}

/** What a stored row has room for. */
export function withinRoom({ key, amounts }: Addition, stored: Counts = {}): Addition {
  let room = MAX_COORDINATES - Object.keys(stored).length;
  const isCounted = ([name]: [string, number]) => {
    if (Object.hasOwn(stored, name)) return true;
    room -= 1;
    return room >= 0;
  };
  return { key, amounts: Object.fromEntries(Object.entries(amounts).filter(isCounted)) };
}

// Names of what is added have no dots, and no coordinate has a slash.
const countName = (coordinate: string) => coordinate.replaceAll('.', '/');
export const coordinateOf = (name: string) => name.replaceAll('/', '.');

/** The key of what is counted for a caller on a day, or its beginning. */
export function callerKey({ day, surface, partnerId = '' }: UsageCaller): Key {
  return [day, surface, partnerId];
}

/** A row for each operation, caller and day; at most MAX_OPERATIONS, the most used. */
export function operationCounts(operations: readonly OperationUsage[]): Addition[] {
  return mostUsed([...operations], MAX_OPERATIONS).map(({ count, operation, ...caller }) => ({
    key: [...callerKey(caller), createHash('sha256').update(operation).digest('base64url')],
    amounts: { count },
    initially: { operation: operation.slice(0, MAX_OPERATION_CHARACTERS) },
  }));
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

export const HOUR_MS = 3_600_000;
/** So many hours of the use of keys are kept. */
export const KEPT_HOURS = 48;

/** The first of so many days if `day` is the last. */
export function firstDay(day: string, days: number): string {
  return dayOf(Date.parse(day) - (days - 1) * 24 * HOUR_MS);
}

/** The first hour to keep if `hour` is the last. */
export function firstKeptHour(hour: string): string {
  return hourOf(new Date(Date.parse(`${hour}:00:00Z`) - KEPT_HOURS * HOUR_MS));
}

/** How long a process adds to a chunk of records. */
export const CHUNK_MS = 2_000;
