// Merges two members on MongoDB. Each step writes one document.
import { retryOnConflict } from '@partner-loyalty/runtime/store/mongo.ts';
import type { MergedPair } from '../rules/member.ts';
import { eventsOfMerge, mergedRecord } from '../rules/merge.ts';
import { keysOf, updated } from '../rules/record.ts';
import {
  findByIds,
  isConflict,
  isTombstone,
  listedOf,
  type MemberDocument,
  type MembersCollection,
  movedKey,
  pendingFields,
  tombstoneOf,
  versionedRecord,
} from './documents.mongo.ts';

/**
 * Makes one record of two, step by step, as the documents say what is done. Any process can take
 * any of the steps: a rule that finds one of the members does before it is applied.
 */
export async function switchOver(members: MembersCollection, pair: MergedPair): Promise<void> {
  await retryOnConflict(async () => {
    const documents = await findByIds(members, [pair.from, pair.into]).toArray();
    const byId = new Map(documents.map((document) => [document._id, document]));
    const [lost, kept] = [byId.get(pair.from), byId.get(pair.into)];
    if (lost === undefined || kept === undefined || isErased(lost) || isErased(kept))
      throw new Error('one of the members was erased meanwhile');
    // Another member is becoming part of the same one.
    if (kept.joining !== undefined && kept.joining.from !== pair.from) {
      await switchOver(members, kept.joining);
      return undefined;
    }
    const step = nextStep(lost, kept, pair);
    if (step !== undefined) await replaced(members, step);
    return step === undefined || undefined;
  });
}

function isErased(document: MemberDocument): boolean {
  return isTombstone(document) && document.mergedInto === undefined;
}

/** A document in place of one that was read. */
type Step = { before: MemberDocument; next: MemberDocument };

/**
 * 1. The document of the member who goes says so, and no rule writes it any more.
 * 2. The one who stays has everything, but the keys that the other one still has under other names.
 * 3. The one who goes loses its keys: from here on, they lead to the one who stays.
 * 4. The keys get their own names.
 */
function nextStep(
  lost: MemberDocument,
  kept: MemberDocument,
  joining: MergedPair,
): Step | undefined {
  if (isTombstone(lost)) {
    if (kept.joining === undefined) return undefined;
    const { joining: _, ...rest } = kept;
    return { before: kept, next: { ...rest, keys: keysOf(versionedRecord(kept).record) } };
  }
  if (lost.joining === undefined) return { before: lost, next: { ...lost, joining } };
  if (kept.joining === undefined)
    return { before: kept, next: { ...withOther(kept, lost), joining } };
  return { before: lost, next: tombstoneOfMerged(lost, kept._id) };
}

function withOther(kept: MemberDocument, lost: MemberDocument): MemberDocument {
  const { record: before, outbox } = versionedRecord(kept);
  const { record: other } = versionedRecord(lost);
  const { memberId, ...record } = updated(before, mergedRecord(before, other));
  const next = { memberId, ...record };
  const taken = new Set(lost.keys);
  return {
    _id: memberId,
    ...record,
    version: kept.version,
    keys: keysOf(next).map((key) => (taken.has(key) ? movedKey(key) : key)),
    listed: listedOf(next),
    ...pendingFields([...outbox, ...eventsOfMerge(before, other, next)]),
  };
}

function tombstoneOfMerged(lost: MemberDocument, mergedInto: string): MemberDocument {
  const { record, version, outbox } = versionedRecord(lost);
  const partnerIds = record.enrollments.map(({ partnerId }) => partnerId);
  return { ...tombstoneOf(record.memberId, version, outbox), mergedInto, partnerIds };
}

/** False if another write of one of the two came first. */
async function replaced(members: MembersCollection, { before, next }: Step): Promise<boolean> {
  const { _id, version } = before;
  const { _id: _, ...replacement } = { ...next, version: version + 1 };
  try {
    return (await members.replaceOne({ _id, version }, replacement)).matchedCount === 1;
  } catch (error) {
    // Cast: whatever was thrown, only its code counts.
    if (!isConflict(error as { code?: number })) throw error;
    return false;
  }
}
