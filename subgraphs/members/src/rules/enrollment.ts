// The rules of enrolling and ending, and of names (docs/callers/members.md, Enrollment).
import type {
  Address,
  EnrollInput,
  Enrollment,
  EnrollResult,
  ExternalIdResult,
  LookUp,
  Member,
  MergedMember,
  Names,
  NamesChange,
  PartnerMember,
} from './member.ts';
import { changedNames, hasName, namesOf, partnerNames, withNames } from './names.ts';
import { isExternalIdTaken } from './ownership.ts';
import {
  addressKey,
  ended,
  hasAddress,
  isEqual,
  isLocked,
  type MemberRecord,
  type MemberRecords,
  newRecord,
  seenBy,
  withConfirmed,
} from './record.ts';

/**
 * Enrolls the member who has the address, current or earlier, or a new member. Never moves an
 * address, and refuses one that leads to nobody because it is locked. `confirms` says that whoever
 * reads the address's mail has agreed; otherwise the address of a new member and a new enrollment
 * are unconfirmed.
 */
export function enroll(
  records: MemberRecords,
  input: EnrollInput,
  newId: string,
  confirms = false,
): EnrollResult {
  const { partnerId, externalId, address } = input;
  const { canonical } = address;
  const stored = records.byKey(addressKey(canonical));
  if (stored !== undefined && !hasAddress(stored, canonical)) return { outcome: 'email-in-use' };
  const known = stored ?? { ...newRecord(newId, address), unconfirmed: [canonical] };
  const member = confirms ? withConfirmed(known, [canonical]) : known;
  const present = member.enrollments.find((one) => one.partnerId === partnerId);
  const active = activated(present, partnerId, externalId);
  if (active === undefined)
    return { outcome: 'external-id-conflict', reason: 'MEMBER_HAS_ANOTHER' };
  if (isExternalIdTaken(records, member.memberId, partnerId, externalId))
    return { outcome: 'external-id-conflict', reason: 'TAKEN' };
  const trusted = confirms ? confirmed(active) : active;
  const enrollment = withSentNames(member, withWritten(member, present, trusted, address), input);
  const wanted = { ...member, enrollments: withEnrollment(member.enrollments, enrollment) };
  const next = isEqual(stored, wanted) ? wanted : records.write(stored, wanted);
  const created = present?.status !== 'ACTIVE';
  return { outcome: 'enrolled', member: shownTo(next, enrollment), created };
}

/**
 * The active enrollment in place of `present`, as it is before anybody confirms it; undefined if
 * that is active with another external ID.
 */
function activated(
  present: Enrollment | undefined,
  partnerId: string,
  externalId: string | undefined,
): Enrollment | undefined {
  const next = nextEnrollment(present, partnerId, 'ACTIVE', externalId);
  return next && present === undefined ? { ...next, unconfirmed: true } : next;
}

/** With the address by which the partner begins the enrollment, or may see and use more of it. */
function withWritten(
  { address: current }: MemberRecord,
  present: Enrollment | undefined,
  enrollment: Enrollment,
  address: Address,
): Enrollment {
  const { unconfirmed, limited, written = [], before } = enrollment;
  const isEarlier = address.canonical !== current || undefined;
  if (present?.status !== 'ACTIVE')
    return {
      ...enrollment,
      written: [address],
      limited: unconfirmed && isEarlier,
      ...(before && { before: { ...before, limited: isEarlier } }),
    };
  const { withheld } = enrollment;
  if (withheld?.includes(address.canonical))
    return { ...enrollment, withheld: withheld.filter((one) => one !== address.canonical) };
  if (!limited || written.some(({ canonical }) => canonical === address.canonical))
    return enrollment;
  return { ...enrollment, written: [...written, address] };
}

/** With those names of the input that the partner does not see yet. */
function withSentNames(member: MemberRecord, enrollment: Enrollment, sent: Names): Enrollment {
  const names = { ...namesOf(sent), ...namesOf(partnerNames(member, enrollment)) };
  return withNames(member, enrollment, namesOf(names));
}

