// Checks one member on any engine: the record, and the partners that it names.
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { MemberRecord } from '../rules/record.ts';
import { checkRules, isRecord } from './record.ts';

/** How reports name a member. */
export function nameOf(memberId: string): string {
  return `member ${memberId}`;
}

/** The record, checked; undefined if it is not one, which has been reported. */
export async function checkMember(
  memberId: string,
  value: unknown,
  { report, hasPartner }: Inspection,
): Promise<MemberRecord | undefined> {
  const reportMember = (problem: string) => report(nameOf(memberId), problem);
  if (!isRecord(value, reportMember)) return undefined;
  if (value.memberId !== memberId) reportMember('the record has another ID');
  checkRules(value, reportMember);
  for (const { partnerId } of value.enrollments)
    if (!(await hasPartner(partnerId)))
      reportMember(`an enrollment is with partner ${partnerId}, which does not exist`);
  return value;
}

/** What a key is, in words. Keys contain addresses, so reports do not have them. */
export function describeKey(key: string): string {
  const [kind, partnerId] = key.split('\n');
  switch (kind) {
    case 'a':
      return 'an address';
    case 'e':
      return `an address with partner ${partnerId}`;
    case 'x':
      return `an external ID of partner ${partnerId}`;
    case 't':
      return 'a mailed token';
    default:
      return 'an unknown key';
  }
}
