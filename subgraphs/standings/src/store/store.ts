// What the standings subgraph asks of its store, in domain words; store.lmdb.ts and store.mongo.ts answer it.
import type { MaybePromise } from '@partner-loyalty/runtime';

/** A partner's program (contract, section 4, Standing). */
export type Program = {
  membershipYear: {
    /** First day, "MM-DD". */
    start: string;
    /** IANA time zone. */
    timeZone: string;
  };
  /** Ascending by the points they take. */
  tiers: { name: string; points: number }[];
};

/** Points and stays of one member with one partner in one membership year. */
export type Standing = { points: number; stays: number };

export type Activity = {
  activityId: string;
  partnerId: string;
  memberId: string;
  /** Negative for a reversal. */
  points: number;
  stays: number;
  occurredAt: Date;
};

/** An activity and the membership year it falls into, as year.ts tells it. */
export type DatedActivity = Activity & { year: string };

/** What became of an activity: counted now, counted before, or refused: the id has other content, or the sum would leave Int. */
export type Recorded = 'counted' | 'known' | 'other-content' | 'out-of-range';

export type StandingsStore = {
  /** The partner's program; undefined where it has none. May be a few seconds old. */
  program(partnerId: string): MaybePromise<Program | undefined>;
  putProgram(partnerId: string, program: Program): Promise<void>;
  /** The standing of one partner-year; undefined without activity. One indexed read. */
  standing(partnerId: string, memberId: string, year: string): MaybePromise<Standing | undefined>;
  /** Records activities, each exactly once, whatever runs at the same time or crashed before; the answers are in the order of the activities. */
  record(activities: readonly DatedActivity[]): Promise<Recorded[]>;
  isEmpty(): Promise<boolean>;
  /** Resolves when the engine answers; rejects otherwise. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
