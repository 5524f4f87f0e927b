// The small tables beside the members: the mail, the invitations, the partners, the provider's.
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { storedTable } from '@partner-loyalty/runtime/store/tables.ts';
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

/** Each with how reports name a row: not by an address, or what it is found by. */
export const SMALL_TABLES = [
  small(OUTBOX, (jobId) => `mail ${jobId}`),
  small(MAIL_COUNTS, () => 'a count of mail'),
  small(INVITATIONS, (hash) => `invitation ${hash}`),
  small(ENDED_SESSIONS, (memberId) => `sessions of member ${memberId}`),
  small(ENDED_SUBJECTS, (subject) => `the end of ${subject}`),
  small(ACCESS, (memberId) => `what member ${memberId} is signed in to`),
  small(APPS, (clientId) => `app ${clientId}`),
  small(PAYLOADS, (id) => `sign-in data ${id}`),
  small(SIGN_INS, (id) => `sign-in ${id}`),
  small(BEGUN, () => 'a count of sign-ins'),
  small(SANDBOX_MAILS, () => 'a mail of the sandbox'),
  small(PARTNERS, (partnerId) => `partner ${partnerId}`),
  small(SIGNING_KEYS, () => 'the signing keys'),
];

function small<Row extends object>(
  definition: TableDefinition<Row>,
  nameOf: (id: string) => string,
) {
  return { table: storedTable(definition), nameOf };
}

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
