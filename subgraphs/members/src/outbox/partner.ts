// What mail needs to know about a partner; partner.lmdb.ts and partner.mongo.ts keep it beside the members.
import type { MaybePromise } from '@partner-loyalty/runtime';

export type MailPartner = {
  partnerId: string;
  /** As members read it. */
  name: string;
  /** The partner's own page that a magic link opens; this service's `/sign-in` where absent. */
  magicLinkUrl?: string;
};

export type MailPartners = {
  /** Sets a partner. */
  put(partner: MailPartner): Promise<void>;
  /** Undefined for one whom nobody has set. */
  find(partnerId: string): MaybePromise<MailPartner | undefined>;
};
