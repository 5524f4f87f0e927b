// Verifies the members store on LMDB: one pass over the members, and one over the keys if needed.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { type Inspection, UNREADABLE } from '@partner-loyalty/runtime/store/inspection.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { type Snapshot, withSnapshot } from '@partner-loyalty/runtime/store/snapshot.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import { openInvitationTables } from '../invitations/invitation.lmdb.ts';
import type { StoredInvitation } from '../invitations/invitation.ts';
import { openOutboxTables } from '../outbox/outbox.lmdb.ts';
import { keysOf } from '../rules/record.ts';
import { openSessionTables } from '../sessions/endedsessions.lmdb.ts';
import { encodeIdentity, type StoredIdentity } from '../store/identity.lmdb.ts';
import { openMemberTables } from '../store/store.lmdb.ts';
import { checkMember, describeKey, isRecord, nameOf } from './member.ts';

/** Reports what is wrong with the store. Resolves with the number of members. */
export async function verifyLmdbMembers(
  dataDir: string,
  environment: Environment,
  inspection: Inspection,
): Promise<number> {
  const { root } = await openLmdb(dataDir, 'members', environment);
  try {
    const tables = openTables(root);
    return await withSnapshot(root, async (snapshot) => {
      const members = await checkMembers(tables, snapshot, inspection);
      checkOutbox(tables, snapshot, inspection);
      checkInvitations(tables, snapshot, inspection);
      checkSessions(tables, snapshot, inspection);
      return members;
    });
  } finally {
    await root.close();
  }
}

function openTables(root: RootDatabase) {
  return {
    ...openMemberTables(root),
    ...openOutboxTables(root),
    ...openInvitationTables(root),
    ...openSessionTables(root),
  };
}

type Tables = ReturnType<typeof openTables>;

/**
 * If every key of every member leads to that member, and there are no more keys than these, each of
 * the keys has its member: then the second pass is not needed.
 */
async function checkMembers(
  tables: Tables,
  snapshot: Snapshot,
  inspection: Inspection,
): Promise<number> {
  let count = 0;
  let keys = 0;
  const unreadable = (memberId: string) =>
    inspection.report(nameOf(memberId), 'the record cannot be read');
  for (const { key: memberId, value } of snapshot.records(tables.members, unreadable)) {
    count += 1;
    const record = await checkMember(memberId, value, inspection);
    if (record === undefined) continue;
    const expected = JSON.stringify(encodeIdentity(record));
    for (const key of new Set(keysOf(record))) {
      const problem = problemOf(snapshot.get(tables.identities, key), expected);
      if (problem === undefined) keys += 1;
      else inspection.report(nameOf(memberId), `${describeKey(key)} of the member ${problem}`);
    }
  }
  if (keys !== snapshot.count(tables.identities)) checkKeys(tables, snapshot, inspection);
  return count;
}

function problemOf(
  found: StoredIdentity | typeof UNREADABLE | undefined,
  expected: string,
): string | undefined {
  if (found === undefined) return 'leads nowhere';
  if (found === UNREADABLE) return 'has an entry that cannot be read';
  if (JSON.stringify(found) === expected) return undefined;
  return JSON.stringify(found[0]) === JSON.stringify(JSON.parse(expected)[0])
    ? 'shows another email or name'
    : `leads to member ${found[0]}`;
}

/** Finds the keys whose member does not exist, or does not have them. */
function checkKeys({ members, identities }: Tables, snapshot: Snapshot, { report }: Inspection) {
  const unreadable = (key: string) =>
    report('the index of members', `the entry of ${describeKey(key)} cannot be read`);
  for (const { key, value } of snapshot.records(identities, unreadable)) {
    const [memberId] = value;
    const record = snapshot.get(members, memberId);
    if (record === undefined)
      report(nameOf(memberId), `${describeKey(key)} leads to the member, who does not exist`);
    // A record that is not one has been reported.
    else if (isRecord(record, () => {}) && !keysOf(record).includes(key))
      report(nameOf(memberId), `${describeKey(key)} leads to the member, who does not have it`);
  }
}

function checkOutbox({ due, failed }: Tables, snapshot: Snapshot, { report }: Inspection): void {
  const unreadable = (jobId: string) => report(`mail ${jobId}`, 'the job cannot be read');
  for (const { key, value } of snapshot.records(due, ([, jobId]) => unreadable(jobId)))
    if (value.dueAt !== key[0] || value.jobId !== key[1])
      report(`mail ${key[1]}`, 'the job is stored under another time or ID');
  for (const { key, value } of snapshot.records(failed, unreadable))
    if (value.jobId !== key) report(`mail ${key}`, 'the job has another ID');
}

function checkInvitations(
  { byHash, byExpiry }: Tables,
  snapshot: Snapshot,
  { report }: Inspection,
): void {
  const nameOfInvitation = (hash: string) => `invitation ${hash}`;
  const unreadable = (hash: string) =>
    report(nameOfInvitation(hash), 'the invitation cannot be read');
  for (const { key, value } of snapshot.records(byHash, unreadable))
    if (snapshot.get(byExpiry, [value.expiresAt, key]) === undefined)
      report(nameOfInvitation(key), 'the index by expiry does not have it');
  for (const [expiresAt, hash] of snapshot.keys(byExpiry))
    if (expiryOf(snapshot.get(byHash, hash)) !== expiresAt)
      report(nameOfInvitation(hash), 'the index by expiry has it at another time');
}

function expiryOf(found: StoredInvitation | typeof UNREADABLE | undefined): number | undefined {
  return found === UNREADABLE ? undefined : found?.expiresAt;
}

function checkSessions(
  { byMember, byTime }: Tables,
  snapshot: Snapshot,
  { report }: Inspection,
): void {
  const unreadable = (memberId: string) =>
    report(nameOf(memberId), 'the end of the sessions cannot be read');
  for (const { key, value } of snapshot.records(byMember, unreadable))
    if (snapshot.get(byTime, [value, key]) === undefined)
      report(nameOf(key), 'the end of the sessions is not in the index by time');
  for (const [endedAt, memberId] of snapshot.keys(byTime))
    if (snapshot.get(byMember, memberId) !== endedAt)
      report(nameOf(memberId), 'the index by time has another end of the sessions');
}
