// The names of a member: the member's own, those that a partner sent, and those of the record.
import { visibleName } from '@partner-loyalty/runtime/input.ts';
import type { Enrollment, Member, Names, NamesChange } from './member.ts';

/** The names that are given, without keys for those that are not. */
export function namesOf({ firstName, lastName }: Names): Names {
  return {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
  };
}

/** The names without characters that the service no longer accepts, but may have stored. */
export function shownNames({ firstName, lastName }: Names): Names {
  return { firstName: shownName(firstName), lastName: shownName(lastName) };
}

/** Undefined if nothing is left of it. */
export function shownName(name: string | null | undefined): string | undefined {
  return visibleName(name ?? '') || undefined;
}

/**
 * The pair that a partner sees, always as a whole. An unconfirmed partner learns no name that it
 * did not send.
 */
export function namesSeenBy(member: Member, enrollment: Enrollment): Names {
  const own = enrollment.unconfirmed ? undefined : member.ownNames;
  return own ?? partnerNames(member, enrollment);
}

/**
 * The pair that a partner can correct: the one that it sent, or else, if it is confirmed, that of
 * the record.
 */
export function partnerNames(member: Member, { unconfirmed, names }: Enrollment): Names {
  return names ?? (unconfirmed ? {} : namesOf(member));
}

/** The pair that only the member sees: its own, or else that of the first confirmed partner. */
export function namesSeenByMember(member: Member): Names {
  const { ownNames, enrollments } = member;
  if (ownNames !== undefined) return ownNames;
  const pairs = enrollments
    .filter(({ unconfirmed }) => !unconfirmed)
    .toSorted((one, other) => confirmedAt(one) - confirmedAt(other))
    .map((enrollment) => partnerNames(member, enrollment));
  return pairs.find(hasName) ?? namesOf(member);
}

function confirmedAt({ confirmedAt, enrolledAt }: Enrollment): number {
  return confirmedAt ?? enrolledAt ?? 0;
}

export function hasName({ firstName, lastName }: Names): boolean {
  return firstName !== undefined || lastName !== undefined;
}

export function changedNames(names: Names, { firstName, lastName }: NamesChange): Names {
  return namesOf({
    firstName: firstName === undefined ? names.firstName : (firstName ?? undefined),
    lastName: lastName === undefined ? names.lastName : (lastName ?? undefined),
  });
}

/** The enrollment with other names, unless these are what the partner can correct already. */
export function withNames(member: Member, enrollment: Enrollment, names: Names): Enrollment {
  const present = partnerNames(member, enrollment);
  const isSame = present.firstName === names.firstName && present.lastName === names.lastName;
  return isSame ? enrollment : { ...enrollment, names };
}
