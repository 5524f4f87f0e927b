// What the subgraph needs to know about partners, on MongoDB, apart from the key store's partners.
import { batchLoad } from '@partner-loyalty/runtime/eventloop/batchload.ts';
import { oneReply } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Db } from 'mongodb';
import type { MailPartner, MailPartners } from './partner.ts';

export function createMongoMailPartners(db: Db): MailPartners {
  // A collection of its own: the key store, which has partners too, may share the database.
  const partners = db.collection<Omit<MailPartner, 'partnerId'> & { _id: string }>('mailpartners');
  return {
    async put({ partnerId, ...partner }) {
      await partners.replaceOne({ _id: partnerId }, partner, { upsert: true });
    },
    find: batchLoad(async (ids) => {
      const found = await partners.find({ _id: { $in: ids } }, oneReply(ids.length)).toArray();
      return new Map(found.map(({ _id, ...rest }) => [_id, { partnerId: _id, ...rest }]));
    }),
  };
}
