// Which events a change of a member's record has.
import { randomUUID } from 'node:crypto';
import type { Enrollment } from './member.ts';
import { type MemberRecord, shownBy, timeAfter } from './record.ts';

/** What a partner learns of a change. It names nobody. The field names are the stored format. */
export type MemberEvent = {
  /** Unique, whatever happens to the event later. */
  id: string;
  type: MemberEventType;
  /** In milliseconds since 1970. */
  occurredAt: number;
  partnerId: string;
  memberId: string;
  /** The external ID after the change; of an enrollment that ended, the one it had. */
  externalId?: string | undefined;
  /** The member who is part of this one now. */
  mergedMemberId?: string;
};

type MemberEventType = keyof typeof SHOWN_BY | 'MEMBER_ERASED' | 'MEMBER_MERGED';

/** One partner's enrollment before and after a change, with the whole records. */
type Change = {
  before: MemberRecord | undefined;
  next: MemberRecord;
  was: Enrollment | undefined;
  is: Enrollment;
};

/** By type, whether a change has the event. Several have the order of this table. */
const SHOWN_BY = {
  MEMBER_ENROLLED: ({ was, is }: Change) => is.status === 'ACTIVE' && was?.status !== 'ACTIVE',
  ENROLLMENT_ENDED: ({ was, is }: Change) => is.status === 'ENDED' && was?.status === 'ACTIVE',
  EXTERNAL_ID_CHANGED: (change: Change) =>
    staysActive(change) && change.was?.externalId !== change.is.externalId,
  MEMBER_UPDATED: (change: Change) => staysActive(change) && isUpdatedOtherwise(change),
};

// Cast: Object.keys does not have the type of the keys.
const TYPES = Object.keys(SHOWN_BY) as (keyof typeof SHOWN_BY)[];

/**
 * The events of replacing a record as it is stored by another one, or of erasing it: for each
 * partner that could see the change, and of an erasure for each that ever enrolled the member.
 */
export function eventsOf(
  before: MemberRecord | undefined,
  next: MemberRecord | undefined,
): MemberEvent[] {
  if (next === undefined) return before === undefined ? [] : eventsOfErasing(before);
  const { memberId } = next;
  return next.enrollments.flatMap((is) => {
    const { partnerId, updatedAt: occurredAt } = is;
    const was = before?.enrollments.find((one) => one.partnerId === partnerId);
    if (was?.updatedAt === occurredAt) return [];
    const externalId = is.externalId ?? (is.status === 'ENDED' ? was?.externalId : undefined);
    const about = { partnerId, memberId, ...(externalId !== undefined && { externalId }) };
    return TYPES.filter((type) => SHOWN_BY[type]({ before, next, was, is })).map((type) =>
      newEvent(type, occurredAt, about),
    );
  });
}

export function newEvent(
  type: MemberEventType,
  occurredAt: number,
  about: Omit<MemberEvent, 'id' | 'type' | 'occurredAt'>,
): MemberEvent {
  return { id: randomUUID(), type, occurredAt, ...about };
}

/** The event as it is after its member was erased. */
export function withoutExternalId({ externalId: _, ...event }: MemberEvent): MemberEvent {
  return event;
}

function eventsOfErasing(before: MemberRecord): MemberEvent[] {
  const { memberId, enrollments } = before;
  const occurredAt = timeAfter(before);
  return enrollments.map(({ partnerId }) =>
    newEvent('MEMBER_ERASED', occurredAt, { partnerId, memberId }),
  );
}

function staysActive({ was, is }: Change): boolean {
  return was?.status === 'ACTIVE' && is.status === 'ACTIVE';
}

/** Whether the partner would see a change even if the external ID had stayed. */
function isUpdatedOtherwise({ before, next, was, is }: Change): boolean {
  if (before === undefined || was === undefined) return false;
  const [shown, shownNow] = [
    shownBy(before, was),
    shownBy(next, { ...is, externalId: was.externalId }),
  ];
  return shown !== shownNow;
}
