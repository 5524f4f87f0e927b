// What LMDB has of one member: found by the index, and deleted in transactions of bounded size.
import type { Activity } from '../rules/activity.ts';
import type { MemberStanding } from '../rules/standing.ts';
import type { Before } from './store.ts';
import {
  activityKeyOf,
  decodeActivity,
  decodeStanding,
  type MemberActivityKey,
  type StandingKey,
  type Tables,
} from './tables.lmdb.ts';

const BATCH_SIZE = 1_000;

/** The member's activities, by partner and in the order of time. */
export async function* activitiesOf(tables: Tables, memberId: string): AsyncGenerator<Activity> {
  let last: MemberActivityKey | undefined;
  do {
    const keys = nextKeys(tables, memberId, last);
    for (const key of keys) {
      const activityKey = activityKeyOf(key);
      const stored = tables.activities.get(activityKey);
      if (stored !== undefined) yield decodeActivity(activityKey, stored);
    }
    last = keys.at(-1);
  } while (last !== undefined);
}

/** The member's newest activities with a partner, newest first, from below `before`. */
export function latestActivitiesOf(
  { memberActivities, activities }: Tables,
  partnerId: string,
  memberId: string,
  limit: number,
  before?: Before,
): Activity[] {
  // A key sorts before the longer ones that begin with it, and a string after every number.
  const end = [memberId, partnerId];
  const start =
    before === undefined
      ? [...end, '']
      : [
          ...end,
          before.occurredAtMs,
          ...(before.activityId === undefined ? [] : [before.activityId]),
        ];
  const found: Activity[] = [];
  // Casts: the beginnings of keys.
  const range = {
    start: start as unknown as MemberActivityKey,
    end: end as unknown as MemberActivityKey,
  };
  for (const key of memberActivities.getKeys({ ...range, reverse: true, exclusiveStart: true })) {
    if (found.length === limit || key[0] !== memberId || key[1] !== partnerId) break;
    const activityKey = activityKeyOf(key);
    const [, activityId] = activityKey;
    if (before !== undefined && key[2] === before.occurredAtMs && activityId === before.activityId)
      continue;
    const stored = activities.get(activityKey);
    if (stored !== undefined) found.push(decodeActivity(activityKey, stored));
  }
  return found;
}

/** Every standing has an activity, so the index leads to all partners. */
export function standingsOf(tables: Tables, memberId: string): MemberStanding[] {
  return partnersOf(tables, memberId).flatMap((partnerId) =>
    standingKeys(tables, partnerId, memberId).flatMap((key) => {
      const stored = tables.standings.get(key);
      return stored === undefined ? [] : { partnerId, year: key[2], ...decodeStanding(stored) };
    }),
  );
}

/**
 * Deletes some activities of the member and the standings they count towards. Those that count for
 * another member by now only leave the index. Returns how many there were.
 */
export async function deleteSome(tables: Tables, memberId: string): Promise<number> {
  return tables.root.transaction(() => {
    const keys = nextKeys(tables, memberId);
    for (const partnerId of new Set(keys.map(([, partnerId]) => partnerId)))
      for (const key of standingKeys(tables, partnerId, memberId)) tables.standings.remove(key);
    for (const key of keys) {
      const activityKey = activityKeyOf(key);
      if (tables.activities.get(activityKey)?.[0] === memberId)
        tables.activities.remove(activityKey);
      tables.memberActivities.remove(key);
    }
    return keys.length;
  });
}

/** The next entries of the index, at most `limit`. */
export function nextKeys(
  { memberActivities }: Tables,
  memberId: string,
  after?: MemberActivityKey,
  limit = BATCH_SIZE,
): MemberActivityKey[] {
  const keys: MemberActivityKey[] = [];
  const range = memberActivities.getKeys({
    // Cast: the beginning of a key, which sorts before all that begin with it.
    start: after ?? ([memberId] as unknown as MemberActivityKey),
    exclusiveStart: after !== undefined,
    limit,
  });
  for (const key of range) {
    if (key[0] !== memberId) break;
    keys.push(key);
  }
  return keys;
}

/** One look-up for each partner, however many activities there are. */
function partnersOf({ memberActivities }: Tables, memberId: string): string[] {
  const partners: string[] = [];
  let start: unknown[] = [memberId];
  for (;;) {
    // Cast: the beginning of a key. A string sorts after every number, so after every time.
    const range = { start: start as unknown as MemberActivityKey, limit: 1 };
    const [key] = memberActivities.getKeys(range);
    if (key?.[0] !== memberId) return partners;
    partners.push(key[1]);
    start = [memberId, key[1], ''];
  }
}

/** The standings of all years. */
function standingKeys({ standings }: Tables, partnerId: string, memberId: string): StandingKey[] {
  const keys: StandingKey[] = [];
  const start = [partnerId, memberId] as unknown as StandingKey; // Cast: the beginning of a key.
  for (const key of standings.getKeys({ start })) {
    if (key[0] !== partnerId || key[1] !== memberId) break;
    keys.push(key);
  }
  return keys;
}
