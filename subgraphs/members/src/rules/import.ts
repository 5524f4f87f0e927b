// The rules of importing members; engines apply them atomically.
import { confirmed, nextEnrollment, withEnrollment } from './enrollment.ts';
import type { Enrollment, EnrollmentImport, ImportResult, MemberImport } from './member.ts';
import { namesOf } from './names.ts';
import { claim } from './ownership.ts';
import {
  addressKey,
  isEqual,
  isLocked,
  type MemberRecord,
  type MemberRecords,
  newRecord,
  withConfirmed,
} from './record.ts';

/**
 * Sets a member, found by ID or else by address. Takes over addresses that are only history to
 * other members. A locked address stays where it is. If it is refused, nothing changes.
 */
export function importMember(
  records: MemberRecords,
  line: MemberImport,
  newId: string,
): ImportResult {
  const { memberId, address, previousAddresses } = line;
  const stored =
    memberId === undefined ? records.byKey(addressKey(address.canonical)) : records.byId(memberId);
  if (stored === undefined && memberId !== undefined && records.merged(memberId)) return 'merged';
  const member = stored ?? newRecord(memberId ?? newId, address);
  if (
    member.address !== address.canonical &&
    (isLocked(member, member.address) || isLocked(member, address.canonical))
  )
    return 'address-locked';
  const enrollments = withEnrollments(member.enrollments, line.enrollments);
  if (enrollments === undefined) return 'external-id-conflict';
  const given = [address, ...previousAddresses].map(({ canonical }) => canonical);
  const next: MemberRecord = {
    ...withConfirmed(member, given),
    email: address.typed,
    ...namesOf(line),
    address: address.canonical,
    earlier: earlierAddresses(member, { address, previousAddresses }),
    released: member.released.filter((one) => one !== address.canonical),
    enrollments,
  };
  if (isEqual(stored, next)) return 'unchanged';
  return claim(records, stored, next) ?? (stored === undefined ? 'added' : 'changed');
}

// An address that the member has lost to another one stays lost: a repeated import would move it
// back and forth.
function earlierAddresses(
  { address: current, earlier, released, locked = [] }: MemberRecord,
  { address, previousAddresses }: Pick<MemberImport, 'address' | 'previousAddresses'>,
): string[] {
  const previous = previousAddresses
    .map(({ canonical }) => canonical)
    .filter((one) => !released.includes(one) && !locked.includes(one));
  return [...new Set([...earlier, current, ...previous])].filter(
    (one) => one !== address.canonical,
  );
}

function withEnrollments(
  present: Enrollment[],
  imported: EnrollmentImport[],
): Enrollment[] | undefined {
  let enrollments = present;
  for (const { partnerId, status, externalId } of imported) {
    const known = enrollments.find((one) => one.partnerId === partnerId);
    const nextStatus = status ?? known?.status ?? 'ACTIVE';
    const next = nextEnrollment(known, partnerId, nextStatus, externalId);
    if (next === undefined) return undefined;
    enrollments = withEnrollment(enrollments, confirmed(next));
  }
  return enrollments;
}
