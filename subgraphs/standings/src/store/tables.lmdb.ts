// The databases of the standings store in LMDB, and the index of each member's activities.
import {
  type LmdbMarks,
  type LmdbMigration,
  openLmdbMarks,
  type StoreRoot,
} from '@partner-loyalty/runtime';
import type { Database } from 'lmdb';
import type { Program } from '../rules/program.ts';
import {
  type MemberActivityKey,
  memberActivityKey,
  NO_VALUE,
  type StandingKey,
  type StoredActivity,
  type StoredStanding,
} from './format.lmdb.ts';

export type Tables = {
  root: StoreRoot;
  programs: Database<Program, string>;
  standings: Database<StoredStanding, StandingKey>;
  /** By activity ID. */
  activities: Database<StoredActivity, string>;
  /** The activities of each member, by partner and in the order of time. The key says it all. */
  memberActivities: Database<Buffer, MemberActivityKey>;
  marks: LmdbMarks;
};

const BATCH_SIZE = 5_000;

/**
 * Opens the databases. In one transaction: otherwise each one begins its own, which blocks this
 * whole process while another process writes.
 */
export function openTables(root: StoreRoot): Promise<Tables> {
  return root.openTables(() => ({
    root,
    programs: root.openDB<Program, string>({ name: 'programs', encoding: 'json' }),
    standings: root.openDB<StoredStanding, StandingKey>({ name: 'standings' }),
    activities: root.openDB<StoredActivity, string>({ name: 'activities' }),
    memberActivities: root.openDB<Buffer, MemberActivityKey>({
      name: 'memberActivities',
      encoding: 'binary',
    }),
    marks: openLmdbMarks(root),
  }));
}

/**
 * Adds what is missing in the index: everything in a store of format 1, and what a process of that
 * format records while this one runs. Several processes may do this at once, and be killed.
 */
export async function completeIndex({ root, activities, memberActivities }: Tables): Promise<void> {
  if (countOf(activities) === countOf(memberActivities)) return;
  const addSome = (after: string): string | undefined => {
    let last: string | undefined;
    const batch = activities.getRange({ start: after, exclusiveStart: true, limit: BATCH_SIZE });
    for (const { key, value } of batch) {
      const entry = memberActivityKey(key, value);
      if (!memberActivities.doesExist(entry)) memberActivities.put(entry, NO_VALUE);
      last = key;
    }
    return last;
  };
  let last: string | undefined = ''; // No ID is empty.
  while (last !== undefined) {
    const after: string = last;
    last = await root.transaction(() => addSome(after));
  }
  await root.flushed;
}

/** Format 2 has the index. */
export const migrateLmdb: LmdbMigration = async (root) => completeIndex(await openTables(root));

/** The number of entries, which LMDB knows without counting. */
function countOf(table: Pick<Database, 'getStats'>): number {
  // Cast: lmdb does not declare the properties.
  return (table.getStats() as { entryCount: number }).entryCount;
}
