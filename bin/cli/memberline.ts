// A line of a member import: from JSON to the record the members store takes.
import {
  type Address,
  LENGTHS,
  type MemberImport,
  parseAddress,
  parseOptionalText,
  parseText,
} from '@partner-loyalty/members';
import { fail } from '@partner-loyalty/runtime';
import { listOf, objectOf, optionalStringOf, refuseUnknown, stringOf } from './fields.ts';

const PROPERTIES = ['memberId', 'email', 'previousEmails', 'firstName', 'lastName', 'enrollments'];

/** Checks a line by the rules of the API's own arguments; `partners` are those that exist. Fails with BAD_USER_INPUT. */
export function checkMember(
  line: Record<string, unknown>,
  partners: ReadonlySet<string>,
): MemberImport {
  refuseUnknown(line, PROPERTIES);
  const optional = (name: 'memberId' | 'firstName' | 'lastName', limit: number) =>
    parseOptionalText(name, optionalStringOf(line[name], name), limit);
  const address = parseAddress('email', stringOf(line.email, 'email'));
  return {
    memberId: optional('memberId', LENGTHS.id),
    address,
    previousAddresses: earlierAddresses(line.previousEmails, address),
    firstName: optional('firstName', LENGTHS.name),
    lastName: optional('lastName', LENGTHS.name),
    enrollments: enrollmentsOf(line.enrollments, partners),
  };
}

function earlierAddresses(value: unknown, current: Address): Address[] {
  const name = 'an address of previousEmails';
  const earlier = new Map<string, Address>();
  for (const item of listOf(value, 'previousEmails')) {
    const address = parseAddress(name, stringOf(item, name));
    if (address.canonical !== current.canonical) earlier.set(address.canonical, address);
  }
  return [...earlier.values()];
}

function enrollmentsOf(value: unknown, partners: ReadonlySet<string>): MemberImport['enrollments'] {
  const seen = new Set<string>();
  return listOf(value, 'enrollments').map((item) => {
    const enrollment = objectOf(item, 'an enrollment', ['partnerId', 'externalId', 'status']);
    const partnerId = parseText(
      'partnerId',
      stringOf(enrollment.partnerId, 'partnerId'),
      LENGTHS.id,
    );
    if (!partners.has(partnerId))
      fail('BAD_USER_INPUT', 'partnerId names a partner that does not exist');
    if (seen.has(partnerId)) fail('BAD_USER_INPUT', 'two enrollments name the same partner');
    seen.add(partnerId);
    const externalId = parseOptionalText(
      'externalId',
      optionalStringOf(enrollment.externalId, 'externalId'),
      LENGTHS.externalId,
    );
    return { partnerId, externalId, status: statusOf(enrollment.status) };
  });
}

function statusOf(value: unknown): 'ACTIVE' | 'ENDED' | undefined {
  if (value === undefined || value === null) return undefined;
  if (value !== 'ACTIVE' && value !== 'ENDED')
    fail('BAD_USER_INPUT', 'status is neither ACTIVE nor ENDED');
  return value;
}
