// What resolvers that send mail share: the outbox, and the tokens that the mail carries.
import { randomUUID } from 'node:crypto';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { StaffNotice, StaffRecipient } from '@partner-loyalty/runtime/signin/staff.ts';
import { hashToken, type TokenUse } from '../rules/mailedtoken.ts';
import { digest } from '../tables/access.ts';
import type { MailTask, Outbox } from '../tables/outbox.ts';
import { parseText } from './input.ts';

export type EnqueueMail = (task: MailTask) => Promise<{ accepted: true }>;

/**
 * Puts mail into the outbox, from which the mail worker sends it, and calls `wake`. Always the same
 * single write, so that nothing about the response reveals whether there is a recipient.
 */
export function createEnqueueMail(outbox: Pick<Outbox, 'add'>, wake: () => void): EnqueueMail {
  return async (task) => {
    await outbox.add({ jobId: randomUUID(), task, requestedAt: Date.now() });
    wake();
    return { accepted: true };
  };
}

/** Mails a notice. Each of its mails has an ID of its own, so that mailboxes know a second one. */
export function createMailStaff(outbox: Pick<Outbox, 'addOnce'>, wake: () => void) {
  return async ({ noticeId, recipients, ...notice }: StaffNotice): Promise<void> => {
    const requestedAt = Date.now();
    const add = ({ staffId, ...to }: StaffRecipient) => {
      const jobId = digest(`${noticeId}\n${staffId}`);
      return outbox.addOnce({ jobId, task: { kind: 'notice', ...notice, ...to }, requestedAt });
    };
    await Promise.all(recipients.map(add));
    wake();
  };
}

/**
 * Fails with INVALID_TOKEN if the text cannot be a token, and with BAD_USER_INPUT if it cannot be
 * an argument.
 */
export function hashTokenArgument(use: TokenUse, token: string): string {
  return (
    hashToken(use, parseText('token', token, Number.POSITIVE_INFINITY)) ?? fail('INVALID_TOKEN')
  );
}
