// The small tables beside the members, on any engine.
import type { OpenTable } from '@partner-loyalty/runtime/store/table.ts';
import { openInvitations } from '../invitations/invitation.ts';
import { openOutbox } from '../outbox/outbox.ts';
import { openMailPartners } from '../partners/partner.ts';
import { openEndedSessions } from '../sessions/endedsessions.ts';
import type { KeyVault } from '../signingkeys/keyvault.ts';
import { openSigningKeys } from '../signingkeys/signingkey.ts';
import type { MembersStore } from './store.ts';

export type MembersTables = Pick<
  MembersStore,
  'outbox' | 'invitations' | 'endedSessions' | 'partners' | 'signingKeys'
>;

export async function openMembersTables(open: OpenTable, vault: KeyVault): Promise<MembersTables> {
  return {
    outbox: await openOutbox(open),
    invitations: await openInvitations(open),
    endedSessions: await openEndedSessions(open),
    partners: await openMailPartners(open),
    signingKeys: await openSigningKeys(open, vault),
  };
}
