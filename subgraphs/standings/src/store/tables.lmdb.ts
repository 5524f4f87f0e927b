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

export type Tables = {
  root: StoreRoot;
  programs: Database<Program, string>;
  standings: Database<StoredStanding, StandingKey>;
  /** By partner and the partner's own ID. */
  activities: Database<StoredActivity, ActivityKey>;
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
    activities: root.openDB<StoredActivity, ActivityKey>({ name: 'activities' }),
    memberActivities: root.openDB<Buffer, MemberActivityKey>({
      name: 'memberActivities',
      encoding: 'binary',
    }),
    marks: openLmdbMarks(root),
  }));
}
