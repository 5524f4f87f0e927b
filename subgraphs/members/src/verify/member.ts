// Checks one member: the record, and the partners that it names.
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import { hasShape, type Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import * as z from 'zod';
import type { MemberEvent } from '../rules/events.ts';
import { hasAddress, type MemberRecord } from '../rules/record.ts';

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
  if (!hasShape(RECORD, value, reportMember)) return undefined;
  const record = value as MemberRecord; // Cast: it has the shape of one.
  if (record.memberId !== memberId) reportMember('the record has another ID');
  checkRules(record, reportMember);
  for (const { partnerId } of record.enrollments)
    if (!(await hasPartner(partnerId)))
      reportMember(`an enrollment is with partner ${partnerId}, which does not exist`);
  return record;
}

const text = z.string().min(1);
const time = z.number().nonnegative();
const address = z.looseObject({ typed: text, canonical: text });
const names = z.looseObject({ firstName: text.nullish(), lastName: text.nullish() });

/** The stored format (rules/record.ts). Fields that are not listed are ignored. */
const RECORD = names.extend({
  memberId: text,
  email: text,
  ownNames: names.optional(),
  address: text,
  earlier: z.array(text),
  released: z.array(text),
  enrollments: z.array(
    z.looseObject({
      partnerId: text,
      status: z.enum(['ACTIVE', 'ENDED']),
      externalId: text.optional(),
      otherExternalIds: z.array(text).optional(),
      withheld: z.array(text).optional(),
      enrolledAt: time.optional(),
      updatedAt: time,
      unconfirmed: z.literal(true).optional(),
      confirmedAt: time.optional(),
      confirmedBy: z.array(text).optional(),
      before: z.looseObject({ withheld: z.array(text).optional() }).optional(),
      written: z.array(address).optional(),
      limited: z.literal(true).optional(),
      names: names.optional(),
    }),
  ),
  tokens: z
    .array(
      z.looseObject({
        hash: z.string().regex(/^[0-9a-f]{64}$/),
        use: z.enum(['sign-in', 'change', 'undo', 'contest']),
        expiresAt: time,
      }),
    )
    .optional(),
  changes: z
    .array(z.looseObject({ id: text, at: time, from: address, to: text, known: z.boolean() }))
    .optional(),
  undone: z.looseObject({ id: text, at: time }).optional(),
  takenAway: z.array(z.looseObject({ undoId: text, at: time, address: text })).optional(),
  locked: z.array(text).optional(),
  unconfirmed: z.array(text).optional(),
});

const EVENT = z.looseObject({
  id: z.uuid(),
  type: text,
  occurredAt: time,
  partnerId: text,
  memberId: text,
  externalId: text.optional(),
});

export function isEvent(value: unknown): value is MemberEvent {
  return EVENT.safeParse(value).success;
}

/** Calls `report` for each rule that the record breaks. */
function checkRules(record: MemberRecord, report: (problem: string) => void): void {
  const { email, earlier, enrollments, unconfirmed = [] } = record;
  if (canonicalEmail(email) !== record.address)
    report('the address is not the canonical form of the email');
  if (new Set([record.address, ...earlier]).size <= earlier.length)
    report('an address is listed twice');
  if (!unconfirmed.every((one) => hasAddress(record, one)))
    report("an unconfirmed address is not one of the member's");
  if (new Set(enrollments.map(({ partnerId }) => partnerId)).size < enrollments.length)
    report('two enrollments are with the same partner');
  if (enrollments.some(({ status, externalId }) => status === 'ENDED' && externalId !== undefined))
    report('an ended enrollment has an external ID');
  for (const { partnerId, written = [], limited } of enrollments) {
    if (!written.every(({ canonical }) => hasAddress(record, canonical)))
      report(`partner ${partnerId} wrote an address that is not the member's`);
    if (limited && written.length === 0)
      report(`partner ${partnerId} may use no address of the member`);
  }
}
