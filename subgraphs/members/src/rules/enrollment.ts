// The rules of enrolling and ending (docs/api.md, Enrollment); engines apply them atomically.
import { randomUUID } from 'node:crypto';
import type {
  EnrollInput,
  Enrollment,
  EnrollResult,
  ExternalIdResult,
  Member,
  PartnerMember,
} from './member.ts';
import { isExternalIdTaken } from './ownership.ts';
import {
  addressKey,
  hasAddress,
  isEqual,
  isLocked,
  type MemberRecord,
  type MemberRecords,
  newRecord,
  withConfirmed,
} from './record.ts';

/**
 * Enrolls the member who has the address, current or earlier, or a new member. Never moves an
 * address, and refuses one that leads to nobody because it is locked. `confirms` says that whoever
 * reads the address's mail has agreed; otherwise the address of a new member is unconfirmed.
 */
export function enroll(
  records: MemberRecords,
  { partnerId, address, externalId, ...names }: EnrollInput,
  confirms = false,
): EnrollResult {
  const { canonical } = address;
  const stored = records.byKey(addressKey(canonical));
  if (stored !== undefined && !hasAddress(stored, canonical)) return { outcome: 'email-in-use' };
  const unconfirmed = [canonical];
  const known = stored ?? { ...newRecord(randomUUID(), address, names), unconfirmed };
  const member = confirms ? withConfirmed(known, [canonical]) : known;
  const enrollments = withEnrollment(member.enrollments, partnerId, 'ACTIVE', externalId);
  if (enrollments === undefined)
    return { outcome: 'external-id-conflict', reason: 'MEMBER_HAS_ANOTHER' };
  if (isExternalIdTaken(records, member.memberId, partnerId, externalId))
    return { outcome: 'external-id-conflict', reason: 'TAKEN' };
  const wanted = { ...member, ...missingNames(member, partnerId, names), enrollments };
  const next = isEqual(stored, wanted) ? wanted : records.write(stored, wanted);
  const created = activeEnrollment(member, partnerId) === undefined;
  return { outcome: 'enrolled', member: next, created };
}

/**
 * The names that a member lacks, if no other partner ever enrolled the member: another partner
 * might know the person by other names.
 */
function missingNames(
  { enrollments, firstName, lastName }: MemberRecord,
  partnerId: string,
  names: Pick<EnrollInput, 'firstName' | 'lastName'>,
): Pick<EnrollInput, 'firstName' | 'lastName'> {
  if (enrollments.some((one) => one.partnerId !== partnerId)) return {};
  return {
    ...(firstName === undefined && names.firstName !== undefined && { firstName: names.firstName }),
    ...(lastName === undefined && names.lastName !== undefined && { lastName: names.lastName }),
  };
}

/**
 * Enrolls the person who has agreed to it by a link to this address: a new member, or the one whose
 * current address it is. Undefined if it is no longer current, or locked: then somebody else may
 * have agreed. An external ID that conflicts is left out.
 */
export function enrollInvited(records: MemberRecords, input: EnrollInput): Member | undefined {
  const { canonical } = input.address;
  const record = records.byKey(addressKey(canonical));
  if (record !== undefined && (record.address !== canonical || isLocked(record, canonical)))
    return undefined;
  const enrolled = enroll(records, input, true);
  const result =
    enrolled.outcome === 'external-id-conflict'
      ? enroll(records, { ...input, externalId: undefined }, true)
      : enrolled;
  return result.outcome === 'enrolled' ? result.member : undefined;
}

/**
 * Sets the external ID of an active enrollment, or takes it away. Refused if it is active for
 * another member of the partner.
 */
export function changeExternalId(
  records: MemberRecords,
  partnerId: string,
  memberId: string,
  externalId: string | undefined,
): ExternalIdResult {
  const record = records.byId(memberId);
  const active = record && activeEnrollment(record, partnerId);
  if (record === undefined || active === undefined) return { outcome: 'not-enrolled' };
  if (isExternalIdTaken(records, memberId, partnerId, externalId))
    return { outcome: 'external-id-conflict' };
  if (externalId === active.externalId) return { outcome: 'changed', member: record };
  const { status, enrolledAt, updatedAt } = active;
  const changed = { partnerId, status, externalId, enrolledAt, updatedAt };
  const enrollments = record.enrollments.map((one) => (one === active ? changed : one));
  return { outcome: 'changed', member: records.write(record, { ...record, enrollments }) };
}

/**
 * Ends an enrollment and frees its external ID. Ended before, it stays so. False if the member was
 * never enrolled with the partner.
 */
export function endEnrollment(
  records: MemberRecords,
  partnerId: string,
  memberId: string,
): boolean {
  const record = records.byId(memberId);
  const enrollment = record?.enrollments.find((one) => one.partnerId === partnerId);
  if (record === undefined || enrollment === undefined) return false;
  const enrollments = withEnrollment(record.enrollments, partnerId, 'ENDED', undefined);
  if (enrollments !== undefined && enrollment.status === 'ACTIVE')
    records.write(record, { ...record, enrollments });
  return true;
}

/**
 * The enrollments with one of them added or changed; undefined if it is active with another
 * external ID.
 */
export function withEnrollment(
  enrollments: Enrollment[],
  partnerId: string,
  status: Enrollment['status'],
  externalId: string | undefined,
): Enrollment[] | undefined {
  const present = enrollments.find((one) => one.partnerId === partnerId);
  const kept = status === 'ACTIVE' ? (present?.externalId ?? externalId) : undefined;
  if (status === 'ACTIVE' && externalId !== undefined && kept !== externalId) return undefined;
  const isKept = present?.status === 'ACTIVE';
  const enrolledAt = status !== 'ACTIVE' ? undefined : isKept ? present.enrolledAt : Date.now();
  const updatedAt = present?.updatedAt ?? 0; // Writing the record sets the time.
  const next = { partnerId, status, externalId: kept, enrolledAt, updatedAt };
  return present === undefined
    ? [...enrollments, next]
    : enrollments.map((one) => (one === present ? next : one));
}

export function activeEnrollment(
  { enrollments }: Pick<MemberRecord, 'enrollments'>,
  partnerId: string,
): Enrollment | undefined {
  return enrollments.find((one) => one.partnerId === partnerId && one.status === 'ACTIVE');
}

/** The member as the partner sees it, with the enrollment. */
export function partnerMember(member: Member, partnerId: string): PartnerMember {
  return { ...member, enrollment: activeEnrollment(member, partnerId) };
}
