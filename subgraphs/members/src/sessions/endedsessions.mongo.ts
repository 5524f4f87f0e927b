// Ended sessions on MongoDB: a document for each member.
import { oneReply } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Db } from 'mongodb';
import { type EndedSessionsStore, KEPT_MS } from './endedsessions.ts';

/** Creates the missing index; several processes may do so at the same time. */
export async function openMongoEndedSessions(db: Db): Promise<EndedSessionsStore> {
  const sessions = db.collection<{ _id: string; endedAt: number }>('endedsessions');
  await sessions.createIndex({ endedAt: 1 });
  return {
    async end({ memberId, endedAt }) {
      await sessions.updateOne(
        { _id: memberId },
        { $max: { endedAt } },
        { upsert: true, writeConcern: { w: 'majority', journal: true } },
      );
      await sessions.deleteMany({ endedAt: { $lt: endedAt - KEPT_MS } });
    },
    async forget(memberId) {
      await sessions.deleteOne({ _id: memberId });
    },
    find: async (memberId) => (await sessions.findOne({ _id: memberId }))?.endedAt,
    async list(since, limit) {
      const found = sessions
        .find({ endedAt: { $gte: since } }, oneReply(limit))
        .sort({ endedAt: 1 })
        .limit(limit);
      return (await found.toArray()).map(({ _id, endedAt }) => ({ memberId: _id, endedAt }));
    },
  };
}
