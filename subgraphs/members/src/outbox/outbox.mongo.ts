// The outbox on MongoDB: a document per job and per count, each step one guarded write, so no transactions are needed.
import { isDuplicate } from '@partner-loyalty/runtime';
import type { Db } from 'mongodb';
import { FAILED_KEPT_MS, type Job, type Outbox } from './outbox.ts';

/** A job is due or has failed. `claim` and `postpone` give it another `dueAt`, so that whoever held it before no longer finds it. */
type JobDocument = Omit<Job, 'jobId' | 'dueAt'> & {
  _id: string;
  dueAt?: number;
  failedAt?: number;
};
type CountDocument = { _id: string; admittedAt: number[]; until: number };

/** With the indexes it needs, made where they are missing; several processes may do it at once. */
export async function openMongoOutbox(db: Db): Promise<Outbox> {
  const jobs = db.collection<JobDocument>('outbox');
  const counts = db.collection<CountDocument>('mailcounts');
  await jobs.createIndex({ dueAt: 1 }, { sparse: true });
  await jobs.createIndex({ failedAt: 1 }, { sparse: true });
  await counts.createIndex({ until: 1 });

  const held = ({ jobId, dueAt }: Job) => ({ _id: jobId, dueAt });

  return {
    async add({ jobId, errand, requestedAt }) {
      const job = {
        _id: jobId,
        errand,
        requestedAt,
        dueAt: requestedAt,
        attempts: 0,
        admitted: false,
      };
      await jobs.insertOne(job, { writeConcern: { w: 'majority', journal: true } });
    },
    async claim(now, leaseMs) {
      const found = await jobs.findOneAndUpdate(
        { dueAt: { $lte: now } },
        { $set: { dueAt: now + leaseMs }, $inc: { attempts: 1 } },
        { sort: { dueAt: 1 }, returnDocument: 'after' },
      );
      if (found === null) return undefined;
      const { _id, errand, requestedAt, attempts, admitted } = found;
      return { jobId: _id, errand, requestedAt, attempts, admitted, dueAt: now + leaseMs };
    },
    async admit({ key, count, windowMs }, now) {
      await counts.updateOne(
        { _id: key, admittedAt: { $lte: now - windowMs } },
        { $pull: { admittedAt: { $lte: now - windowMs } } },
      );
      const notFull = { _id: key, [`admittedAt.${count - 1}`]: { $exists: false } };
      const one = { $push: { admittedAt: now }, $max: { until: now + windowMs } };
      try {
        const { matchedCount, upsertedCount } = await counts.updateOne(notFull, one, {
          upsert: true,
        });
        return matchedCount + upsertedCount === 1;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        // The count is there: full, or just begun by somebody else.
        return (await counts.updateOne(notFull, one)).matchedCount === 1;
      }
    },
    async noteAdmitted(job) {
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
    failed: () => jobs.countDocuments({ failedAt: { $exists: true } }),
    async clean(now) {
      await jobs.deleteMany({ failedAt: { $lte: now - FAILED_KEPT_MS } });
      await counts.deleteMany({ until: { $lte: now } });
    },
  };
}
