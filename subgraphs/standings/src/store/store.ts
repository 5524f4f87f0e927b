// The store of the standings subgraph in domain terms, which LMDB and MongoDB implement.
import type { MaybePromise } from '@partner-loyalty/runtime';
import type { DatedActivity } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import type { Standing } from '../rules/standing.ts';

/**
 * What became of an activity: recorded now, recorded before, or refused, either because its ID is
 * recorded with other content or because a sum would leave the range of Int.
 */
export type RecordOutcome = 'recorded' | 'already-recorded' | 'conflict' | 'out-of-range';

export type StandingsStore = {
  /** The partner's program, at most a few seconds old; undefined if it has none. */
  program(partnerId: string): MaybePromise<Program | undefined>;
  putProgram(partnerId: string, program: Program): Promise<void>;
  /** The standing of one membership year, by one indexed read; undefined without activity. */
  standing(partnerId: string, memberId: string, year: string): MaybePromise<Standing | undefined>;
  /**
   * Records each activity exactly once, whatever else runs at the same time and wherever an earlier
   * run crashed. The outcomes are in the order of the activities.
   */
  record(activities: readonly DatedActivity[]): Promise<RecordOutcome[]>;
  /** Whether there is neither a program nor an activity. */
  isEmpty(): Promise<boolean>;
  /** Resolves if the engine responds; rejects otherwise. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
