// The queues of mail to be sent and the counts that limit it, in domain words.
import { createHash, randomBytes } from 'node:crypto';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { StaffNotice, StaffRecipient } from '@partner-loyalty/runtime/signin/staff.ts';
import type { Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { OpenTable, Table, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { Address, EnrollInput } from '../rules/member.ts';

/**
 * What to mail. The addresses are only looked up, except the one that a member wants to change to
 * and that of a person who is invited. `language` is that of the page that caused the mail, if a
 * page did. The field names are the stored format.
 */
export type MailTask = { language?: string | null | undefined } & TaskOfKind;

type TaskOfKind =
  | { kind: 'magic-link'; partnerId: string; address: string }
  /**
   * The link and the code of a sign-in that was begun here; for an app of the partner if any;
   * `staff` if it was at the console.
   */
  | {
      kind: 'code';
      signInId: string;
      address: Address;
      partnerId?: string | undefined;
      staff?: { isStaff: boolean; email?: string | undefined; language: string };
    }
  | { kind: 'change'; memberId: string; address: Address }
  /** The notice of a change of address; dropped if the change was never made. */
  | { kind: 'changed'; memberId: string; changeId: string }
  /** The notice that undoing took this address away; dropped if nothing was undone. */
  | { kind: 'undone'; memberId: string; undoId: string; address: string }
  | ({ kind: 'invitation' } & EnrollInput)
  /** A notice to one of a partner's staff. */
  | ({ kind: 'notice' } & Omit<StaffNotice, 'noticeId' | 'recipients'> &
      Omit<StaffRecipient, 'staffId'>);

type Requested = { jobId: string; task: MailTask; requestedAt: number };

/**
 * Times are in milliseconds since 1970. `owner` is who asked for a code, or the partner of the
 * member that a change is about; it is not stored.
 */
type NewJob = Requested & { owner?: string | undefined };

/**
 * A job as one worker has claimed it. `dueAt` is when the claim expires, and distinguishes it from
 * other claims.
 */
export type Job = Requested & {
  queue: number;
  dueAt: number;
  /** The number of claims so far, including this one. */
  attempts: number;
  /** Whether the limits have admitted it, so that a retry is not counted again. */
  admitted: boolean;
};

/** At most `count` admissions of the key in any `windowMs`. */
export type Limit = { key: string; count: number; windowMs: number };

/** The queues of a kind of mail, from `first` to before `end`. */
export type Queues = { first: number; end: number };

/**
 * Each owner's mail has one queue of its kind, and few owners share it, so that nobody's mail waits
 * for all of another's. The first one also has what was stored before there were queues.
 */
export const QUEUES = {
  partners: { first: 0, end: 400 },
  codes: { first: 400, end: 800 },
  changes: { first: 800, end: 899 },
} as const;
const ALL: Queues = { first: 0, end: 899 };
/** Stored, `dueAt` is this times the queue, and the time. It stays a safe integer. */
const SPAN = 1e13;
/** Of this process, so that nobody can choose whose queue to share. */
const SALT = randomBytes(16);
/** How many queues a claim looks at. */
const MAX_VISITS = 100;
/** How many jobs of a kind are read to find the oldest. */
const LOOKED_AT = 500;
/** How long failed jobs are kept. */
const FAILED_KEPT_MS = 7 * 24 * 3_600_000;

/** A job that is due or has failed. A claim changes `dueAt`, so its former holder finds no job. */
type StoredJob = Omit<Job, 'queue' | 'dueAt'> & { dueAt?: number; failedAt?: number };
/** When a limit admitted mail. `until` is when the last admission no longer counts. */
type StoredCount = { key: string; admittedAt: number[]; until: number };

export const OUTBOX: TableDefinition<StoredJob> = {
  name: 'outbox',
  id: 'jobId',
  orders: ['dueAt', 'failedAt'],
};
export const MAIL_COUNTS: TableDefinition<StoredCount> = {
  name: 'mailcounts',
  id: 'key',
  orders: ['until'],
};

export type Outbox = Awaited<ReturnType<typeof openOutbox>>;

export async function openOutbox(open: OpenTable) {
  const jobs = await open(OUTBOX);
  const counts = await open(MAIL_COUNTS);
  /** The queue that is looked at next. */
  const turns = new Map<Queues, number>();

  /** Changes the job as it is stored, which may be newer than the claim, if the claim holds. */
  const ifHeld = async (
    job: Job,
    change: (stored: StoredJob) => StoredJob | undefined,
  ): Promise<void> => {
    await jobs.update(job.jobId, (stored) => (isHeld(stored, job) ? change(stored) : stored));
  };

  return {
    /** Resolves when the job is on disk; nothing changes if one with the ID waits or has failed. */
    async add(job: NewJob): Promise<void> {
      await jobs.update(job.jobId, (before) => before ?? newJob(job));
    },
    /**
     * Counts a job by each limit until one is reached; if none is, adds it with what `write`
     * writes. One transaction; resolves with whether it was added.
     */
    addWithin: (limits: readonly Limit[], job: NewJob, write: (tx: Transaction) => void) =>
      open.transact((tx) => {
        const isAdmitted = (limit: Limit) => {
          let admitted = 0;
          counts.change(tx, limit.key, (before) => {
            const after = counted(before, limit, 1, job.requestedAt);
            admitted = after.admitted;
            return after.row;
          });
          return admitted === 1;
        };
        if (!limits.every(isAdmitted)) return false;
        write(tx);
        jobs.change(tx, job.jobId, (before) => before ?? newJob(job));
        return true;
      }),
    /**
     * Claims the job that has been due the longest of the next queue that is accepted and has one,
     * until the lease ends; undefined if none is found in 100 queues: the next call goes on from
     * there. No two callers hold the same job at the same time.
     */
    async claim(
      now: number,
      leaseMs: number,
      queues = ALL,
      accepts: (queue: number) => boolean = () => true,
    ): Promise<Job | undefined> {
      let queue = turns.get(queues) ?? queues.first;
      let isLastRound = queue === queues.first;
      for (let visits = 0; visits < MAX_VISITS; visits += 1) {
        const [job] = await jobs.range('dueAt', queue * SPAN, 1);
        const storedAt = job?.dueAt ?? Number.POSITIVE_INFINITY;
        queue = Math.floor(storedAt / SPAN);
        if (job === undefined || queue >= queues.end) {
          queue = queues.first;
          if (isLastRound) break;
          isLastRound = true;
        } else if (storedAt > placeOf(queue, now) || !accepts(queue)) queue += 1;
        else {
          const dueAt = now + leaseMs;
          const claimed = await jobs.update(job.jobId, (stored) =>
            stored?.dueAt === storedAt
              ? { ...stored, dueAt: placeOf(queue, dueAt), attempts: stored.attempts + 1 }
              : stored,
          );
          if (claimed === undefined) continue; // Another caller was faster.
          turns.set(queues, queue + 1);
          return { ...claimed, queue, dueAt };
        }
      }
      turns.set(queues, queue);
      return undefined;
    },
    /**
     * Counts an admission unless the limit is reached. Exact across processes. What was counted
     * before the clock was put back counts as counted now.
     */
    admit: createAdmit(counts),
    /**
     * This and the next four methods do nothing if the claim has expired and another worker holds
     * the job.
     */
    markAdmitted: (job: Job) => ifHeld(job, (stored) => ({ ...stored, admitted: true })),
    /** Removes a job that is done. */
    finish: (job: Job) => ifHeld(job, () => undefined),
    /** Makes the job claimable again from `dueAt` on. */
    postpone: (job: Job, dueAt: number) =>
      ifHeld(job, (stored) => ({ ...stored, dueAt: placeOf(job.queue, dueAt) })),
    /** The same, as if it had not been claimed. */
    putBack: (job: Job, dueAt: number) =>
      ifHeld(job, (stored) => ({
        ...stored,
        dueAt: placeOf(job.queue, dueAt),
        attempts: stored.attempts - 1,
      })),
    /** Sets the job aside as failed, for an operator to see. */
    giveUp: (job: Job, now: number) =>
      ifHeld(job, ({ dueAt, ...stored }) => ({ ...stored, failedAt: now })),
    /** Whether the claim still holds: neither expired nor discarded. */
    holds: (job: Job) => mapMaybe(jobs.get(job.jobId), (stored) => isHeld(stored, job)),
    /** The jobs whose tasks are wanted, failed ones too. */
    async select(isWanted: (task: MailTask) => boolean) {
      const found = await jobs.select(({ task }) => isWanted(task));
      return found.map(({ jobId, task, requestedAt, failedAt }) => ({
        jobId,
        task,
        requestedAt,
        failedAt,
      }));
    },
    /** Removes jobs, failed and claimed ones too, whose holders then find them gone. */
    discard: (isUnwanted: (task: MailTask) => boolean) =>
      jobs.removeWhere(({ task }) => isUnwanted(task)),
    /** The counts of limits. */
    async selectCounts(isWanted: (key: string) => boolean) {
      const found = await counts.select(({ key }) => isWanted(key));
      return found.map(({ key, admittedAt }) => ({ key, admittedAt }));
    },
    discardCounts: (isUnwanted: (key: string) => boolean) =>
      counts.removeWhere(({ key }) => isUnwanted(key)),
    /**
     * The number of jobs that are neither done nor failed, and when the oldest of the first 500 of
     * each kind was requested: a job that is tried again is due later than newer ones.
     */
    async waiting(): Promise<{ count: number; oldestAt: number | undefined }> {
      const read = ({ first }: Queues) => jobs.range('dueAt', first * SPAN, LOOKED_AT);
      const [all = [], ...others] = await Promise.all(Object.values(QUEUES).map(read));
      const requested = [all, ...others].flat().map(({ requestedAt }) => requestedAt);
      return {
        count: all.length < LOOKED_AT ? all.length : await jobs.count('dueAt'),
        oldestAt: all.length === 0 ? undefined : Math.min(...requested),
      };
    },
    /** The number of failed jobs. */
    failed: () => jobs.count('failedAt'),
    /** Removes jobs that failed more than 7 days ago, and counts whose windows have ended. */
    async clean(now: number): Promise<void> {
      await jobs.removeUntil('failedAt', now - FAILED_KEPT_MS);
      await counts.removeUntil('until', now);
    },
  };
}

function newJob({ jobId, task, requestedAt, owner }: NewJob): StoredJob {
  const dueAt = placeOf(queueFor(task, owner), requestedAt);
  return { jobId, task, requestedAt, attempts: 0, admitted: false, dueAt };
}

function queueFor(task: MailTask, owner: string | undefined): number {
  if (task.kind === 'code') return queueOf(owner ?? task.signInId, QUEUES.codes);
  return 'memberId' in task
    ? queueOf(owner ?? '', QUEUES.changes)
    : queueOf(task.partnerId, QUEUES.partners);
}

function queueOf(owner: string, { first, end }: Queues): number {
  return (
    first +
    (createHash('sha256').update(SALT).update(owner).digest().readUInt32BE() % (end - first))
  );
}

function placeOf(queue: number, time: number): number {
  return queue * SPAN + time;
}

function isHeld(stored: StoredJob | undefined, { queue, dueAt }: Job): stored is StoredJob {
  return stored?.dueAt === placeOf(queue, dueAt);
}

/** One write at a time counts all that this process asks of a key meanwhile. */
function createAdmit(counts: Table<StoredCount>) {
  type Batch = { asked: number; admitted: Promise<number> };
  const waiting = new Map<string, Batch>();
  const writing = new Map<string, Promise<unknown>>();

  async function write(batch: Batch, limit: Limit, now: number): Promise<number> {
    const { key } = limit;
    await writing.get(key)?.catch(() => undefined);
    waiting.delete(key);
    let admitted = 0;
    const written = counts.update(key, (before) => {
      const after = counted(before, limit, batch.asked, now);
      admitted = after.admitted;
      return after.row;
    });
    writing.set(key, written);
    try {
      await written;
    } finally {
      writing.delete(key);
    }
    return admitted;
  }

  return async (limit: Limit, now: number): Promise<boolean> => {
    let batch = waiting.get(limit.key);
    if (batch === undefined) {
      batch = { asked: 0, admitted: Promise.resolve(0) };
      waiting.set(limit.key, batch);
      batch.admitted = write(batch, limit, now);
    }
    const place = batch.asked;
    batch.asked += 1;
    return place < (await batch.admitted);
  };
}

/** Counts as many admissions as the limit allows. */
function counted(
  stored: StoredCount | undefined,
  { key, count, windowMs }: Limit,
  asked: number,
  now: number,
): { admitted: number; row: StoredCount } {
  const until = now + windowMs;
  const admittedAt = (stored?.admittedAt ?? [])
    .map((at) => Math.min(at, now))
    .filter((at) => at > now - windowMs);
  const admitted = Math.max(0, Math.min(asked, count - admittedAt.length));
  if (admitted === 0 && stored && stored.until <= until) return { admitted, row: stored };
  const all = [...admittedAt, ...Array<number>(admitted).fill(now)];
  return { admitted, row: { key, admittedAt: all, until } };
}

/**
 * Whose mail a limit counts (mail/limits.ts): a member's ID or an address; undefined if it is a
 * partner's.
 */
export function mailboxOf(key: string): string | undefined {
  const [kind, first, second] = key.split('\n');
  if (kind === 'link' || kind === 'invitation' || kind === 'notice') return second;
  return ['change', 'target', 'code', 'console'].includes(kind ?? '') ? first : undefined;
}
