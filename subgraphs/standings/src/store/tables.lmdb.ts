// The databases of the standings store in LMDB.
import type { StoreRoot } from '@partner-loyalty/runtime/store/generations/follow.lmdb.ts';
import { type LmdbMarks, openLmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import type { Database } from 'lmdb';
import type { Program } from '../rules/program.ts';
import type {
  ActivityKey,
  MemberActivityKey,
  StandingKey,
  StoredActivity,
  StoredStanding,
} from './format.lmdb.ts';
import type { FormerActivity } from './formats/former.lmdb.ts';

export type Tables = {
  root: StoreRoot;
  programs: Database<Program, string>;
  standings: Database<StoredStanding, StandingKey>;
  /** By partner and the partner's own ID. */
  activities: Database<StoredActivity, ActivityKey>;
  /** Those of formats 1 and 2, by their ID alone; empty in format 3. */
  former: Database<FormerActivity, string>;
  /** The activities of each member, by partner and in the order of time. The key says it all. */
  memberActivities: Database<Buffer, MemberActivityKey>;
  marks: LmdbMarks;
};

/**
 * Opens the databases. In one transaction: otherwise each one begins its own, which blocks this
 * whole process while another process writes.
 */
export function openTables(root: StoreRoot): Promise<Tables> {
  return root.openTables(() => ({
    root,
    programs: root.openDB<Program, string>({ name: 'programs', encoding: 'json' }),
    standings: root.openDB<StoredStanding, StandingKey>({ name: 'standings' }),
    activities: root.openDB<StoredActivity, ActivityKey>({ name: 'partnerActivities' }),
    former: root.openDB<FormerActivity, string>({ name: 'activities' }),
    memberActivities: root.openDB<Buffer, MemberActivityKey>({
      name: 'memberActivities',
      encoding: 'binary',
    }),
    marks: openLmdbMarks(root),
  }));
}

/** The number of entries, which LMDB knows without counting. */
export function countOf(table: Pick<Database, 'getStats'>): number {
  // Cast: lmdb does not declare the properties.
  return (table.getStats() as { entryCount: number }).entryCount;
}
