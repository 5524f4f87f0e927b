// The store of usage counts in an embedded LMDB, which the processes of one machine may share.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import type { RootDatabase } from 'lmdb';
import { lmdbKeyUses, openKeyUseTables } from './keyuse.lmdb.ts';
import {
  callerRecords,
  daysOf,
  firstKeptDay,
  KEPT_OPERATIONS,
  keptOperations,
  MAX_COORDINATES,
  MAX_OPERATIONS,
  mostUsed,
  operationRecords,
  operationsOf,
} from './records.ts';
import type { FieldUsage, OperationUsage, UsageStore } from './usagestore.ts';

/** The stored forms, by IDs that begin with the day. */
type StoredCaller = Pick<FieldUsage, 'day' | 'surface' | 'partnerId'> & {
  counts: Record<string, number>;
};
type Tables = ReturnType<typeof openUsageTables>;

/** Opens `dataDir/usage`. Rejects if it cannot be written or belongs to the other environment. */
export async function openLmdbUsageStore(
  dataDir: string,
  environment: Environment,
): Promise<UsageStore> {
  const { root } = await openLmdb(dataDir, 'usage', environment);
  const tables = openUsageTables(root);
  const keyUses = lmdbKeyUses(root, tables);
  let lastDay = '';
  return {
    async add(usage) {
      const callers = callerRecords(usage.fields);
      const operations = operationRecords(usage.operations);
      const days = daysOf(usage);
      const newest = days.findLast((day) => day > lastDay);
      await root.transaction(() => {
        for (const { id, counts, ...caller } of callers) addCounts(tables, id, caller, counts);
        for (const { id, ...operation } of operations) addOperation(tables, id, operation);
        for (const day of days) removeRareOperations(tables, day);
        if (newest !== undefined) removeBefore(tables, firstKeptDay(newest));
      });
      lastDay = newest ?? lastDay;
    },
    async fields(since) {
      return Array.from(tables.callers.getRange({ start: since })).flatMap(
        ({ value: { counts, ...caller } }) =>
          Object.entries(counts).map(([coordinate, count]) => ({ ...caller, coordinate, count })),
      );
    },
    async operations(since) {
      const { operations } = tables;
      return keptOperations(
        Array.from(operations.getRange({ start: since }), ({ value }) => value),
      );
    },
    ...keyUses,
    close: () => root.close(),
  };
}

export function openUsageTables(root: RootDatabase) {
  return {
    callers: root.openDB<StoredCaller, string>({ name: 'callers', encoding: 'json' }),
    operations: root.openDB<OperationUsage, string>({ name: 'operations', encoding: 'json' }),
    ...openKeyUseTables(root),
  };
}

// Call the following functions in a transaction.

function addCounts(
  { callers }: Tables,
  id: string,
  caller: Omit<StoredCaller, 'counts'>,
  added: ReadonlyMap<string, number>,
): void {
  const counts = new Map(Object.entries(callers.get(id)?.counts ?? {}));
  for (const [coordinate, count] of added)
    if (counts.size < MAX_COORDINATES || counts.has(coordinate))
      counts.set(coordinate, (counts.get(coordinate) ?? 0) + count);
  callers.put(id, { ...omitUndefined(caller), counts: Object.fromEntries(counts) });
}

function addOperation({ operations }: Tables, id: string, added: OperationUsage): void {
  const count = (operations.get(id)?.count ?? 0) + added.count;
  operations.put(id, { ...omitUndefined(added), count });
}

function removeRareOperations({ operations }: Tables, day: string): void {
  const { from, to } = operationsOf(day);
  // lmdb modifies its options, so each call gets an object of its own.
  if (operations.getKeysCount({ start: from, end: to }) <= MAX_OPERATIONS) return;
  const all = Array.from(operations.getRange({ start: from, end: to }), ({ key, value }) => ({
    ...value,
    key,
  }));
  const kept = new Set(mostUsed(all, KEPT_OPERATIONS));
  for (const operation of all) if (!kept.has(operation)) operations.remove(operation.key);
}

function removeBefore({ callers, operations }: Tables, day: string): void {
  for (const table of [callers, operations])
    for (const id of [...table.getKeys({ end: day })]) table.remove(id);
}
