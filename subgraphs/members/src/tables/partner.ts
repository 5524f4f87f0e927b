// What the members subgraph needs to know about a partner, stored beside the members.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

export type MailPartner = {
  partnerId: string;
  /** The name that members read. */
  name: string;
  /** The partner's own page for magic links; without one, they open this service's `/sign-in`. */
  magicLinkUrl?: string | undefined;
  /** If required, the partner can only invite members, not enroll them. */
  consent?: 'required' | undefined;
  /** How many invitations are mailed for the partner in 24 hours; DAILY_INVITATIONS if absent. */
  invitations?: number | undefined;
};

export const DAILY_INVITATIONS = 200;

export type MailPartners = {
  /** Adds or replaces a partner. */
  put(partner: MailPartner): Promise<void>;
  find(partnerId: string): MaybePromise<MailPartner | undefined>;
};

// Not `partners`: the key store, which has partners too, may share the database.
export const PARTNERS: TableDefinition<MailPartner> = { name: 'mailpartners', id: 'partnerId' };

export async function openMailPartners(open: OpenTable): Promise<MailPartners> {
  const partners = await open(PARTNERS);
  return { put: partners.put, find: partners.get };
}
