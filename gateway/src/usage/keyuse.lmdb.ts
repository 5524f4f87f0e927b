// The use of keys in the embedded store of usage counts.
import type { RootDatabase } from 'lmdb';
import {
  activityOf,
  firstKeptHour,
  type HourCounts,
  hourId,
  lastHours,
  newestHour,
} from './records.ts';
import type { UsageStore } from './usagestore.ts';

/** The use of keys in a day, by IDs that begin with the hour; and the last use, in milliseconds. */
export function openKeyUseTables(root: RootDatabase) {
  return {
    keyHours: root.openDB<HourCounts, string>({ name: 'keyHours', encoding: 'json' }),
    keyLastUses: root.openDB<number, string>({ name: 'keyLastUses', encoding: 'json' }),
  };
}

export function lmdbKeyUses(
  root: RootDatabase,
  { keyHours, keyLastUses }: ReturnType<typeof openKeyUseTables>,
) {
  return {
    async addKeyUses(uses) {
      await root.transaction(() => {
        for (const { keyId, hour, requests, refusals, lastUsedAt } of uses) {
          const id = hourId(hour, keyId);
          const before = keyHours.get(id) ?? { requests: 0, refusals: 0 };
          keyHours.put(id, {
            requests: before.requests + requests,
            refusals: before.refusals + refusals,
          });
          const last = keyLastUses.get(keyId) ?? 0;
          if (lastUsedAt.getTime() > last) keyLastUses.put(keyId, lastUsedAt.getTime());
        }
        const newest = newestHour(uses);
        if (newest === undefined) return;
        for (const id of [...keyHours.getKeys({ end: firstKeptHour(newest) })]) keyHours.remove(id);
      });
    },
    async keyActivities(keyIds, now) {
      const hours = lastHours(now);
      return keyIds.flatMap((keyId) => {
        const last = keyLastUses.get(keyId);
        if (last === undefined) return [];
        const counts = hours.flatMap((hour) => keyHours.get(hourId(hour, keyId)) ?? []);
        return activityOf(keyId, new Date(last), counts);
      });
    },
  } satisfies Partial<UsageStore>;
}
