// The lists of partners on LMDB: a key for each enrollment, in the order of the lists.
import type { Database, RootDatabase } from 'lmdb';
import { partnerMember } from '../rules/enrollment.ts';
import { type ListEntry, type ListKey, type ListQuery, listKeysOf } from '../rules/list.ts';
import type { Enrollment } from '../rules/member.ts';
import type { MemberRecord } from '../rules/record.ts';
import type { BuildProgress } from './store.ts';

type StoredKey = [
  partnerId: string,
  status: Enrollment['status'],
  updatedAt: number,
  memberId: string,
];
type Lists = Database<true, StoredKey>;
type Tables = { members: Database<MemberRecord, string>; lists: Lists };

export function openLists(root: RootDatabase): Lists {
  return root.openDB<true, StoredKey>({ name: 'lists', encoding: 'json' });
}

/** The keys that the lists have of a member. */
export function storedKeysOf(record: MemberRecord): StoredKey[] {
  return listKeysOf(record).map(storedKey);
}

/** Changes the lists with a record. Call it in the transaction that writes it. */
export function moveInLists(
  lists: Lists,
  before: MemberRecord | undefined,
  next: MemberRecord | undefined,
): void {
  const stored = new Map((before ? storedKeysOf(before) : []).map((key) => [key.join('\n'), key]));
  for (const key of next ? storedKeysOf(next) : [])
    if (!stored.delete(key.join('\n'))) lists.put(key, true);
  for (const key of stored.values()) lists.remove(key);
}

export function listMembers(
  { members, lists }: Tables,
  { partnerId, status, after, until, limit }: ListQuery,
): ListEntry[] {
  const range = lists.getKeys({
    start: storedKey({ partnerId, status, ...after }),
    exclusiveStart: true,
    end: storedKey({ partnerId, status, updatedAt: until, memberId: '' }),
    limit,
  });
  return Array.from(range, ([, , updatedAt, memberId]) => {
    const record = members.get(memberId);
    const member = record && partnerMember(record, partnerId);
    return { partnerId, status, updatedAt, memberId, member };
  });
}

/** In the root database, says that the lists have every member. */
export const BUILT = 'listed';
/** In a transaction. */
const BUILT_TOGETHER = 1_000;

/** Adds to the lists the members of a version that had none. It can be killed and repeated. */
export async function buildLists(
  root: RootDatabase,
  { members, lists }: Tables,
  onProgress: BuildProgress,
): Promise<void> {
  if (root.get(BUILT)) return;
  const total = members.getKeysCount();
  let built = 0;
  for (let start: string | undefined; ; ) {
    const last = await root.transaction(() => {
      let memberId: string | undefined;
      for (const { key, value } of members.getRange({
        ...(start !== undefined && { start, exclusiveStart: true }),
        limit: BUILT_TOGETHER,
      })) {
        for (const stored of storedKeysOf(value)) lists.put(stored, true);
        memberId = key;
        built += 1;
      }
      if (memberId === undefined) root.put(BUILT, true);
      return memberId;
    });
    if (last === undefined) return;
    onProgress(built, total);
    start = last;
  }
}

function storedKey({ partnerId, status, updatedAt, memberId }: ListKey): StoredKey {
  return [partnerId, status, updatedAt, memberId];
}
