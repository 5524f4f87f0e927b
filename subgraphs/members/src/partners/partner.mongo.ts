// What mail needs to know about partners, on MongoDB, apart from the key store's partners.
import type { Db } from 'mongodb';
import type { MailPartner, MailPartners } from './partner.ts';

export function createMongoMailPartners(db: Db): MailPartners {
  // A collection of its own: the key store, which has partners too, may share the database.
  const partners = db.collection<Omit<MailPartner, 'partnerId'> & { _id: string }>('mailpartners');
  return {
    async put({ partnerId, name, magicLinkUrl }) {
      await partners.replaceOne({ _id: partnerId }, { name, magicLinkUrl }, { upsert: true });
    },
    async find(partnerId) {
      const found = await partners.findOne({ _id: partnerId });
      return found ? { partnerId, name: found.name, magicLinkUrl: found.magicLinkUrl } : undefined;
    },
  };
}
