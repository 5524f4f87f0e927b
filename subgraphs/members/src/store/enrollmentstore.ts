// Enrollments and names, as the rules have them.
import { randomUUID } from 'node:crypto';
import {
  changeExternalId,
  endEnrollment,
  enroll,
  enrollInvited,
  updateNames,
  updateOwnNames,
} from '../rules/enrollment.ts';
import type { EnrollInput } from '../rules/member.ts';
import { addressKey, externalKey, type MemberRecords } from '../rules/record.ts';
import { type ApplyRule, applied } from './apply.ts';
import { KEYS, MEMBERS, partsOf } from './rows.ts';

/** The rules of enrollments and names, each applied in one transaction. */
export function createEnrollmentStore(apply: ApplyRule) {
  /** Whenever the rule is run again, a new member has the same ID. */
  function enrollBy<T>(
    rule: (records: MemberRecords, input: EnrollInput, newId: string) => T,
    input: EnrollInput,
  ): Promise<T> {
    const newId = randomUUID();
    const keys = keysToEnroll(input);
    const reads = [
      { table: KEYS, keys: keys.map(partsOf) },
      { table: MEMBERS, keys: [[newId]] },
    ];
    return apply((records) => {
      records.prefetch([newId], keys);
      return rule(records, input, newId);
    }, reads);
  }

  return {
    enroll: (input: EnrollInput) => enrollBy(enroll, input),
    enrollInvited: (input: EnrollInput) => enrollBy(enrollInvited, input),
    endEnrollment: applied(apply, endEnrollment),
    changeExternalId: applied(apply, changeExternalId),
    updateNames: applied(apply, updateNames),
    updateOwnNames: applied(apply, updateOwnNames),
  };
}

function keysToEnroll({ partnerId, address, externalId }: EnrollInput): string[] {
  return [
    addressKey(address.canonical),
    ...(externalId === undefined ? [] : [externalKey(partnerId, externalId)]),
  ];
}