/** The enrollment once the member, or an operator, has confirmed it. */
export function confirmed(enrollment: Enrollment): Enrollment {
  const { unconfirmed, confirmedAt, confirmedBy } = enrollment;
  if (!unconfirmed && (confirmedAt === undefined || confirmedBy?.length === 0)) return enrollment;
  const free = { unconfirmed: undefined, limited: undefined, withheld: undefined };
  const at = unconfirmed ? Date.now() : confirmedAt;
  return { ...enrollment, ...free, confirmedAt: at, confirmedBy: [], before: undefined };
}

/** The enrollment once the member has agreed to an app that shows the partner who the member is. */
export function confirmedByApp(enrollment: Enrollment, clientId: string): Enrollment {
  const { unconfirmed, confirmedBy = [], limited, withheld, names } = enrollment;
  if (unconfirmed) {
    const before = { limited, withheld, names };
    return { ...confirmed(enrollment), confirmedBy: [clientId], before };
  }
  if (confirmedBy.length === 0 || confirmedBy.includes(clientId)) return enrollment;
  return { ...enrollment, confirmedBy: [...confirmedBy, clientId] };
}

const UNCONFIRMED = {
  unconfirmed: true,
  confirmedAt: undefined,
  confirmedBy: undefined,
  before: undefined,
} as const;

/** The enrollment without what apps have confirmed: as it was before, if nothing else has. */
export function withoutApps(enrollment: Enrollment, isTaken: (id: string) => boolean): Enrollment {
  const { confirmedBy = [], before = enrollment, written = [] } = enrollment;
  const confirmedByOthers = confirmedBy.filter((one) => !isTaken(one));
  if (confirmedByOthers.length === confirmedBy.length) return enrollment;
  if (confirmedByOthers.length > 0) return { ...enrollment, confirmedBy: confirmedByOthers };
  const { limited, withheld, names } = before;
  const next = { ...enrollment, limited, withheld, names, ...UNCONFIRMED };
  // The addresses that the partner may use have left the member meanwhile.
  return limited && written.length === 0 ? ended(next) : next;
}

/**
 * Enrolls the person who has agreed to it by a link to this address: a new member, or the one whose
 * current address it is. Undefined if it is no longer current, or locked: then somebody else may
 * have agreed. An external ID that conflicts is left out.
 */
export function enrollInvited(
  records: MemberRecords,
  input: EnrollInput,
  newId: string,
): PartnerMember | undefined {
  const { canonical } = input.address;
  const record = records.byKey(addressKey(canonical));
  if (record !== undefined && (record.address !== canonical || isLocked(record, canonical)))
    return undefined;
  const enrolled = enroll(records, input, newId, true);
  const result =
    enrolled.outcome === 'external-id-conflict'
      ? enroll(records, { ...input, externalId: undefined }, newId, true)
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
  const record = recordOf(records, partnerId, memberId);
  const active = record && activeEnrollment(record, partnerId);
  if (record === undefined || active === undefined) return { outcome: 'not-enrolled' };
  if (isExternalIdTaken(records, record.memberId, partnerId, externalId))
    return { outcome: 'external-id-conflict' };
  const { otherExternalIds: _, ...rest } = active;
  const next = { ...rest, externalId };
  return { outcome: 'changed', member: change(records, record, next) };
}

/**
 * Corrects the names that the partner sees, for this partner only. Undefined if the member is not
 * actively enrolled with it.
 */
export function updateNames(
  records: MemberRecords,
  partnerId: string,
  memberId: string,
  wanted: NamesChange,
): PartnerMember | undefined {
  const record = recordOf(records, partnerId, memberId);
  const active = record && activeEnrollment(record, partnerId);
  if (record === undefined || active === undefined) return undefined;
  const names = changedNames(partnerNames(record, active), wanted);
  return change(records, record, withNames(record, active, names));
}

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

/** The member that the partner finds by an ID, which may be that of one who was merged. */
function recordOf(
  records: MemberRecords,
  partnerId: string,
  memberId: string,
): MemberRecord | undefined {
  return records.byId(currentId(records.merged(memberId), partnerId) ?? memberId);
}

