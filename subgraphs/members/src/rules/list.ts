// The lists of a partner's members: their order, their pages, and when a change shows in them.
import type { Enrollment, PartnerMember } from './member.ts';
import type { MemberRecord } from './record.ts';

/** Lists are in this order. An empty ID is before all others of the time. */
export type ListPosition = { updatedAt: number; memberId: string };

/** One member in the list of a partner. */
export type ListKey = ListPosition & Pick<Enrollment, 'partnerId' | 'status'>;

export type ListQuery = {
  partnerId: string;
  status: Enrollment['status'];
  after: ListPosition;
  /** The list ends before this time. */
  until: number;
  limit: number;
};

/** `member` is the member as the partner sees it, if the enrollment is active. */
export type ListEntry = ListKey & { member?: PartnerMember | undefined };

/**
 * A list ends so long before now: what is stamped earlier has been committed by then, so that
 * nothing is added to a page that was read.
 */
export const SETTLED_MS = 1_000;

/** Where lists have the member: once for each partner. */
export function listKeysOf({
  memberId,
  enrollments,
}: Pick<MemberRecord, 'memberId' | 'enrollments'>): ListKey[] {
  return enrollments.map(({ partnerId, status, updatedAt }) => {
    return { partnerId, status, updatedAt, memberId };
  });
}

/** IDs are compared as engines do, by their bytes. */
export function byPosition(one: ListPosition, other: ListPosition): number {
  return (
    one.updatedAt - other.updatedAt ||
    Buffer.compare(Buffer.from(one.memberId), Buffer.from(other.memberId))
  );
}
