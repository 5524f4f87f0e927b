// The small tables beside the members: the mail, the invitations, the partners, the provider's.
import type { OpenTable } from '@partner-loyalty/runtime/store/table.ts';
import { openEndedSessions, openEndedSubjects } from '../signingkeys/endedsessions.ts';
import { type KeyVault, openSigningKeys } from '../signingkeys/signingkey.ts';
import { openAccess } from './access.ts';
import { openApps } from './apps.ts';
import { openInvitations } from './invitation.ts';
import { openOutbox } from './outbox.ts';
import { PARTNERS } from './partner.ts';
import { openPayloads } from './payloads.ts';
import { openSandboxMails } from './sandboxmails.ts';
import { openSignIns } from './signins.ts';

export type MembersTables = Awaited<ReturnType<typeof openMembersTables>>;

export async function openMembersTables(open: OpenTable, vault: KeyVault) {
  const { get, put } = await open(PARTNERS);
  const access = await openAccess(open);
  return {
    outbox: await openOutbox(open),
    invitations: await openInvitations(open),
    /** Whose ID tokens are no longer valid. */
    endedSessions: await openEndedSessions(open, access),
    /** Which sessions and apps have tokens that are no longer valid. */
    endedSubjects: await openEndedSubjects(open),
    access,
    apps: await openApps(open),
    /** The sign-ins that were begun. */
    signIns: await openSignIns(open),
    /** What oidc-provider stores. */
    payloads: await openPayloads(open),
    /** The mails that partners may read, in a sandbox. */
    sandboxMails: await openSandboxMails(open),
    partners: { get, put },
    signingKeys: await openSigningKeys(open, vault),
  };
}
