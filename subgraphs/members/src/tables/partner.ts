// What the members subgraph needs to know about a partner, stored beside the members.
import type { TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

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
  /** Its apps are refused. */
  isSuspended?: true | undefined;
};

export const DAILY_INVITATIONS = 200;

// Not `partners`: the key store, which has partners too, may share the database.
export const PARTNERS: TableDefinition<MailPartner> = { name: 'mailpartners', id: 'partnerId' };
