// What rules need from an engine, and the enrollments on any engine.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import { changeExternalId, endEnrollment, enroll, enrollInvited } from '../rules/enrollment.ts';
import type { EnrollInput, EnrollResult, ExternalIdResult, Member } from '../rules/member.ts';
import { addressKey, externalKey, type MemberRecord, type MemberRecords } from '../rules/record.ts';

export type Engine = {
  /** The member that a key leads to. */
  find(key: string): MaybePromise<MemberRecord | undefined>;
  apply: ApplyRule;
};

/**
 * Applies a rule to the members with these IDs and keys as one step. It may call the rule again if
 * another write comes between; the rule must ask for no other members.
 */
export type ApplyRule = <T>(
  ids: string[],
  keys: string[],
  rule: (records: MemberRecords) => T,
) => Promise<T>;

export type EnrollmentStore = ReturnType<typeof createEnrollmentStore>;

export function createEnrollmentStore({ apply }: Pick<Engine, 'apply'>) {
  return {
    /**
     * Enrolls (docs/api.md, Enrollment). Safe when the address, the member or the external ID is
     * enrolled concurrently.
     */
    enroll: (input: EnrollInput): Promise<EnrollResult> =>
      apply([], keysToEnroll(input), (records) => enroll(records, input)),

    /**
     * Enrolls a person who has agreed to it by a link to this address (docs/api.md, Invitations).
     * An external ID that conflicts is left out. Undefined if the address is locked or no longer
     * its member's current one.
     */
    enrollInvited: (input: EnrollInput): Promise<Member | undefined> =>
      apply([], keysToEnroll(input), (records) => enrollInvited(records, input)),

    /** False if the member is not actively enrolled with the partner. */
    endEnrollment: (partnerId: string, memberId: string): Promise<boolean> =>
      apply([memberId], [], (records) => endEnrollment(records, partnerId, memberId)),

    /**
     * Sets the external ID of an active enrollment, or takes it away. Safe when the external ID is
     * enrolled concurrently.
     */
    changeExternalId: (
      partnerId: string,
      memberId: string,
      externalId: string | undefined,
    ): Promise<ExternalIdResult> =>
      apply(
        [memberId],
        externalId === undefined ? [] : [externalKey(partnerId, externalId)],
        (records) => changeExternalId(records, partnerId, memberId, externalId),
      ),
  };
}

function keysToEnroll({ partnerId, address, externalId }: EnrollInput): string[] {
  return [
    addressKey(address.canonical),
    ...(externalId === undefined ? [] : [externalKey(partnerId, externalId)]),
  ];
}
