// The lists of a partner's members: their order, their pages, and when a change shows in them.
import type { Enrollment, PartnerMember } from './member.ts';

/** Lists are in this order. An empty ID is before all others of the time. */
export type ListPosition = { updatedAt: number; memberId: string };

export type ListQuery = {
  partnerId: string;
  status: Enrollment['status'];
  after: ListPosition;
  /** The list ends before this time. */
  until: number;
  limit: number;
};

/** `member` is the member as the partner sees it, if the enrollment is active. */
export type ListEntry = ListPosition &
  Pick<Enrollment, 'partnerId' | 'status'> & { member?: PartnerMember | undefined };

/**
 * A list ends so long before now: what is stamped earlier has been committed by then, so that
 * nothing is added to a page that was read.
 */
export const SETTLED_MS = 1_000;

/** IDs are compared as engines do, by their bytes. */
export function byPosition(one: ListPosition, other: ListPosition): number {
  return (
    one.updatedAt - other.updatedAt ||
    Buffer.compare(Buffer.from(one.memberId), Buffer.from(other.memberId))
  );
}