/** Stores an active enrollment of a member, if that changes anything. */
function change(records: MemberRecords, record: MemberRecord, next: Enrollment): PartnerMember {
  const wanted = { ...record, enrollments: withEnrollment(record.enrollments, next) };
  return shownTo(isEqual(record, wanted) ? record : records.write(record, wanted), next);
}

/**
 * Ends an enrollment and frees its external ID. Ended before, it stays so. If the member leaves the
 * partner, it is no longer confirmed, even then. False if the member was never enrolled with the
 * partner.
 */
export function endEnrollment(
  records: MemberRecords,
  partnerId: string,
  memberId: string,
  isLeft = false,
): boolean {
  const record = recordOf(records, partnerId, memberId);
  const enrollment = record?.enrollments.find((one) => one.partnerId === partnerId);
  if (record === undefined || enrollment === undefined) return false;
  const kept = isLeft ? { ...enrollment, ...UNCONFIRMED } : enrollment;
  const enrollments = withEnrollment(record.enrollments, ended(kept));
  // A link that it has asked for would confirm it again.
  const tokens = record.tokens?.filter(
    (one) => one.use !== 'sign-in' || one.partnerId !== partnerId,
  );
  const next = { ...record, enrollments, ...(tokens && { tokens }) };
  if ((isLeft || enrollment.status === 'ACTIVE') && !isEqual(record, next))
    records.write(record, next);
  return true;
}

/**
 * The enrollment in place of `present`, with this status; undefined if it is active with another
 * external ID.
 */
export function nextEnrollment(
  present: Enrollment | undefined,
  partnerId: string,
  status: Enrollment['status'],
  externalId: string | undefined,
): Enrollment | undefined {
  const updatedAt = present?.updatedAt ?? 0; // Writing the record sets the time.
  if (status === 'ENDED') return ended({ ...present, partnerId, status, updatedAt });
  const kept = present?.externalId ?? externalId;
  const isOther = externalId !== undefined && kept !== externalId;
  if (isOther && !present?.otherExternalIds?.includes(externalId)) return undefined;
  const enrolledAt = present?.status === 'ACTIVE' ? present.enrolledAt : Date.now();
  return { ...present, partnerId, status, externalId: kept, enrolledAt, updatedAt };
}

/** The enrollments with one of them added, or in the place of the partner's former one. */
export function withEnrollment(enrollments: Enrollment[], next: Enrollment): Enrollment[] {
  return enrollments.some(({ partnerId }) => partnerId === next.partnerId)
    ? enrollments.map((one) => (one.partnerId === next.partnerId ? next : one))
    : [...enrollments, next];
}

export function activeEnrollment(
  { enrollments }: Pick<Member, 'enrollments'>,
  partnerId: string,
): Enrollment | undefined {
  return enrollments.find((one) => one.partnerId === partnerId && one.status === 'ACTIVE');
}

/** The member as the partner sees it; undefined if not actively enrolled with it. */
export function partnerMember(member: Member, partnerId: string): PartnerMember | undefined {
  const enrollment = activeEnrollment(member, partnerId);
  return enrollment && shownTo(member, enrollment);
}

/** `wanted` has not got its time of writing. */
function shownTo(member: Member, wanted: Enrollment): PartnerMember {
  const enrollment = activeEnrollment(member, wanted.partnerId) ?? wanted;
  return { ...seenBy(member, enrollment), enrollment };
}

/** The member that a partner finds in place of one who was merged. */
export function currentId(merged: MergedMember | undefined, partnerId: string): string | undefined {
  return merged?.partnerIds.includes(partnerId) ? merged.mergedInto : undefined;
}

/** What a partner finds by the ID of a member, unless the member was erased. */
export function lookUpOf(found: Member | undefined, partnerId: string): LookUp {
  if (found === undefined) return { status: 'NOT_FOUND' };
  const member = partnerMember(found, partnerId);
  if (member !== undefined) return { status: 'FOUND', member };
  const isKnown = found.enrollments.some((one) => one.partnerId === partnerId);
  return { status: isKnown ? 'ENDED' : 'NOT_FOUND' };
}

/** What the mark of an erased member is made of for a partner that the member was enrolled with. */
export function enrolledMark(partnerId: string, memberId: string): string {
  return `${partnerId}\n${memberId}`;
}
