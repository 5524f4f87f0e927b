// The rows of members, by ID: what finds and lists them follows from each row.
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { type Entry, type Index, table } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { MemberEvent } from '../rules/events.ts';
import type { Enrollment, MergedMember, PartnerMember } from '../rules/member.ts';
import { namesOf } from '../rules/names.ts';
import {
  enrollmentKeys,
  hasAddress,
  isLocked,
  type MemberRecord,
  memberKeys,
  seenBy,
} from '../rules/record.ts';
import { addressesIn } from './traces.ts';

/** What a look-up returns: all of it is in the row of a key. The member's own keys have the ID. */
type Found = Pick<PartnerMember, 'memberId'> & Partial<PartnerMember>;

/** By what leads to a member (rules/record.ts). */
export const KEYS = table<Found>('keys', { nearby: true, isUnique: true });
/** What a partner sees in its lists, by [partner, status, time, member]. */
export const LISTS = table<Partial<PartnerMember>>('lists', { isUnique: true });
/** The members whose records have an address that does not lead to them, by [address, member]. */
export const MENTIONS = table('mentions', { isUnique: true });

/** The members at whom an app has confirmed its partner, by [app, member]. */
export const CONFIRMATIONS = table('confirmations', { isUnique: true });

/** A member, or what is left under the ID of one who is part of another member now. */
export type MemberRow = MemberRecord | MergedMember;

export const MEMBERS = table<MemberRow>('members', {
  indexes: [
    indexOf(KEYS, keyEntries, (entry) => (entry.row as Found).memberId),
    indexOf(LISTS, listEntries, ({ key }) => key[3]),
    indexOf(MENTIONS, mentionEntries, ({ key }) => key[1]),
    indexOf(CONFIRMATIONS, confirmationEntries, ({ key }) => key[1]),
  ],
});

/** Events of changes that have not been taken over yet, in the order of time. */
export const EVENTS = table<MemberEvent>('events', { isUnique: true });

export function isMerged(row: MemberRow): row is MergedMember {
  return 'mergedInto' in row;
}

/** The key of a row in KEYS. */
export function partsOf(key: string): Key {
  return key.split('\n');
}

function indexOf(
  index: Index['table'],
  entriesOf: (record: MemberRecord) => Entry<object>[],
  idOf: (entry: Entry<object>) => Key[number] | undefined,
): Index<MemberRow> {
  return {
    table: index,
    entriesOf: (row) => (isMerged(row) ? [] : entriesOf(row)),
    rowKeyOf: (entry) => [idOf(entry) ?? ''],
  };
}

function keyEntries(record: MemberRecord): Entry<Found>[] {
  const { memberId } = record;
  const own = memberKeys(record).map((key) => ({ key: partsOf(key), row: { memberId } }));
  const others = record.enrollments.flatMap((enrollment) => {
    const keys = enrollmentKeys(record, enrollment);
    const row = keys.length > 0 ? shownBy(record, enrollment) : { memberId };
    return keys.map((key) => ({ key: partsOf(key), row }));
  });
  return [...own, ...others];
}

function listEntries(record: MemberRecord): Entry<Partial<PartnerMember>>[] {
  return record.enrollments.map((enrollment) => ({
    key: [enrollment.partnerId, enrollment.status, enrollment.updatedAt, record.memberId],
    row: enrollment.status === 'ACTIVE' ? shownBy(record, enrollment) : {},
  }));
}

function mentionEntries(record: MemberRecord): Entry<object>[] {
  const mentioned = [...addressesIn(record)].filter(
    (address) => !hasAddress(record, address) && !isLocked(record, address),
  );
  return mentioned.map((address) => ({ key: [address, record.memberId], row: {} }));
}

function confirmationEntries({ memberId, enrollments }: MemberRecord): Entry<object>[] {
  const apps = new Set(enrollments.flatMap(({ confirmedBy = [] }) => confirmedBy));
  return Array.from(apps, (clientId) => ({ key: [clientId, memberId], row: {} }));
}

/** The member as its partner sees it, without fields that have no value. */
function shownBy(record: MemberRecord, enrollment: Enrollment): PartnerMember {
  const { memberId, email, ...names } = seenBy(record, enrollment);
  const { externalId, enrolledAt } = enrollment;
  return {
    memberId,
    email,
    ...namesOf(names),
    enrollment: {
      ...(externalId !== undefined && { externalId }),
      ...(enrolledAt !== undefined && { enrolledAt }),
    },
  };
}
