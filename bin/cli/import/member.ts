// A line of a member import: from JSON to the record that the members store imports.
import { canonicalEmail, LENGTHS, type MemberImport } from '@partner-loyalty/members';
import { createParser, omitUndefined, optional, type Parsed, text } from '@partner-loyalty/runtime';
import * as z from 'zod';

/** A parser of lines, with the rules of the API's arguments. `partners` has the IDs of partners. */
export function createMemberLineParser(
  partners: ReadonlySet<string>,
): (line: Record<string, unknown>) => Parsed<MemberImport> {
  const enrollment = z
    .strictObject({
      partnerId: text(LENGTHS.id).refine(
        (partnerId) => partners.has(partnerId),
        'must be that of an existing partner',
      ),
      externalId: optional(text(LENGTHS.externalId)),
      status: optional(z.enum(['ACTIVE', 'ENDED'])),
    })
    .transform(omitUndefined);
  const parse = createParser(
    z.strictObject({
      memberId: optional(text(LENGTHS.id)),
      email: address,
      previousEmails: optional(z.array(address)),
      firstName: optional(text(LENGTHS.name)),
      lastName: optional(text(LENGTHS.name)),
      enrollments: optional(z.array(enrollment).superRefine(refuseRepeatedPartners)),
    }),
  );
  return (line) => {
    const parsed = parse(line);
    if ('fault' in parsed) return parsed;
    const { email, previousEmails = [], enrollments = [], ...rest } = parsed.value;
    const previousAddresses = distinct(previousEmails, email);
    return { value: omitUndefined({ ...rest, address: email, previousAddresses, enrollments }) };
  };
}

type Address = MemberImport['address'];

const address = text(LENGTHS.email).transform((typed, context): Address => {
  const canonical = canonicalEmail(typed);
  if (canonical !== undefined) return { typed, canonical };
  context.addIssue('must be an email address');
  return z.NEVER;
});

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

/** The addresses except the current one, each once, in its last spelling. */
function distinct(addresses: readonly Address[], current: Address): Address[] {
  const byCanonical = new Map(addresses.map((each) => [each.canonical, each]));
  byCanonical.delete(current.canonical);
  return [...byCanonical.values()];
}
