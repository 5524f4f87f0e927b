// The store of the standings subgraph in domain terms.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { StoreState } from '@partner-loyalty/runtime/store/outage.ts';
import type { Activity, DatedActivity } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import type { MemberStanding, Standing } from '../rules/standing.ts';
import type { Feed } from './feed.ts';
import type { WebhookTables } from './webhooks.ts';

/**
 * What became of an activity: recorded now, recorded before, or refused, because its ID is recorded
 * with other content, because a sum would leave the range of Int, or because its member was erased.
 */
export type RecordOutcome =
  | 'recorded'
  | 'already-recorded'
  | 'conflict'
  | 'out-of-range'
  | 'erased';

/** A place in the activities of one partner; without an ID, before all of its instant. */
export type Before = { occurredAtMs: number; activityId?: string | undefined };

export type StandingsStore = {
  /** The partner's program, at most a few seconds old; undefined if it has none. */
  program(partnerId: string): MaybePromise<Program | undefined>;
  /** Sets the program of a new partner. */
  putProgram(partnerId: string, program: Program): Promise<void>;
  /** Replaces the program that applies to a partner, of which its feed has an event. */
  changeProgram(partnerId: string, program: Program): Promise<void>;
  /** The standing of one membership year, by one read; undefined without activity. */
  standing(partnerId: string, memberId: string, year: string): MaybePromise<Standing | undefined>;
  /**
   * Records each activity exactly once, whatever else runs at the same time and wherever an earlier
   * run crashed. The outcomes are in the order of the activities.
   */
  record(activities: readonly DatedActivity[]): Promise<RecordOutcome[]>;
  /**
   * The member's newest activities with a partner, newest first, at most `limit`. With `before`,
   * only what comes after this place in that order. Reads only what it returns.
   */
  latestActivities(
    partnerId: string,
    memberId: string,
    limit: number,
    before?: Before,
  ): MaybePromise<Activity[]>;
  /** The member's activities, by partner and in the order of time, within bounded memory. */
  activitiesOf(memberId: string): AsyncIterable<Activity>;
  /** The member's standings with all partners, in all years. */
  standingsOf(memberId: string): Promise<MemberStanding[]>;
  /**
   * Deletes the member's activities and standings, and leaves a mark by which activities of this
   * member are refused from now on. The member's events keep no ID but his. It can be killed and
   * repeated. Resolves with the number of activities deleted.
   */
  eraseMember(memberId: string): Promise<number>;
  /** Takes away the mark that `eraseMember` left. Whether there was one. */
  liftMark(memberId: string): Promise<boolean>;
  /** Whether there is an activity with the partner. */
  hasStandings(partnerId: string): Promise<boolean>;
  /** Whether there is neither a program nor an activity. */
  isEmpty(): Promise<boolean>;
  merges: Merges;
  feed: Feed;
  webhooks: WebhookTables;
  /** Resolves if the engine responds; rejects otherwise. */
  ready(): Promise<StoreState>;
  close(): Promise<void>;
};

/**
 * Why a merge does not begin: another one with one of the two has, a sum would leave Int, or one of
 * the two was erased.
 */
export type MergeRefusal = 'shared' | 'out-of-range' | 'erased';

export type Merges = {
  /**
   * Adds to each of the sums of `into` what `from` has with the same partner in the same year, and
   * shows the activities of both for `into`. What is recorded for `from` from now on counts for
   * `into`. For `from`, standings stay as they are until `finish`, and activities for ever. It can
   * be killed and repeated. Of merges that would make a chain, at most one begins. Beside an
   * erasure of one of the two, it is refused, or `idsOf` has both once `eraseMember` resolves.
   */
  begin(from: string, into: string): Promise<MergeRefusal | undefined>;
  /** Removes the standings of `from`, which nobody reads any more. It can be repeated. */
  finish(from: string): Promise<void>;
  /** By the ID of each of the members that was merged, the ID of the one that it is part of now. */
  currentIds(memberIds: readonly string[]): MaybePromise<ReadonlyMap<string, string>>;
  /** All IDs of the member with this one: first the current one, then those of merged members. */
  idsOf(memberId: string): Promise<string[]>;
  /** Forgets that members were merged. Only for erased ones. */
  forget(memberIds: readonly string[]): Promise<void>;
};
