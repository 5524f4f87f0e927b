// What rules need from an engine, and the enrollments on any engine.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import {
  changeExternalId,
  endEnrollment,
  enroll,
  enrollInvited,
  updateNames,
} from '../rules/enrollment.ts';
import type { EnrollInput, NamesChange } from '../rules/member.ts';
import { formsOf } from '../rules/ownership.ts';
import { updateOwnNames } from '../rules/ownnames.ts';
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

/** The rules of enrollments and names, each applied as one step. */
export function createEnrollmentStore({ apply }: Pick<Engine, 'apply'>) {
  return {
    enroll: (input: EnrollInput) =>
      apply([], keysToEnroll(input), (records) => enroll(records, input)),

    enrollInvited: (input: EnrollInput) =>
      apply([], keysToEnroll(input), (records) => enrollInvited(records, input)),

    endEnrollment: (partnerId: string, memberId: string) =>
      apply([memberId], [], (records) => endEnrollment(records, partnerId, memberId)),

    changeExternalId: (partnerId: string, memberId: string, externalId: string | undefined) =>
      apply(
        [memberId],
        externalId === undefined ? [] : [externalKey(partnerId, externalId)],
        (records) => changeExternalId(records, partnerId, memberId, externalId),
      ),

    updateNames: (partnerId: string, memberId: string, change: NamesChange) =>
      apply([memberId], [], (records) => updateNames(records, partnerId, memberId, change)),

    /** Returns the member. */
    updateOwnNames: (memberId: string, change: NamesChange) =>
      apply([memberId], [], (records) => updateOwnNames(records, memberId, change)),
  };
}

function keysToEnroll({ partnerId, address, externalId }: EnrollInput): string[] {
  return [
    ...formsOf(address).map(addressKey),
    ...(externalId === undefined ? [] : [externalKey(partnerId, externalId)]),
  ];
}
