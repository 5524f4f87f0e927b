// The rules of merging two members: the record that they become, and what partners learn.
import { activeEnrollment, confirmedByApp, withoutApps } from './enrollment.ts';
import { eventsOf, type MemberEvent, newEvent } from './events.ts';
import type { Address, Enrollment } from './member.ts';
import { hasName, partnerNames, withNames } from './names.ts';
import { type MemberRecord, seenBy, timeAfter } from './record.ts';

/**
 * The record that two become. No partner sees or uses more of it than it could of both, unless it
 * is confirmed: then it sees the current address and the member's own names. What was mailed to the
 * member who goes is void, and so is what apps have confirmed there: their consents end.
 */
export function mergedRecord(into: MemberRecord, other: MemberRecord): MemberRecord {
  const from = withoutItsApps(other);
  const own = new Set([into.address, ...into.earlier, from.address, ...from.earlier]);
  const others = [...from.earlier, from.address, ...into.earlier];
  const locked = [...(into.locked ?? []), ...(from.locked ?? [])];
  const unconfirmed = [...(into.unconfirmed ?? []), ...(from.unconfirmed ?? [])];
  const partnerIds = new Set(
    [...into.enrollments, ...from.enrollments].map((one) => one.partnerId),
  );
  return {
    ...into,
    ownNames: into.ownNames ?? from.ownNames,
    earlier: others.filter((one) => one !== into.address),
    released: [...new Set([...into.released, ...from.released])].filter((one) => !own.has(one)),
    ...(locked.length > 0 && { locked }),
    ...(unconfirmed.length > 0 && { unconfirmed }),
    enrollments: Array.from(partnerIds, (partnerId) => joined(into, from, partnerId)),
  };
}

/** The time of a merge: later than any change of the two that a partner could see. */
export function timeOfMerge(into: MemberRecord, from: MemberRecord): number {
  return Math.max(timeAfter(into), timeAfter(from));
}

/** The events of replacing two records by the one that they became, as it is stored. */
export function eventsOfMerge(
  before: MemberRecord,
  from: MemberRecord,
  next: MemberRecord,
  occurredAt: number,
): MemberEvent[] {
  const told = new Set(from.enrollments.map(({ partnerId }) => partnerId));
  const merged = from.enrollments.map(({ partnerId }) => {
    const externalId = activeEnrollment(next, partnerId)?.externalId;
    const about = { partnerId, memberId: next.memberId, mergedMemberId: from.memberId };
    return newEvent('MEMBER_MERGED', occurredAt, { ...about, ...(externalId && { externalId }) });
  });
  return [...eventsOf(before, next).filter(({ partnerId }) => !told.has(partnerId)), ...merged];
}

function joined(into: MemberRecord, from: MemberRecord, partnerId: string): Enrollment {
  const own = into.enrollments.find((one) => one.partnerId === partnerId);
  const other = from.enrollments.find((one) => one.partnerId === partnerId);
  const sides = [own, other].filter((one) => one !== undefined);
  const { confirmedBy: apps = [] } = own ?? {};
  if (apps.length > 0)
    return apps.reduce(confirmedByApp, joined(withoutItsApps(into), from, partnerId));
  const active = sides.filter(({ status }) => status === 'ACTIVE');
  const confirmed = sides.find((one) => !one.unconfirmed);
  const [first] = [...active, ...sides];
  if (first === undefined) throw new Error('neither member was enrolled with the partner');
  const [externalId, ...otherIds] = new Set(active.flatMap(externalIdsOf));
  const began = active.flatMap(({ enrolledAt }) => enrolledAt ?? []);
  const next: Enrollment = {
    ...first,
    updatedAt: own?.updatedAt ?? 0,
    externalId,
    otherExternalIds: otherIds.length > 0 ? otherIds : undefined,
    enrolledAt: began.length > 0 ? Math.min(...began) : first.enrolledAt,
    unconfirmed: confirmed ? undefined : true,
    confirmedAt: confirmed?.confirmedAt,
    confirmedBy: confirmed?.confirmedBy,
    ...(active.length > 0 && usable(into, from, partnerId, confirmed !== undefined)),
  };
  const pairs = [own && partnerNames(into, own), other && partnerNames(from, other)];
  return withNames(into, next, pairs.find((names) => names && hasName(names)) ?? {});
}

function withoutItsApps(record: MemberRecord): MemberRecord {
  return { ...record, enrollments: record.enrollments.map((one) => withoutApps(one, () => true)) };
}

/** Which addresses the partner of active enrollments of the two may see and use. */
function usable(
  into: MemberRecord,
  from: MemberRecord,
  partnerId: string,
  isConfirmed: boolean,
): Pick<Enrollment, 'written' | 'limited' | 'withheld'> {
  const [own, other] = [activeEnrollment(into, partnerId), activeEnrollment(from, partnerId)];
  const written = [...(other?.written ?? []), ...(own?.written ?? [])];
  if (isConfirmed) return { written, limited: undefined, withheld: undefined };
  const known = other ? writtenOf(from, other) : [];
  if (own === undefined || own.limited)
    return { written: [...known, ...(own?.written ?? [])], limited: true, withheld: undefined };
  const isKnown = (address: string) => known.some(({ canonical }) => canonical === address);
  const hidden = [from.address, ...from.earlier].filter((address) => !isKnown(address));
  const withheld = [...(own.withheld ?? []), ...hidden];
  return { written, limited: undefined, withheld: withheld.length > 0 ? withheld : undefined };
}

/** The addresses that a partner may use, as it would have written them; the one it sees is last. */
function writtenOf(record: MemberRecord, enrollment: Enrollment): Address[] {
  const { limited, written = [], withheld = [] } = enrollment;
  if (limited) return written;
  const earlier = record.earlier
    .filter((one) => !withheld.includes(one))
    .map(
      (canonical) =>
        written.find((one) => one.canonical === canonical) ?? { typed: canonical, canonical },
    );
  return [...earlier, { typed: seenBy(record, enrollment).email, canonical: record.address }];
}

function externalIdsOf({ externalId, otherExternalIds = [] }: Enrollment): string[] {
  return externalId === undefined ? otherExternalIds : [externalId, ...otherExternalIds];
}
