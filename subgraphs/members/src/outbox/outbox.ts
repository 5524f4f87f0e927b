// The queue of mail that has been promised, and the counts that limit it, in domain words; outbox.lmdb.ts and outbox.mongo.ts keep them.
import type { MaybePromise } from '@partner-loyalty/runtime';
import type { Address } from '../store/store.ts';

/** What is to be mailed. Addresses in it are only looked up, or those a member asked to change to. */
export type MailTask =
  | { kind: 'magic-link'; partnerId: string; address: string }
  | { kind: 'change'; memberId: string; address: Address }
  /** The notice about a change of address; nothing is mailed where the change did not come about. */
  | { kind: 'changed'; memberId: string; changeId: string };

/** Times count milliseconds since 1970. */
export type NewJob = { jobId: string; errand: MailTask; requestedAt: number };

/** A job as one worker has claimed it. `dueAt` is when the claim ends, and tells it from any other claim. */
export type Job = NewJob & {
  dueAt: number;
  /** Claims so far, this one included. */
  attempts: number;
  /** Whether the limits have let it pass, so that a retry is not counted again. */
  admitted: boolean;
};

/** At most `count` admissions of the key in any `windowMs`. */
export type Limit = { key: string; count: number; windowMs: number };

export type Outbox = {
  /** Resolves once the job is on disk. One insertion, whatever the job. */
  add(job: NewJob): Promise<void>;
  /** The job that has been due for longest, now this caller's until the lease ends; undefined where none is due. No job is claimed twice at once. */
  claim(now: number, leaseMs: number): MaybePromise<Job | undefined>;
  /** Counts an admission, unless that would be one too many. Exact over all processes. */
  admit(limit: Limit, now: number): Promise<boolean>;
  /** The next four change nothing where the claim has ended and another holds the job. */
  noteAdmitted(job: Job): Promise<void>;
  /** Removes the job: it has been dealt with. */
  finish(job: Job): Promise<void>;
  /** Lets the job be claimed again from `dueAt` on. */
  postpone(job: Job, dueAt: number): Promise<void>;
  /** Keeps the job apart as failed, for an operator to see. */
  giveUp(job: Job, now: number): Promise<void>;
  /** How many failed jobs are kept. */
  failed(): MaybePromise<number>;
  /** Removes what failed over 7 days ago, and counts that no longer matter. */
  clean(now: number): Promise<void>;
};

/** How long failed jobs are kept. */
export const FAILED_KEPT_MS = 7 * 24 * 3_600_000;
