// The outbox on MongoDB: a document for each job and count, each step one guarded write.
import { isDuplicate } from '@partner-loyalty/runtime/store/mongo.ts';
import { pages, walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Collection, Db } from 'mongodb';
import {
  FAILED_KEPT_MS,
  type Job,
  type KeptCount,
  type KeptJob,
  type Limit,
  type MailTask,
  type Outbox,
} from './outbox.ts';

/**
 * A job that is due or has failed. The stored format calls the task `errand`. `claim` and
 * `postpone` change `dueAt`, so a worker whose claim has expired no longer finds the job.
 */
type JobDocument = Omit<Job, 'jobId' | 'task' | 'dueAt'> & {
  _id: string;
  errand: MailTask;
  dueAt?: number;
  failedAt?: number;
};
type CountDocument = { _id: string; admittedAt: number[]; until: number };

/** Creates missing indexes; several processes may do so at the same time. */
export async function openMongoOutbox(db: Db): Promise<Outbox> {
  const jobs = db.collection<JobDocument>('outbox');
  const counts = db.collection<CountDocument>('mailcounts');
  await jobs.createIndex({ dueAt: 1 }, { sparse: true });
  await jobs.createIndex({ failedAt: 1 }, { sparse: true });
  await counts.createIndex({ until: 1 });

  const held = ({ jobId, dueAt }: Job) => ({ _id: jobId, dueAt });

  return {
    async add({ jobId, task, requestedAt }) {
      const job = { errand: task, requestedAt, dueAt: requestedAt, attempts: 0, admitted: false };
      await jobs.insertOne(
        { _id: jobId, ...job },
        { writeConcern: { w: 'majority', journal: true } },
      );
    },
    async claim(now, leaseMs) {
      const claimed = await jobs.findOneAndUpdate(
        { dueAt: { $lte: now } },
        { $set: { dueAt: now + leaseMs }, $inc: { attempts: 1 } },
        { sort: { dueAt: 1 }, returnDocument: 'after' },
      );
      if (claimed === null) return undefined;
      const { _id, errand, requestedAt, attempts, admitted } = claimed;
      return { jobId: _id, task: errand, requestedAt, attempts, admitted, dueAt: now + leaseMs };
    },
    admit: (limit, now) => admit(counts, limit, now),
    async markAdmitted(job) {
      await jobs.updateOne(held(job), { $set: { admitted: true } });
    },
    async finish(job) {
      await jobs.deleteOne(held(job));
    },
    async postpone(job, dueAt) {
      await jobs.updateOne(held(job), { $set: { dueAt } });
    },
    async giveUp(job, now) {
      await jobs.updateOne(held(job), { $set: { failedAt: now }, $unset: { dueAt: '' } });
    },
    holds: async (job) => (await jobs.findOne(held(job), { projection: { _id: 1 } })) !== null,
    ...createSelection(jobs, counts),
    failed: () => jobs.countDocuments({ failedAt: { $exists: true } }),
    async clean(now) {
      await jobs.deleteMany({ failedAt: { $lte: now - FAILED_KEPT_MS } });
      await counts.deleteMany({ until: { $lte: now } });
    },
  };
}

/** Goes through all entries: there are few, since a job waits for an hour at most. */
function createSelection(jobs: Collection<JobDocument>, counts: Collection<CountDocument>) {
  return {
    async select(isWanted) {
      const found: KeptJob[] = [];
      for await (const { _id, errand, requestedAt, failedAt } of walk(jobs))
        if (isWanted(errand)) found.push({ jobId: _id, task: errand, requestedAt, failedAt });
      return found;
    },
    async discard(isUnwanted) {
      for await (const page of pages(jobs)) {
        const unwanted = page.filter(({ errand }) => isUnwanted(errand)).map(({ _id }) => _id);
        if (unwanted.length > 0) await jobs.deleteMany({ _id: { $in: unwanted } });
      }
    },
    async selectCounts(isWanted) {
      const found: KeptCount[] = [];
      for await (const { _id, admittedAt } of walk(counts))
        if (isWanted(_id)) found.push({ key: _id, admittedAt });
      return found;
    },
    async discardCounts(isUnwanted) {
      for await (const page of pages(counts, { projection: { _id: 1 } })) {
        const unwanted = page.map(({ _id }) => _id).filter(isUnwanted);
        if (unwanted.length > 0) await counts.deleteMany({ _id: { $in: unwanted } });
      }
    },
  } satisfies Partial<Outbox>;
}

async function admit(
  counts: Collection<CountDocument>,
  { key, count, windowMs }: Limit,
  now: number,
): Promise<boolean> {
  await counts.updateOne(
    { _id: key, admittedAt: { $lte: now - windowMs } },
    { $pull: { admittedAt: { $lte: now - windowMs } } },
  );
  const notFull = { _id: key, [`admittedAt.${count - 1}`]: { $exists: false } };
  const admission = { $push: { admittedAt: now }, $max: { until: now + windowMs } };
  try {
    const result = await counts.updateOne(notFull, admission, { upsert: true });
    return result.matchedCount + result.upsertedCount === 1;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // The count exists: either it is full, or another process has just created it.
    return (await counts.updateOne(notFull, admission)).matchedCount === 1;
  }
}
