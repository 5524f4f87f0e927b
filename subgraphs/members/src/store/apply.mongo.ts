// Applies rules to members on MongoDB, and starts over after a conflict with another write.
import { retryOnConflict } from '@partner-loyalty/runtime/store/mongo.ts';
import { importMember } from '../rules/import.ts';
import type { ImportResult, MemberImport } from '../rules/member.ts';
import { formsOf } from '../rules/ownership.ts';
import { addressKey, externalKey, type MemberRecords } from '../rules/record.ts';
import type { MembersCollection } from './documents.mongo.ts';
import type { ApplyRule } from './engine.ts';
import { stampIfLate } from './late.ts';
import { readWorkingSet, type WorkingSet } from './workingset.mongo.ts';

/** Applies a rule to the members with these IDs and keys. */
export async function applyRule<T>(
  members: MembersCollection,
  ids: string[],
  keys: string[],
  rule: (records: MemberRecords) => T,
): Promise<T> {
  const { result, written, since } = await applyOnce(members, ids, keys, rule);
  await stampWritten(members, written, since);
  return result;
}

function applyOnce<T>(
  members: MembersCollection,
  ids: string[],
  keys: string[],
  rule: (records: MemberRecords) => T,
) {
  return retryOnConflict(async () => {
    const workingSet = await readWorkingSet(members, ids, keys);
    const since = Date.now();
    const result = rule(workingSet);
    const isStored = await workingSet.store();
    return isStored ? { result, written: workingSet.written, since } : undefined;
  });
}

function stampWritten(members: MembersCollection, written: WorkingSet['written'], since: number) {
  const again: ApplyRule = async (ids, keys, rule) =>
    (await applyOnce(members, ids, keys, rule)).result;
  return stampIfLate(again, [...new Set(written.map(({ memberId }) => memberId))], since);
}

/**
 * Imports all members in one working set and stores them together. After a conflict, imports whose
 * writes were not stored are repeated one by one, and with them all later imports that involve the
 * same members: the last one has the last word. Earlier ones keep their results.
 */
export async function importTogether(
  members: MembersCollection,
  imports: readonly MemberImport[],
): Promise<ImportResult[]> {
  const workingSet = await readWorkingSet(members, idsOf(imports), claimedKeys(imports));
  const since = Date.now();
  const attempts = imports.map((line) => {
    const { touched, written } = workingSet;
    const [touchedBefore, writtenBefore] = [touched.length, written.length];
    const result = importMember(workingSet, line);
    return {
      line,
      result,
      touched: touched.slice(touchedBefore),
      writes: written.slice(writtenBefore),
    };
  });
  const isStored = await workingSet.store();
  await stampWritten(members, workingSet.written, since);
  if (isStored) return attempts.map(({ result }) => result);

  const unsettled = new Set<string>();
  const results: ImportResult[] = [];
  for (const { line, result, touched, writes } of attempts) {
    const isRepeated =
      writes.some(({ isStored }) => !isStored) ||
      touched.some((memberId) => unsettled.has(memberId));
    if (isRepeated) for (const memberId of touched) unsettled.add(memberId);
    const repeated = isRepeated
      ? await applyRule(members, idsOf([line]), claimedKeys([line]), (records) =>
          importMember(records, line),
        )
      : result;
    const wasStored = writes.length > 0 && writes.every(({ isStored }) => isStored);
    // A member who had to be added again was erased meanwhile, and the caller has to see it.
    results.push(wasStored && repeated !== 'added' ? result : repeated);
  }
  return results;
}

export function idsOf(imports: readonly MemberImport[]): string[] {
  return imports.flatMap(({ memberId }) => (memberId === undefined ? [] : [memberId]));
}

/** The keys of all addresses and external IDs in an import. */
export function claimedKeys(imports: readonly MemberImport[]): string[] {
  return imports.flatMap(({ address, previousAddresses, enrollments }) => [
    ...[address, ...previousAddresses].flatMap(formsOf).map(addressKey),
    ...enrollments.flatMap(({ partnerId, externalId }) =>
      externalId === undefined ? [] : [externalKey(partnerId, externalId)],
    ),
  ]);
}
