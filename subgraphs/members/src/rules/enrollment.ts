// The rules of enrolling, ending and importing (contract, section 4), written once: an engine lends them its rows and makes each call atomic.
import { randomUUID } from 'node:crypto';
import type {
  EnrollInput,
  Enrollment,
  EnrollResult,
  Identity,
  ImportResult,
  MemberImport,
} from '../store/store.ts';
import { addressKey, externalKey, isSame, keysOf, type StoredMember } from './record.ts';

/** The stored members while a rule acts on them: what it reads holds until its writes are in, or none of them is. */
export type MemberRecords = {
  byId(memberId: string): StoredMember | undefined;
  /** The member whom a key leads to. */
  byKey(key: string): StoredMember | undefined;
  /** Writes a row; `before` is what it was read as. */
  write(before: StoredMember | undefined, next: StoredMember): void;
};

/** Enrolls the member who has the address, current or earlier, or a new one. It never moves an address. */
export function enroll(
  rows: MemberRecords,
  { partnerId, address, externalId, firstName, lastName }: EnrollInput,
): EnrollResult {
  const row = rows.byKey(addressKey(address.canonical));
  const from =
    row ?? newcomer(randomUUID(), address.typed, address.canonical, names(firstName, lastName));
  const enrollments = enrollmentSet(from.enrollments, partnerId, 'ACTIVE', externalId);
  if (enrollments === undefined || isTaken(rows, from.memberId, partnerId, externalId))
    return { outcome: 'external-id-conflict' };
  const member = { ...from, enrollments };
  if (!isSame(row, member)) rows.write(row, member);
  return { outcome: 'enrolled', member, created: activeIn(from, partnerId) === undefined };
}

/** Ends an enrollment and frees its external ID; false where it is not active. */
export function endEnrollment(rows: MemberRecords, partnerId: string, memberId: string): boolean {
  const row = rows.byId(memberId);
  const active = row && activeIn(row, partnerId);
  if (row === undefined || active === undefined) return false;
  rows.write(row, {
    ...row,
    enrollments: row.enrollments.map((one) =>
      one === active ? { partnerId, status: 'ENDED' } : one,
    ),
  });
  return true;
}

/** Sets a member by id, else by address. Takes over addresses that are only history elsewhere; refused, it changes nothing. */
export function importMember(rows: MemberRecords, record: MemberImport): ImportResult {
  const { typed, canonical } = record.address;
  const row =
    record.memberId === undefined ? rows.byKey(addressKey(canonical)) : rows.byId(record.memberId);
  const from = row ?? newcomer(record.memberId ?? randomUUID(), typed, canonical);
  const enrollments = importedEnrollments(from.enrollments, record.enrollments);
  if (enrollments === undefined) return 'external-id-conflict';
  // What the member has given up to another one since stays there: a repeated import would move it to and fro.
  const previous = record.previousAddresses
    .map((one) => one.canonical)
    .filter((one) => !from.released.includes(one));
  const next: StoredMember = {
    ...from,
    email: typed,
    ...names(record.firstName, record.lastName),
    address: canonical,
    earlier: [...new Set([...from.earlier, from.address, ...previous])].filter(
      (one) => one !== canonical,
    ),
    released: from.released.filter((one) => one !== canonical),
    enrollments,
  };
  if (isSame(row, next)) return 'unchanged';
  return claim(rows, row, next) ?? (row === undefined ? 'added' : 'changed');
}

/** Writes a row with addresses that may be other members' history, which these give up; refused where one is another's current address. */
export function claim(
  rows: MemberRecords,
  row: StoredMember | undefined,
  next: StoredMember,
): 'email-in-use' | 'external-id-conflict' | undefined {
  const known = new Set(row && keysOf(row));
  const losses = new Map<string, string[]>();
  for (const address of [next.address, ...next.earlier]) {
    const holder = known.has(addressKey(address)) ? undefined : rows.byKey(addressKey(address));
    if (holder === undefined || holder.memberId === next.memberId) continue;
    if (holder.address === address) return 'email-in-use';
    losses.set(holder.memberId, [...(losses.get(holder.memberId) ?? []), address]);
  }
  if (
    next.enrollments.some(({ partnerId, externalId }) =>
      isTaken(rows, next.memberId, partnerId, externalId),
    )
  )
    return 'external-id-conflict';
  for (const [memberId, lost] of losses) {
    const holder = rows.byId(memberId);
    if (holder === undefined) continue;
    const earlier = holder.earlier.filter((address) => !lost.includes(address));
    rows.write(holder, { ...holder, earlier, released: [...holder.released, ...lost] });
  }
  rows.write(row, next);
  return undefined;
}

function newcomer(
  memberId: string,
  email: string,
  address: string,
  own: Pick<Identity, 'firstName' | 'lastName'> = {},
): StoredMember {
  return { memberId, email, ...own, address, earlier: [], released: [], enrollments: [] };
}

function names(
  firstName: string | undefined,
  lastName: string | undefined,
): Pick<Identity, 'firstName' | 'lastName'> {
  return {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
  };
}

function activeIn(row: StoredMember, partnerId: string): Enrollment | undefined {
  return row.enrollments.find((one) => one.partnerId === partnerId && one.status === 'ACTIVE');
}

function isTaken(
  rows: MemberRecords,
  memberId: string,
  partnerId: string,
  externalId: string | undefined,
): boolean {
  if (externalId === undefined) return false;
  const holder = rows.byKey(externalKey(partnerId, externalId));
  return holder !== undefined && holder.memberId !== memberId;
}

function importedEnrollments(
  present: Enrollment[],
  lines: MemberImport['enrollments'],
): Enrollment[] | undefined {
  let all: Enrollment[] | undefined = present;
  for (const { partnerId, status, externalId } of lines) {
    const known: Enrollment | undefined = all.find((one) => one.partnerId === partnerId);
    all = enrollmentSet(all, partnerId, status ?? known?.status ?? 'ACTIVE', externalId);
    if (all === undefined) return undefined;
  }
  return all;
}

/** The enrollments with one of them set; undefined where it is active with another external ID. */
function enrollmentSet(
  all: Enrollment[],
  partnerId: string,
  status: Enrollment['status'],
  externalId?: string,
): Enrollment[] | undefined {
  const known = all.find((one) => one.partnerId === partnerId);
  const kept = status === 'ACTIVE' ? (known?.externalId ?? externalId) : undefined;
  if (status === 'ACTIVE' && externalId !== undefined && kept !== externalId) return undefined;
  const set: Enrollment = { partnerId, status, ...(kept !== undefined && { externalId: kept }) };
  return known === undefined ? [...all, set] : all.map((one) => (one === known ? set : one));
}
