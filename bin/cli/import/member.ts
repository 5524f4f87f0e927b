// A line of a member import: from JSON to the record that the members store imports.
import { canonicalEmail, LENGTHS, type MemberImport } from '@partner-loyalty/members';
import {
  createParser,
  idText,
  omitUndefined,
  optional,
  text,
} from '@partner-loyalty/runtime/input.ts';
import * as z from 'zod';

/** A parser of lines, with the rules of the API's arguments. `partners` has the IDs of partners. */
export function createMemberLineParser(partners: ReadonlySet<string>) {
  return createParser(memberLine(partners).transform(toImport));
}

type Address = MemberImport['address'];
type MemberLine = z.output<ReturnType<typeof memberLine>>;

/** An email address as an operator writes it. */
export const emailAddress = idText(LENGTHS.email).transform((typed, context): Address => {
  const canonical = canonicalEmail(typed);
  if (canonical !== undefined) return { typed, canonical };
  context.addIssue('must be an email address');
  return z.NEVER;
});

function memberLine(partners: ReadonlySet<string>) {
  const enrollment = z
    .strictObject({
      partnerId: idText(LENGTHS.id).refine(
        (partnerId) => partners.has(partnerId),
        'must be that of an existing partner',
      ),
      externalId: optional(idText(LENGTHS.externalId)),
      status: optional(z.enum(['ACTIVE', 'ENDED'])),
    })
    .transform(omitUndefined);
  return z.strictObject({
    memberId: optional(idText(LENGTHS.id)),
    email: emailAddress,
    previousEmails: optional(z.array(emailAddress)),
    firstName: optional(text(LENGTHS.name)),
    lastName: optional(text(LENGTHS.name)),
    enrollments: optional(z.array(enrollment).superRefine(refuseRepeatedPartners)),
  });
}

function refuseRepeatedPartners(
  enrollments: readonly { partnerId: string }[],
  context: z.core.$RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [index, { partnerId }] of enrollments.entries()) {
    if (seen.has(partnerId))
      context.addIssue({
        code: 'custom',
        path: [index, 'partnerId'],
        message: 'must not be that of another enrollment',
      });
    seen.add(partnerId);
  }
}

/** Lists the properties, since a spread made imports of members 10 % slower. */
function toImport(line: MemberLine): MemberImport {
  return omitUndefined({
    memberId: line.memberId,
    address: line.email,
    previousAddresses: distinct(line.previousEmails ?? [], line.email),
    firstName: line.firstName,
    lastName: line.lastName,
    enrollments: line.enrollments ?? [],
  });
}

/** The addresses except the current one, each once, in its last spelling. */
function distinct(addresses: readonly Address[], current: Address): Address[] {
  const byCanonical = new Map(addresses.map((each) => [each.canonical, each]));
  byCanonical.delete(current.canonical);
  return [...byCanonical.values()];
}
