// The outbox in the members store's LMDB: jobs in the order in which they are due, each step one transaction.
import type { RootDatabase } from 'lmdb';
import { FAILED_KEPT_MS, type Job, type Outbox } from './outbox.ts';

type Count = { admittedAt: number[]; until: number };

export function createLmdbOutbox(root: RootDatabase): Outbox {
  // A claim moves a job to another place, so that whoever held it before no longer finds it.
  const due = root.openDB<Job, [dueAt: number, jobId: string]>({
    name: 'outbox',
    encoding: 'json',
  });
  const failed = root.openDB<Job & { failedAt: number }, string>({
    name: 'outbox-failed',
    encoding: 'json',
  });
  const counts = root.openDB<Count, string>({ name: 'mail-counts', encoding: 'json' });

  const first = (now: number) => [...due.getRange({ end: [now + 1, ''], limit: 1 })][0];

  const place = (job: Job) => due.put([job.dueAt, job.jobId], job);

  /** Where the claim still holds, acts on the job as it is stored, which may know more than the claim. */
  const held = ({ dueAt, jobId }: Job, act: (stored: Job) => void): Promise<void> =>
    root.transaction(() => {
      const stored = due.get([dueAt, jobId]);
      if (stored !== undefined) act(stored);
    });

  const take = (job: Job) => due.remove([job.dueAt, job.jobId]);

  return {
    async add(job) {
      await root.transaction(() =>
        place({ ...job, dueAt: job.requestedAt, attempts: 0, admitted: false }),
      );
      await root.flushed;
    },
    claim(now, leaseMs) {
      // Looked at first without a transaction, since mostly there is nothing.
      if (first(now) === undefined) return undefined;
      return root.transaction(() => {
        const found = first(now);
        if (found === undefined) return undefined;
        const job = { ...found.value, dueAt: now + leaseMs, attempts: found.value.attempts + 1 };
        take(found.value);
        place(job);
        return job;
      });
    },
    admit({ key, count, windowMs }, now) {
      return root.transaction(() => {
        const admittedAt = (counts.get(key)?.admittedAt ?? []).filter((at) => at > now - windowMs);
        if (admittedAt.length >= count) return false;
        counts.put(key, { admittedAt: [...admittedAt, now], until: now + windowMs });
        return true;
      });
    },
    noteAdmitted: (job) => held(job, (stored) => place({ ...stored, admitted: true })),
    finish: (job) => held(job, take),
    postpone(job, dueAt) {
      return held(job, (stored) => {
        take(stored);
        place({ ...stored, dueAt });
      });
    },
    giveUp(job, now) {
      return held(job, (stored) => {
        take(stored);
        failed.put(stored.jobId, { ...stored, failedAt: now });
      });
    },
    failed: () => failed.getKeysCount(),
    async clean(now) {
      await root.transaction(() => {
        for (const { key, value } of failed.getRange())
          if (value.failedAt <= now - FAILED_KEPT_MS) failed.remove(key);
        for (const { key, value } of counts.getRange()) if (value.until <= now) counts.remove(key);
      });
    },
  };
}
