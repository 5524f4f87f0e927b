// The small tables beside the members: the mail, the invitations, the partners, the provider's.
import type { OpenTable } from '@partner-loyalty/runtime/store/table.ts';
import { type EndedSessionsStore, openEndedSessions } from '../signingkeys/endedsessions.ts';
import { type KeyVault, openSigningKeys, type SigningKeyStore } from '../signingkeys/signingkey.ts';
import { type InvitationStore, openInvitations } from './invitation.ts';
import { type Outbox, openOutbox } from './outbox.ts';
import { type MailPartners, PARTNERS } from './partner.ts';

export type MembersTables = {
  /** The mail to be sent. */
  outbox: Outbox;
  /** The invitations that have not been accepted. */
  invitations: InvitationStore;
  /** Whose ID tokens are no longer valid. */
  endedSessions: EndedSessionsStore;
  partners: MailPartners;
  /** The keys of the built-in identity provider. */
  signingKeys: SigningKeyStore;
};

export async function openMembersTables(open: OpenTable, vault: KeyVault): Promise<MembersTables> {
  return {
    outbox: await openOutbox(open),
    invitations: await openInvitations(open),
    endedSessions: await openEndedSessions(open),
    partners: await open(PARTNERS),
    signingKeys: await openSigningKeys(open, vault),
  };
}
