// The rule for members who set their own names.
import type { NamesChange } from './member.ts';
import { changedNames, hasName, namesOf } from './names.ts';
import { isEqual, type MemberRecord, type MemberRecords } from './record.ts';

/**
 * Sets the member's own names. A name that is left out keeps the member's own value, or else the
 * record's. A partner's never takes its place, since every confirmed partner sees these names.
 * Undefined if there is no such member.
 */
export function updateOwnNames(
  records: MemberRecords,
  memberId: string,
  change: NamesChange,
): MemberRecord | undefined {
  const record = records.byId(memberId);
  if (record === undefined) return undefined;
  if (change.firstName === undefined && change.lastName === undefined) return record;
  const names = changedNames(record.ownNames ?? namesOf(record), change);
  const wanted = { ...record, ownNames: hasName(names) ? names : undefined };
  return isEqual(record, wanted) ? record : records.write(record, wanted);
}
