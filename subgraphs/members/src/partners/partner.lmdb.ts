// What the subgraph needs to know about partners, in the members store's LMDB.
import type { RootDatabase } from 'lmdb';
import type { MailPartner, MailPartners } from './partner.ts';

export function createLmdbMailPartners(root: RootDatabase): MailPartners {
  const partners = root.openDB<MailPartner, string>({ name: 'partners', encoding: 'json' });
  return {
    async put(partner) {
      await root.transaction(() => partners.put(partner.partnerId, partner));
      await root.flushed;
    },
    find: (partnerId) => partners.get(partnerId),
  };
}
