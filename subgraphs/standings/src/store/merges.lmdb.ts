// The merging of members in LMDB: one transaction counts everything for the one who stays.
import { joinStandings } from '../rules/standing.ts';
import { deleteSome, nextKeys, standingsOf } from './member.lmdb.ts';
import type { MergeRefusal, Merges } from './store.ts';
import {
  activityKeyOf,
  decodeActivity,
  encodeActivity,
  encodeStanding,
  memberActivityKey,
  NO_VALUE,
  type Tables,
} from './tables.lmdb.ts';

export function createLmdbMerges(tables: Tables): Merges {
  const { root, merged } = tables;
  const write = async <T>(work: () => T): Promise<T> => {
    const result = await root.transaction(work);
    await root.flushed;
    return result;
  };
  return {
    begin: (from, into) => write(() => begin(tables, from, into)),
    async finish(from) {
      while ((await deleteSome(tables, from)) > 0);
      await root.flushed;
    },
    currentIds: (memberIds) =>
      new Map(
        memberIds.flatMap((id) => (merged.doesExist(id) ? [[id, merged.get(id) ?? id]] : [])),
      ),
    async idsOf(memberId) {
      const current = merged.get(memberId) ?? memberId;
      return [current, ...mergedInto(tables, current)];
    },
    forget: (memberIds) => write(() => memberIds.forEach((id) => void merged.remove(id))),
  };
}

/** Call it in a transaction. The writes come last. */
function begin(tables: Tables, from: string, into: string): MergeRefusal | undefined {
  const { merged, marks, standings, activities, memberActivities } = tables;
  if (marks.has(from) || marks.has(into)) return 'erased';
  const current = merged.get(from);
  if (current === into) return undefined;
  const isShared = current !== undefined || merged.doesExist(into) || mergedInto(tables, from)[0];
  if (isShared) return 'shared';
  const sums = joinStandings([into, from].flatMap((id) => standingsOf(tables, id)));
  if (sums === undefined) return 'out-of-range';
  const keys = nextKeys(tables, from, undefined, Number.MAX_SAFE_INTEGER);
  for (const { partnerId, year, ...sum } of sums)
    standings.put([partnerId, into, year], encodeStanding(sum));
  for (const key of keys) {
    const activityKey = activityKeyOf(key);
    const stored = activities.get(activityKey);
    if (stored === undefined) continue;
    const moved = encodeActivity({ ...decodeActivity(activityKey, stored), memberId: into });
    activities.put(activityKey, moved);
    memberActivities.put(memberActivityKey(activityKey, moved), NO_VALUE);
  }
  merged.put(from, into);
  return undefined;
}

function mergedInto({ merged }: Tables, memberId: string): string[] {
  return [...merged.getRange()].flatMap(({ key, value }) => (value === memberId ? key : []));
}
