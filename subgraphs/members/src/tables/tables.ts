// The small tables beside the members: the mail, the invitations, the partners, the provider's.
import type { OpenTable } from '@partner-loyalty/runtime/store/table.ts';
import type { NamedTable } from '@partner-loyalty/runtime/store/tables.ts';
import {
  ENDED_SESSIONS,
  ENDED_SUBJECTS,
  openEndedSessions,
  openEndedSubjects,
} from '../signingkeys/endedsessions.ts';
import { type KeyVault, openSigningKeys, SIGNING_KEYS } from '../signingkeys/signingkey.ts';
import { ACCESS, openAccess } from './access.ts';
import { APPS, openApps } from './apps.ts';
import { INVITATIONS, openInvitations } from './invitation.ts';
import { MAIL_COUNTS, OUTBOX, openOutbox } from './outbox.ts';
import { PARTNERS } from './partner.ts';
import { openPayloads, PAYLOADS } from './payloads.ts';
import { openSandboxMails, SANDBOX_MAILS } from './sandboxmails.ts';
import { BEGUN, openSignIns, SIGN_INS } from './signins.ts';

export type MembersTables = Awaited<ReturnType<typeof openMembersTables>>;

export const SMALL_TABLES: readonly NamedTable[] = [
  [OUTBOX, (jobId) => `mail ${jobId}`],
  [MAIL_COUNTS, () => 'a count of mail'],
  [INVITATIONS, (hash) => `invitation ${hash}`],
  [ENDED_SESSIONS, (memberId) => `sessions of member ${memberId}`],
  [ENDED_SUBJECTS, (subject) => `the end of ${subject}`],
  [ACCESS, (memberId) => `what member ${memberId} is signed in to`],
  [APPS, (clientId) => `app ${clientId}`],
  [PAYLOADS, (id) => `sign-in data ${id}`],
  [SIGN_INS, (id) => `sign-in ${id}`],
  [BEGUN, () => 'a count of sign-ins'],
  [SANDBOX_MAILS, () => 'a mail of the sandbox'],
  [PARTNERS, (partnerId) => `partner ${partnerId}`],
  [SIGNING_KEYS, () => 'the signing keys'],
];

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
