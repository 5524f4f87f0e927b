// What the subgraph needs to know about partners, on MongoDB, apart from the key store's partners.
import type { Db } from 'mongodb';
import type { MailPartner, MailPartners } from './partner.ts';

export function createMongoMailPartners(db: Db): MailPartners {
  // A collection of its own: the key store, which has partners too, may share the database.
  const partners = db.collection<Omit<MailPartner, 'partnerId'> & { _id: string }>('mailpartners');
  return {
    async put({ partnerId, ...partner }) {
      await partners.replaceOne({ _id: partnerId }, partner, { upsert: true });
    },
    async find(partnerId) {
      const found = await partners.findOne({ _id: partnerId });
      if (found === null) return undefined;
      const { _id, ...partner } = found;
      return { partnerId: _id, ...partner };
    },
  };
}
