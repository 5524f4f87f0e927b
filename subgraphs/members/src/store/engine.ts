// What rules need from an engine, and the enrollments on any engine.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import {
  changeExternalId,
  endEnrollment,
  enroll,
  enrollInvited,
  updateNames,
} from '../rules/enrollment.ts';
import type { EnrollInput, ExternalIdResult, NamesChange } from '../rules/member.ts';
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
export function createEnrollmentStore({
  apply,
  currentId,
}: Pick<Engine, 'apply'> & {
  currentId(partnerId: string, memberId: string): MaybePromise<string | undefined>;
}) {
  /** Again for the member whom a partner finds under the ID of one who was merged. */
  const orMerged = async <T>(
    partnerId: string,
    memberId: string,
    isMissing: (result: T) => boolean,
    run: (memberId: string) => Promise<T>,
  ): Promise<T> => {
    const result = await run(memberId);
    const current = isMissing(result) ? await currentId(partnerId, memberId) : undefined;
    return current === undefined ? result : run(current);
  };
  return {
    enroll: (input: EnrollInput) =>
      apply([], keysToEnroll(input), (records) => enroll(records, input)),

    enrollInvited: (input: EnrollInput) =>
      apply([], keysToEnroll(input), (records) => enrollInvited(records, input)),

    endEnrollment: (partnerId: string, memberId: string) =>
      orMerged(partnerId, memberId, isFalse, (id) =>
        apply([id], [], (records) => endEnrollment(records, partnerId, id)),
      ),

    changeExternalId: (partnerId: string, memberId: string, externalId: string | undefined) =>
      orMerged(partnerId, memberId, isNotEnrolled, (id) =>
        apply(
          [id],
          externalId === undefined ? [] : [externalKey(partnerId, externalId)],
          (records) => changeExternalId(records, partnerId, id, externalId),
        ),
      ),

    updateNames: (partnerId: string, memberId: string, change: NamesChange) =>
      orMerged(partnerId, memberId, isUndefined, (id) =>
        apply([id], [], (records) => updateNames(records, partnerId, id, change)),
      ),

    /** Of the member, whom it returns. */
    updateOwnNames: (memberId: string, change: NamesChange) =>
      apply([memberId], [], (records) => updateOwnNames(records, memberId, change)),
  };
}

const isFalse = (isDone: boolean) => !isDone;
const isNotEnrolled = ({ outcome }: ExternalIdResult) => outcome === 'not-enrolled';
const isUndefined = (found: unknown) => found === undefined;

function keysToEnroll({ partnerId, address, externalId }: EnrollInput): string[] {
  return [
    addressKey(address.canonical),
    ...(externalId === undefined ? [] : [externalKey(partnerId, externalId)]),
  ];
}
