// The outbox in the members store's LMDB: jobs ordered by due time, each step one transaction.
import type { Database, Key, RootDatabase } from 'lmdb';
import { FAILED_KEPT_MS, type Job, type Limit, type MailTask, type Outbox } from './outbox.ts';

/** The stored format calls the task `errand`. */
export type StoredJob = Omit<Job, 'task'> & { errand: MailTask };
type Count = { admittedAt: number[]; until: number };

export function openOutboxTables(root: RootDatabase) {
  return {
    // A claim moves the job to another key, so a worker whose claim has expired no longer finds it.
    due: root.openDB<StoredJob, [dueAt: number, jobId: string]>({
      name: 'outbox',
      encoding: 'json',
    }),
    failed: root.openDB<StoredJob & { failedAt: number }, string>({
      name: 'outbox-failed',
      encoding: 'json',
    }),
    counts: root.openDB<Count, string>({ name: 'mail-counts', encoding: 'json' }),
  };
}

type Tables = ReturnType<typeof openOutboxTables>;

export function createLmdbOutbox(root: RootDatabase): Outbox {
  const tables = openOutboxTables(root);
  const { failed } = tables;
  const { first, put, remove, ifHeld } = createQueue(root, tables);
  const limits = createLimits(root, tables);
  return {
    async add({ jobId, task, requestedAt }) {
      const job = { jobId, errand: task, requestedAt };
      await root.transaction(() =>
        put({ ...job, dueAt: requestedAt, attempts: 0, admitted: false }),
      );
      await root.flushed;
    },
    claim(now, leaseMs) {
      // Most of the time none is due, so it looks first without a transaction.
      if (first(now) === undefined) return undefined;
      return root.transaction(() => {
        const stored = first(now);
        if (stored === undefined) return undefined;
        const claimed = { ...stored, dueAt: now + leaseMs, attempts: stored.attempts + 1 };
        remove(stored);
        put(claimed);
        const { errand, ...job } = claimed;
        return { ...job, task: errand };
      });
    },
    admit: limits.admit,
    markAdmitted: (job) => ifHeld(job, (stored) => put({ ...stored, admitted: true })),
    finish: (job) => ifHeld(job, remove),
    postpone: (job, dueAt) =>
      ifHeld(job, (stored) => {
        remove(stored);
        put({ ...stored, dueAt });
      }),
    giveUp: (job, now) =>
      ifHeld(job, (stored) => {
        remove(stored);
        failed.put(stored.jobId, { ...stored, failedAt: now });
      }),
    holds: ({ dueAt, jobId }) => tables.due.doesExist([dueAt, jobId]),
    ...createSelection(root, tables),
    failed: () => failed.getKeysCount(),
    async clean(now) {
      await root.transaction(() => {
        for (const { key, value } of failed.getRange())
          if (value.failedAt <= now - FAILED_KEPT_MS) failed.remove(key);
        limits.removeEnded(now);
      });
    },
  };
}

/** The jobs that are due now or later. All writes have to be in a transaction. */
function createQueue(root: RootDatabase, { due }: Tables) {
  return {
    first: (now: number): StoredJob | undefined =>
      [...due.getRange({ end: [now + 1, ''], limit: 1 })][0]?.value,
    put: (job: StoredJob) => due.put([job.dueAt, job.jobId], job),
    remove: (job: StoredJob) => due.remove([job.dueAt, job.jobId]),
    /**
     * Acts, in a transaction, on the job as it is stored, which may be newer than the claim. Does
     * nothing if the claim has expired and another worker holds the job.
     */
    ifHeld: ({ dueAt, jobId }: Job, act: (stored: StoredJob) => void): Promise<void> =>
      root.transaction(() => {
        const stored = due.get([dueAt, jobId]);
        if (stored !== undefined) act(stored);
      }),
  };
}

/** Goes through all entries: there are few, since a job waits for an hour at most. */
function createSelection(root: RootDatabase, { due, failed, counts }: Tables) {
  const discardFrom = <V, K extends Key>(
    table: Database<V, K>,
    isUnwanted: (value: V) => boolean,
  ) => {
    for (const { key, value } of [...table.getRange()]) if (isUnwanted(value)) table.remove(key);
  };
  return {
    async select(isWanted) {
      const jobs = [...due.getRange(), ...failed.getRange()].map(
        ({ value }) => value as StoredJob & { failedAt?: number },
      );
      return jobs
        .filter(({ errand }) => isWanted(errand))
        .map(({ jobId, errand, requestedAt, failedAt }) => ({
          jobId,
          task: errand,
          requestedAt,
          failedAt,
        }));
    },
    async discard(isUnwanted) {
      await root.transaction(() => {
        discardFrom(due, ({ errand }) => isUnwanted(errand));
        discardFrom(failed, ({ errand }) => isUnwanted(errand));
      });
      await root.flushed;
    },
    async selectCounts(isWanted) {
      return [...counts.getRange()]
        .filter(({ key }) => isWanted(key))
        .map(({ key, value }) => ({ key, admittedAt: value.admittedAt }));
    },
    async discardCounts(isUnwanted) {
      await root.transaction(() => {
        for (const key of [...counts.getKeys()]) if (isUnwanted(key)) counts.remove(key);
      });
      await root.flushed;
    },
  } satisfies Partial<Outbox>;
}

function createLimits(root: RootDatabase, { counts }: Tables) {
  return {
    admit: ({ key, count, windowMs }: Limit, now: number): Promise<boolean> =>
      root.transaction(() => {
        const admittedAt = (counts.get(key)?.admittedAt ?? []).filter((at) => at > now - windowMs);
        if (admittedAt.length >= count) return false;
        counts.put(key, { admittedAt: [...admittedAt, now], until: now + windowMs });
        return true;
      }),
    /** Has to be called in a transaction. */
    removeEnded(now: number): void {
      for (const { key, value } of counts.getRange()) if (value.until <= now) counts.remove(key);
    },
  };
}
