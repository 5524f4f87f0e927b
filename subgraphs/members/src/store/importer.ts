// Imports members in slices, each in one transaction.
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { importMember } from '../rules/import.ts';
import type { ImportResult, MemberImport } from '../rules/member.ts';
import { addressKey, externalKey } from '../rules/record.ts';
import type { ApplyRule } from './apply.ts';
import type { StoredRecords } from './records.ts';
import { KEYS, MEMBERS, partsOf } from './rows.ts';

/** About how many rows a transaction writes. */
const ROWS = 500;

/** Resolves with the results of importing one after the other, in their order. */
export async function importMembers(
  apply: ApplyRule,
  marks: Marks,
  imports: readonly MemberImport[],
): Promise<ImportResult[]> {
  const results: ImportResult[] = [];
  for (const lines of slicesOf(imports)) {
    // Whenever the rule is run again, a new member has the same ID.
    const slice = lines.map((line) => ({ line, newId: randomUUID() }));
    const reads = [
      { table: KEYS, keys: lines.flatMap(claimedKeys).map(partsOf) },
      { table: MEMBERS, keys: slice.map(({ line, newId }) => [line.memberId ?? newId]) },
    ];
    results.push(...(await apply((records, tx) => importSlice(records, tx, marks, slice), reads)));
    await nextTurn();
  }
  return results;
}

function slicesOf(imports: readonly MemberImport[]): MemberImport[][] {
  const slices: MemberImport[][] = [];
  let rows = ROWS;
  for (const line of imports) {
    // A member has a row and a key, and each enrollment two keys and a place in a list.
    const own = 2 + 3 * line.enrollments.length;
    rows += own;
    if (rows > ROWS) {
      slices.push([]);
      rows = own;
    }
    slices.at(-1)?.push(line);
  }
  return slices;
}

function importSlice(
  records: StoredRecords,
  tx: Transaction,
  marks: Marks,
  slice: readonly { line: MemberImport; newId: string }[],
): ImportResult[] {
  const ids = slice.map(({ line, newId }) => line.memberId ?? newId);
  records.prefetch(
    ids,
    slice.flatMap(({ line }) => claimedKeys(line)),
  );
  const unknown = slice.flatMap(({ line: { memberId } }) =>
    memberId === undefined || records.byId(memberId) ? [] : memberId,
  );
  const erased = marks.among(tx, unknown);
  return slice.map(({ line, newId }) =>
    line.memberId !== undefined && erased.has(line.memberId)
      ? 'erased'
      : importMember(records, line, newId),
  );
}

/** The keys of all addresses and external IDs in an import. */
function claimedKeys({ address, previousAddresses, enrollments }: MemberImport): string[] {
  return [
    ...[address, ...previousAddresses].map(({ canonical }) => addressKey(canonical)),
    ...enrollments.flatMap(({ partnerId, externalId }) =>
      externalId === undefined ? [] : [externalKey(partnerId, externalId)],
    ),
  ];
}
