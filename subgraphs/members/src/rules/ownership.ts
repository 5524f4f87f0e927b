// The rules of ownership: an address and a partner's external ID lead to one member at most.
import {
  addressKey,
  externalKey,
  isLocked,
  keysOf,
  type MemberRecord,
  type MemberRecords,
} from './record.ts';

/**
 * Writes a record with all its addresses and external IDs. Other members lose an address that is
 * only history to them. Refused, without any write, if an address is another member's current one
 * or locked there, or an external ID is active for another member.
 */
export function claim(
  records: MemberRecords,
  before: MemberRecord | undefined,
  next: MemberRecord,
): 'email-in-use' | 'address-locked' | 'external-id-conflict' | undefined {
  const losses = lossesOfOthers(records, before, next);
  if (typeof losses === 'string') return losses;
  if (
    next.enrollments.some(({ partnerId, externalId }) =>
      isExternalIdTaken(records, next.memberId, partnerId, externalId),
    )
  )
    return 'external-id-conflict';
  for (const [memberId, lost] of losses) {
    const loser = records.byId(memberId);
    if (loser === undefined) continue;
    const earlier = loser.earlier.filter((address) => !lost.includes(address));
    records.write(loser, { ...loser, earlier, released: [...loser.released, ...lost] });
  }
  records.write(before, next);
  return undefined;
}

/** Whether an external ID is active for another member of the partner. */
export function isExternalIdTaken(
  records: MemberRecords,
  memberId: string,
  partnerId: string,
  externalId: string | undefined,
): boolean {
  if (externalId === undefined) return false;
  const holder = records.byKey(externalKey(partnerId, externalId));
  return holder !== undefined && holder.memberId !== memberId;
}

/**
 * By member ID, the earlier addresses that others lose to `next`, or why they cannot lose one of
 * them.
 */
function lossesOfOthers(
  records: MemberRecords,
  before: MemberRecord | undefined,
  next: MemberRecord,
): Map<string, string[]> | 'email-in-use' | 'address-locked' {
  const owned = new Set(before && keysOf(before));
  const losses = new Map<string, string[]>();
  for (const address of [next.address, ...next.earlier]) {
    const key = addressKey(address);
    const holder = owned.has(key) ? undefined : records.byKey(key);
    if (holder === undefined || holder.memberId === next.memberId) continue;
    if (isLocked(holder, address)) return 'address-locked';
    if (holder.address === address) return 'email-in-use';
    losses.set(holder.memberId, [...(losses.get(holder.memberId) ?? []), address]);
  }
  return losses;
}
