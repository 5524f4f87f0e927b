// A member's places in the lists of partners, as a field of its document that an index orders.
import { hash } from 'node:crypto';
import { type ListPosition, listKeysOf } from '../rules/list.ts';
import type { Enrollment } from '../rules/member.ts';
import type { MemberRecord } from '../rules/record.ts';

/** The place in the list of each partner, by status and by the partner's field. */
export type Listed = { [Status in Enrollment['status']]?: Record<string, string> };

export function listedOf(record: Pick<MemberRecord, 'memberId' | 'enrollments'>): Listed {
  const listed: Listed = {};
  for (const { partnerId, status, ...position } of listKeysOf(record))
    listed[status] = { ...listed[status], [fieldOf(partnerId)]: placeOf(position) };
  return listed;
}

const TIME_DIGITS = 16;

/** A text in the order of lists. */
export function placeOf({ updatedAt, memberId }: ListPosition): string {
  return `${String(updatedAt).padStart(TIME_DIGITS, '0')}\n${memberId}`;
}

/** The time of a place. */
export function timeOf(place: string): number {
  return Number(place.slice(0, TIME_DIGITS));
}

/** Short, and without characters that mean something in a path. */
export function fieldOf(partnerId: string): string {
  return hash('sha256', partnerId, 'base64url').slice(0, 22);
}
