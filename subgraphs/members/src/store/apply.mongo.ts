// Applies rules to members on MongoDB, and starts over after a conflict with another write.
import { setTimeout } from 'node:timers/promises';
import type { MembersCollection } from '../documents/collection.mongo.ts';
import { importMember } from '../rules/import.ts';
import type { ImportResult, MemberImport } from '../rules/member.ts';
import { addressKey, externalKey, type MemberRecords } from '../rules/record.ts';
import { readWorkingSet } from './workingset.mongo.ts';

const MAX_ATTEMPTS = 100;

/** Applies a rule to the members with these IDs and keys. */
export async function applyRule<T>(
  members: MembersCollection,
  ids: string[],
  keys: string[],
  rule: (records: MemberRecords) => T,
): Promise<T> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const workingSet = await readWorkingSet(members, ids, keys);
    const result = rule(workingSet);
    const conflicts = await workingSet.store();
    if (conflicts.size === 0) return result;
    await setTimeout(Math.random() * attempt);
  }
  throw new Error(`other writes changed a member ${MAX_ATTEMPTS} times in a row`);
}

/**
 * Imports all members in one working set and stores them together; those with a conflict are
 * imported again, one by one.
 */
export async function importTogether(
  members: MembersCollection,
  imports: readonly MemberImport[],
): Promise<ImportResult[]> {
  const workingSet = await readWorkingSet(members, idsOf(imports), claimedKeys(imports));
  const attempts = imports.map((line) => {
    const from = workingSet.written.length;
    const result = importMember(workingSet, line);
    return { line, result, written: workingSet.written.slice(from) };
  });
  const conflicts = await workingSet.store();
  const results: ImportResult[] = [];
  for (const { line, result, written } of attempts) {
    // An import that wrote nothing may depend on a record that was not stored.
    const isStored = written.length > 0 && !written.some((memberId) => conflicts.has(memberId));
    results.push(
      conflicts.size === 0 || isStored
        ? result
        : await applyRule(members, idsOf([line]), claimedKeys([line]), (records) =>
            importMember(records, line),
          ),
    );
  }
  return results;
}

export function idsOf(imports: readonly MemberImport[]): string[] {
  return imports.flatMap(({ memberId }) => (memberId === undefined ? [] : [memberId]));
}

/** The keys of all addresses and external IDs in an import. */
export function claimedKeys(imports: readonly MemberImport[]): string[] {
  return imports.flatMap(({ address, previousAddresses, enrollments }) => [
    ...[address, ...previousAddresses].map(({ canonical }) => addressKey(canonical)),
    ...enrollments.flatMap(({ partnerId, externalId }) =>
      externalId === undefined ? [] : [externalKey(partnerId, externalId)],
    ),
  ]);
}
