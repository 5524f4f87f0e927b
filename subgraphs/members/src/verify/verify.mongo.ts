// Verifies the members store on MongoDB. A member and all its keys are one document.
import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { withMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { keysOf } from '../rules/record.ts';
import {
  isMovedKey,
  isTombstone,
  listedOf,
  type MemberDocument,
  type MembersCollection,
  movedKey,
  versionedRecord,
} from '../store/documents.mongo.ts';
import {
  areEvents,
  checkMember,
  describeKey,
  MISPLACED,
  nameOf,
  PART_OF_NOBODY,
} from './member.ts';

/** Reports what is wrong with the store. Resolves with the number of members. */
export function verifyMongoMembers(
  url: string,
  environment: Environment,
  inspection: Inspection,
): Promise<number> {
  return withMongo(url, 'members', environment, async (db) => {
    const members = db.collection<MemberDocument>('members');
    let count = 0;
    for await (const document of walk(members)) {
      checkEvents(document, inspection);
      const { _id, mergedInto } = document;
      if (mergedInto !== undefined && !(await hasMember(members, mergedInto)))
        inspection.report(nameOf(_id), PART_OF_NOBODY);
      if (isTombstone(document)) continue;
      count += 1;
      await checkDocument(document, inspection);
    }
    return count;
  });
}

async function hasMember(members: MembersCollection, memberId: string): Promise<boolean> {
  return (await members.findOne({ _id: memberId, erasedAt: { $exists: false } })) !== null;
}

function checkEvents({ _id, outbox, pendingAt }: MemberDocument, { report }: Inspection): void {
  if (outbox === undefined && pendingAt === undefined) return;
  const reportMember = (problem: string) => report(nameOf(_id), problem);
  if (areEvents(outbox, reportMember) && outbox[0]?.occurredAt !== pendingAt)
    reportMember('the events are not found by the time of the first one');
}

/** The index of the collection keeps a key from being in two documents. */
async function checkDocument(document: MemberDocument, inspection: Inspection): Promise<void> {
  const { _id: memberId, keys, listed, joining } = document;
  const { record: value } = versionedRecord(document);
  const record = await checkMember(memberId, value, inspection);
  if (record === undefined) return;
  const expected = new Set(keysOf(record));
  const present = new Set(Array.isArray(keys) ? keys : []);
  const report = (problem: string) => inspection.report(nameOf(memberId), problem);
  for (const key of expected)
    if (!present.has(key) && !(joining && present.has(movedKey(key))))
      report(`${describeKey(key)} of the member leads nowhere`);
  for (const key of present)
    if (!expected.has(key) && !(joining && isMovedKey(key)))
      report(`${describeKey(key)} leads to the member, who does not have it`);
  // A dump of a version without lists has none.
  if (listed !== undefined && !isDeepStrictEqual(listed, listedOf(record))) report(MISPLACED);
}
