// Verifies the members store on LMDB: one pass over the members, and one over the keys if needed.
import { type Inspection, UNREADABLE } from '@partner-loyalty/runtime/store/inspection.ts';
import { lmdbVerifier, type Snapshot } from '@partner-loyalty/runtime/store/snapshot.lmdb.ts';
import { tableVerifier } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import { keysOf, type MemberRecord } from '../rules/record.ts';
import { ENDED_SESSIONS, ENDED_SUBJECTS } from '../signingkeys/endedsessions.ts';
import { SIGNING_KEYS } from '../signingkeys/signingkey.ts';
import { openEventEntries } from '../store/events.lmdb.ts';
import { entriesOf, type StoredIdentity } from '../store/identity.lmdb.ts';
import { BUILT, storedKeysOf } from '../store/list.lmdb.ts';
import { openMemberTables } from '../store/store.lmdb.ts';
import { ACCESS } from '../tables/access.ts';
import { APPS } from '../tables/apps.ts';
import { INVITATIONS } from '../tables/invitation.ts';
import { MAIL_COUNTS, OUTBOX } from '../tables/outbox.ts';
import { PARTNERS } from '../tables/partner.ts';
import { PAYLOADS } from '../tables/payloads.ts';
import { BEGUN, SIGN_INS } from '../tables/signins.ts';
import {
  areEvents,
  checkMember,
  describeKey,
  isRecord,
  MISPLACED,
  nameOf,
  PART_OF_NOBODY,
} from './member.ts';

const openAll = (root: RootDatabase) => ({
  ...openMemberTables(root),
  entries: openEventEntries(root),
  // A backup of a version without lists has none.
  hasLists: root.get(BUILT) === true,
  verifiers: [
    tableVerifier(root, OUTBOX, (jobId) => `mail ${jobId}`),
    // Not the key, which may have an address.
    tableVerifier(root, MAIL_COUNTS, () => 'a count of mail'),
    tableVerifier(root, INVITATIONS, (hash) => `invitation ${hash}`),
    tableVerifier(root, ENDED_SESSIONS, (memberId) => `sessions of ${nameOf(memberId)}`),
    tableVerifier(root, ENDED_SUBJECTS, (subject) => `the end of ${subject}`),
    tableVerifier(root, ACCESS, (memberId) => `what ${nameOf(memberId)} is signed in to`),
    tableVerifier(root, APPS, (clientId) => `app ${clientId}`),
    tableVerifier(root, PAYLOADS, (id) => `sign-in data ${id}`),
    tableVerifier(root, SIGN_INS, (id) => `sign-in ${id}`),
    tableVerifier(root, BEGUN, () => 'a count of sign-ins'),
    tableVerifier(root, PARTNERS, (partnerId) => `partner ${partnerId}`),
    tableVerifier(root, SIGNING_KEYS, () => 'the signing keys'),
  ],
});

/** Reports what is wrong with the store. Resolves with the number of members. */
export const verifyLmdbMembers = lmdbVerifier(
  'members',
  openAll,
  async (tables, snapshot, inspection) => {
    const members = await checkMembers(tables, snapshot, inspection);
    if (tables.hasLists) checkLists(tables, snapshot, inspection);
    for (const verify of tables.verifiers) verify(snapshot, inspection);
    checkEvents(tables.entries, snapshot, inspection);
    return members;
  },
);

type Tables = ReturnType<typeof openMemberTables>;

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
    for (const [key, expected] of entriesOf(record)) {
      const problem = problemOf(snapshot.get(tables.identities, key), expected);
      if (problem === undefined) keys += 1;
      else inspection.report(nameOf(memberId), `${describeKey(key)} of the member ${problem}`);
    }
  }
  for (const { key, value } of snapshot.records(tables.merged, unreadable))
    if (snapshot.get(tables.members, value.mergedInto) === undefined)
      inspection.report(nameOf(key), PART_OF_NOBODY);
  if (keys !== snapshot.count(tables.identities)) checkKeys(tables, snapshot, inspection);
  return count;
}

function checkEvents(
  entries: ReturnType<typeof openEventEntries>,
  snapshot: Snapshot,
  { report }: Inspection,
): void {
  const reportEntry = (key: number, problem: string) => report(`events ${key}`, problem);
  const unreadable = (key: number) => reportEntry(key, 'the record cannot be read');
  for (const { key, value } of snapshot.records(entries, unreadable))
    areEvents(value, (problem) => reportEntry(key, problem));
}

function problemOf(
  found: StoredIdentity | typeof UNREADABLE | undefined,
  expected: StoredIdentity,
): string | undefined {
  if (found === undefined) return 'leads nowhere';
  if (found === UNREADABLE) return 'has an entry that cannot be read';
  if (JSON.stringify(found) === JSON.stringify(expected)) return undefined;
  return JSON.stringify(found[0]) === JSON.stringify(expected[0])
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

/** Compares the lists with the records, each way. */
function checkLists({ members, lists }: Tables, snapshot: Snapshot, { report }: Inspection): void {
  let places = 0;
  for (const { key: memberId, value } of snapshot.records(members, () => {})) {
    if (!isRecord(value, () => {})) continue;
    for (const key of storedKeysOf(value))
      if (snapshot.get(lists, key) === true) places += 1;
      else report(nameOf(memberId), MISPLACED);
  }
  if (places === snapshot.count(lists)) return;
  for (const [partnerId, status, updatedAt, memberId] of snapshot.keys(lists)) {
    const record = snapshot.get(members, memberId);
    const isListed = ({ enrollments }: MemberRecord) =>
      enrollments.some(
        (one) =>
          one.partnerId === partnerId && one.status === status && one.updatedAt === updatedAt,
      );
    if (record === undefined || (isRecord(record, () => {}) && !isListed(record)))
      report(nameOf(memberId), MISPLACED);
  }
}
