// The rules of merging two members: who can be merged, and the record that they become.
import { activeEnrollment } from './enrollment.ts';
import { eventsOf, type MemberEvent, newEvent } from './events.ts';
import type { Address, Enrollment } from './member.ts';
import { hasName, partnerNames, withNames } from './names.ts';
import { type MemberRecord, type MemberRecords, seenBy, timeAfter } from './record.ts';

/** The IDs of the member who goes and of the one who stays. */
export type MergedPair = { from: string; into: string };

/** What partners find under the ID of a member who is part of another one now. */
export type MergedMember = {
  mergedInto: string;
  /** The partners that the member was ever enrolled with: others find nobody. */
  partnerIds: string[];
};

/** `begun` is a merge that can only be completed. */
export type MergeState = 'ready' | 'begun' | 'merged' | MergeRefusal;
export type MergeRefusal =
  | 'same'
  | 'no-from'
  | 'no-into'
  | 'locked'
  /** Into another one. */
  | 'from-was-merged'
  | 'from-has-merged'
  | 'into-was-merged';

/** What becomes of merging these two. */
export function mergeStateOf(records: MemberRecords, { from, into }: MergedPair): MergeState {
  if (from === into) return 'same';
  const [lost, kept] = [records.byId(from), records.byId(into)];
  const goesInto = records.mergedInto(from) ?? lost?.mergingInto ?? into;
  if (goesInto !== into) return 'from-was-merged';
  if (records.mergedInto(from) !== undefined) return 'merged';
  if (lost === undefined) return 'no-from';
  if (kept?.mergingInto !== undefined || records.mergedInto(into) !== undefined)
    return 'into-was-merged';
  if (kept === undefined) return 'no-into';
  if (lost.merged !== undefined) return 'from-has-merged';
  if (lost.mergingInto !== undefined && kept.merged?.includes(from)) return 'begun';
  return lost.locked || kept.locked ? 'locked' : 'ready';
}

/**
 * Marks one of the two: first the member who goes, then the one who stays. Each mark is made only
 * if the other member's allows it, so that two merges that share a member never both begin.
 */
export function claimMerge(records: MemberRecords, pair: MergedPair): MergeState {
  const state = mergeStateOf(records, pair);
  const [lost, kept] = [records.byId(pair.from), records.byId(pair.into)];
  if (state !== 'ready' || lost === undefined || kept === undefined) return state;
  if (lost.mergingInto === undefined) records.write(lost, { ...lost, mergingInto: pair.into });
  else records.write(kept, { ...kept, merged: [...(kept.merged ?? []), pair.from] });
  return state;
}

/** Takes back what claimMerge has marked. */
export function releaseMerge(records: MemberRecords, { from, into }: MergedPair): void {
  const [lost, kept] = [records.byId(from), records.byId(into)];
  const merged = kept?.merged?.filter((one) => one !== from) ?? [];
  if (kept?.merged?.includes(from))
    records.write(kept, { ...kept, merged: merged.length > 0 ? merged : undefined });
  if (lost?.mergingInto === into) records.write(lost, { ...lost, mergingInto: undefined });
}

/**
 * The record that two become. No partner sees or uses more of it than it could of both, unless it
 * is confirmed: then it sees the current address and the member's own names. What was mailed to the
 * member who goes is void.
 */
export function mergedRecord(into: MemberRecord, from: MemberRecord): MemberRecord {
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

/** The events of replacing two records by the one that they became, as it is stored. */
export function eventsOfMerge(
  before: MemberRecord,
  from: MemberRecord,
  next: MemberRecord,
): MemberEvent[] {
  const told = new Set(from.enrollments.map(({ partnerId }) => partnerId));
  const occurredAt = Math.max(timeAfter(before), timeAfter(from));
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
    ...usable(into, from, active, confirmed !== undefined),
  };
  const pairs = [
    ...(own ? [partnerNames(into, own)] : []),
    ...(other ? [partnerNames(from, other)] : []),
  ];
  return withNames(into, next, pairs.find(hasName) ?? {});
}

/** Which addresses the partner of active enrollments of the two may see and use. */
function usable(
  into: MemberRecord,
  from: MemberRecord,
  active: readonly Enrollment[],
  isConfirmed: boolean,
): Pick<Enrollment, 'written' | 'limited' | 'withheld'> {
  const own = active.find((one) => into.enrollments.includes(one));
  const other = active.find((one) => from.enrollments.includes(one));
  const written = [...(other?.written ?? []), ...(own?.written ?? [])];
  if (active.length === 0) return {};
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
