// The store of usage counts, on tables of either engine.
import { SURFACE_NAMES } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { hourOf } from '@partner-loyalty/gateway/usage/requests.ts';
import type {
  FieldUsage,
  OperationUsage,
  UsageCaller,
} from '@partner-loyalty/gateway/usage/usage.ts';
import {
  AFTER_HOURS,
  daysOf,
  fieldCounts,
  fieldsId,
  firstKeptDay,
  firstKeptHour,
  hourId,
  KEPT_OPERATIONS,
  keptOperations,
  keyIdIn,
  lastHours,
  MAX_OPERATIONS,
  mostUsed,
  operationCounts,
  operationsOf,
} from './records.ts';
import { createRequestTables } from './requesttables.ts';
import type { Counts, CountTable, OpenCountTable, UsageStore } from './store.ts';

/**
 * IDs begin with the day; those of `keyUses` and `hours` with the hour, or they are that of a key;
 * those of `chunks` with the partner.
 */
export const TABLES = {
  fields: 'usageFields',
  operations: 'usageOperations',
  keyUses: 'keyUses',
  hours: 'requestHours',
  chunks: 'requestRecords',
} as const;

type OperationTable = CountTable<Omit<OperationUsage, 'count'>>;

/** `open` opens the tables of a store that is open, and `close` closes it. */
export async function createUsageStore(
  open: OpenCountTable,
  close: () => Promise<void>,
): Promise<UsageStore> {
  const callers = await open<UsageCaller>(TABLES.fields);
  const operations: OperationTable = await open(TABLES.operations);
  const keyUses = await open(TABLES.keyUses);
  const requests = createRequestTables(await open(TABLES.hours), await open(TABLES.chunks));
  let lastDay = '';
  let lastHour = '';
  return {
    async add(usage) {
      await callers.add(fieldCounts(usage.fields));
      await operations.add(operationCounts(usage.operations));
      const days = daysOf(usage);
      for (const day of days) await removeRare(operations, day);
      const newest = days.findLast((day) => day > lastDay);
      if (newest === undefined) return;
      for (const table of [callers, operations])
        await table.removeBetween('', firstKeptDay(newest));
      lastDay = newest;
    },
    fields: async (since) => (await callers.range(since)).flatMap(fieldsIn),
    async fieldsOf(partnerId, days) {
      const ids = days.flatMap((day) =>
        SURFACE_NAMES.map((surface) => fieldsId({ day, surface, partnerId })),
      );
      return [...(await callers.get(ids)).values()].flatMap(fieldsIn);
    },
    async operations(since) {
      const found = await operations.range(since);
      return keptOperations(
        found.map(({ about, counts }) => ({ ...about, count: counts.all ?? 0 })),
      );
    },
    async addKeyUses(uses) {
      await keyUses.add(
        uses.flatMap(({ keyId, hour, lastUsedAt, ...counts }) => [
          { id: hourId(hour, keyId), about: {}, counts },
          { id: keyId, about: {}, counts: {}, latestMs: lastUsedAt.getTime() },
        ]),
      );
      let newest = lastHour;
      for (const { hour } of uses) if (hour > newest) newest = hour;
      if (newest === lastHour) return;
      await keyUses.removeBetween('', firstKeptHour(newest));
      lastHour = newest;
    },
    async keyActivities(keyIds, now) {
      const lastUses = await keyUses.get(keyIds);
      const used = keyIds.filter((keyId) => lastUses.has(keyId));
      const hours = lastHours(now);
      const counts = await keyUses.get(
        used.flatMap((keyId) => hours.map((hour) => hourId(hour, keyId))),
      );
      return used.map((keyId) => {
        const lastUsedAt = new Date(lastUses.get(keyId)?.latestMs ?? 0);
        const ofKey = hours.map((hour) => counts.get(hourId(hour, keyId))?.counts ?? {});
        const sum = (name: string) => ofKey.reduce((total, hour) => total + (hour[name] ?? 0), 0);
        return { keyId, lastUsedAt, requests: sum('requests'), refusals: sum('refusals') };
      });
    },
    async keyUsesSince(instant) {
      const found = new Map<string, { requests: number; refusals: number; errors: number }>();
      for (const { id, counts } of await keyUses.range(hourOf(instant), AFTER_HOURS)) {
        const keyId = keyIdIn(id);
        const sum = found.get(keyId) ?? { requests: 0, refusals: 0, errors: 0 };
        found.set(keyId, sum);
        sum.requests += counts.requests ?? 0;
        sum.refusals += counts.refusals ?? 0;
        sum.errors += counts.errors ?? 0;
      }
      return Array.from(found, ([keyId, sum]) => ({ keyId, ...sum }));
    },
    ...requests,
    close,
  };
}

function fieldsIn({ about, counts }: Pick<Counts<UsageCaller>, 'about' | 'counts'>): FieldUsage[] {
  return Object.entries(counts).map(([coordinate, count]) => ({ ...about, coordinate, count }));
}

/** Removes all operations of a day but the most used, if it has too many. */
async function removeRare(operations: OperationTable, day: string): Promise<void> {
  const { from, to } = operationsOf(day);
  if ((await operations.size(from, to)) <= MAX_OPERATIONS) return;
  const all = (await operations.range(from, to)).map(({ id, counts }) => ({
    id,
    count: counts.all ?? 0,
  }));
  const kept = new Set(mostUsed(all, KEPT_OPERATIONS));
  await operations.remove(all.flatMap((one) => (kept.has(one) ? [] : one.id)));
}
