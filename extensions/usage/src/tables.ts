// The store of usage counts, in tables of either engine, and its verification.
import { SURFACE_NAMES, type SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { hourOf, keptHours } from '@partner-loyalty/gateway/usage/requests.ts';
import type { FieldUsage, UsageCaller } from '@partner-loyalty/gateway/usage/usage.ts';
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import { removeRange, removeRows } from '@partner-loyalty/runtime/store/engine/remove.ts';
import {
  type Entry,
  type Store,
  type Table,
  table,
} from '@partner-loyalty/runtime/store/engine/store.ts';
import { verifyTable } from '@partner-loyalty/runtime/store/engine/verify.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import {
  type Counts,
  callerKey,
  coordinateOf,
  daysOf,
  fieldCounts,
  firstDay,
  firstKeptHour,
  KEPT_DAYS,
  KEPT_OPERATIONS,
  keptOperations,
  MAX_OPERATIONS,
  mostUsed,
  operationCounts,
  type UsageStore,
  withinRoom,
} from './records.ts';
import { CHUNKS, createRequestTables, HOURS } from './requesttables.ts';

/** By day, surface and partner: the counts by coordinate. */
const FIELDS = table<Counts>('fields');
/** By day, surface, partner and hash. */
const OPERATIONS = table<{ operation: string; count: number }>('operations');
/** By hour and key. */
const KEY_HOURS = table<{ requests: number; refusals: number; errors: number }>('keyhours');
/** By key. Times are in milliseconds since 1970. */
const LAST_USES = table<{ usedAt: number }>('lastuses');

/** The last day, as `loyalty keys list` shows it. */
const SHOWN_HOURS = 24;

const TABLES: readonly Table[] = [FIELDS, OPERATIONS, KEY_HOURS, LAST_USES, HOURS, CHUNKS];

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openUsageStore(settings: StoreSettings): Promise<UsageStore> {
  return createUsageStore(await openStore(settings, 'usage', TABLES));
}

/** Reports which records cannot be read, and resolves with the number of the others. */
export async function verifyUsage(settings: StoreSettings, { report }: Inspection) {
  const store = await openStore(settings, 'usage', TABLES);
  try {
    let count = 0;
    // Keys begin with a day, an hour, a key or a partner.
    for (const each of TABLES)
      count += await verifyTable(store, each, ([what], problem) =>
        report(`usage of ${what}`, problem),
      );
    return count;
  } finally {
    await store.close();
  }
}

function createUsageStore(store: Store): UsageStore {
  let lastDay = '';
  let lastHour = '';
  return {
    async add(usage) {
      const counts = fieldCounts(usage.fields);
      const stored = await store.getAll(
        FIELDS,
        counts.map(({ key }) => key),
      );
      await store.add(
        FIELDS,
        counts.map((each, place) => withinRoom(each, stored[place])),
      );
      await store.add(OPERATIONS, operationCounts(usage.operations));
      const days = daysOf(usage);
      for (const day of days) await removeRare(store, day);
      const newest = days.findLast((day) => day > lastDay);
      if (newest === undefined) return;
      for (const each of [FIELDS, OPERATIONS])
        await removeRange(store, each, { prefix: [], until: [firstDay(newest, KEPT_DAYS)] });
      lastDay = newest;
    },
    async fields(since) {
      const found: FieldUsage[] = [];
      for await (const page of pagesOf(store, FIELDS, { prefix: [], from: [since] }))
        for (const { key, row } of page)
          for (const field of fieldsIn(callerIn(key), row)) found.push(field);
      return found;
    },
    async fieldsOf(partnerId, days) {
      const callers = days.flatMap((day) =>
        SURFACE_NAMES.map((surface) => ({ day, surface, partnerId })),
      );
      const rows = await store.getAll(FIELDS, callers.map(callerKey));
      return callers.flatMap((caller, place) => fieldsIn(caller, rows[place] ?? {}));
    },
    async operations(since) {
      const found = [];
      for await (const page of pagesOf(store, OPERATIONS, { prefix: [], from: [since] }))
        for (const { key, row } of page) found.push({ ...callerIn(key), ...row });
      return keptOperations(found);
    },
    async addKeyUses(uses) {
      await store.add(
        KEY_HOURS,
        uses.map(({ keyId, hour, lastUsedAt, ...amounts }) => ({ key: [hour, keyId], amounts })),
      );
      await store.add(
        LAST_USES,
        uses.map(({ keyId, lastUsedAt }) => ({
          key: [keyId],
          amounts: {},
          highest: { usedAt: lastUsedAt.getTime() },
        })),
      );
      let newest = lastHour;
      for (const { hour } of uses) if (hour > newest) newest = hour;
      if (newest === lastHour) return;
      await removeRange(store, KEY_HOURS, { prefix: [], until: [firstKeptHour(newest)] });
      lastHour = newest;
    },
    async keyActivities(keyIds, now) {
      const lastUses = await store.getAll(
        LAST_USES,
        keyIds.map((keyId) => [keyId]),
      );
      const used = keyIds.flatMap((keyId, place) => {
        const usedAt = lastUses[place]?.usedAt;
        return usedAt === undefined ? [] : [{ keyId, lastUsedAt: new Date(usedAt) }];
      });
      const hours = keptHours(now).slice(-SHOWN_HOURS);
      const rows = await store.getAll(
        KEY_HOURS,
        used.flatMap(({ keyId }) => hours.map((hour) => [hour, keyId])),
      );
      return used.map((use, place) => {
        const sum = { requests: 0, refusals: 0 };
        for (const row of rows.slice(place * hours.length, (place + 1) * hours.length)) {
          sum.requests += row?.requests ?? 0;
          sum.refusals += row?.refusals ?? 0;
        }
        return { ...use, ...sum };
      });
    },
    async keyUsesSince(instant) {
      const found = new Map<string, { requests: number; refusals: number; errors: number }>();
      const since = { prefix: [], from: [hourOf(instant)] };
      for await (const page of pagesOf(store, KEY_HOURS, since))
        for (const { key, row } of page) {
          const keyId = String(key[1]);
          const sum = found.get(keyId) ?? { requests: 0, refusals: 0, errors: 0 };
          found.set(keyId, sum);
          sum.requests += row.requests;
          sum.refusals += row.refusals;
          sum.errors += row.errors;
        }
      return Array.from(found, ([keyId, sum]) => ({ keyId, ...sum }));
    },
    ...createRequestTables(store),
    close: store.close,
  };
}

function callerIn([day, surface, partnerId]: Key): UsageCaller {
  // Cast: only keys of callerKey are stored.
  const caller = { day: String(day), surface: surface as SurfaceName };
  return partnerId === '' ? caller : { ...caller, partnerId: String(partnerId) };
}

function fieldsIn(caller: UsageCaller, counts: Counts): FieldUsage[] {
  return Object.entries(counts).map(([name, count]) => ({
    ...caller,
    coordinate: coordinateOf(name),
    count,
  }));
}

/** Removes all operations of a day but the most used, if it has too many. */
async function removeRare(store: Store, day: string): Promise<void> {
  if ((await store.count(OPERATIONS, { prefix: [day] })) <= MAX_OPERATIONS) return;
  const all: { key: Key; count: number }[] = [];
  const collect = ({ key, row }: Entry<{ count: number }>) => all.push({ key, count: row.count });
  for await (const page of pagesOf(store, OPERATIONS, { prefix: [day] })) page.forEach(collect);
  const rare = mostUsed(all, all.length).slice(KEPT_OPERATIONS);
  await removeRows(
    store,
    OPERATIONS,
    rare.map(({ key }) => key),
  );
}
