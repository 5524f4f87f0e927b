// What resolvers that send mail share: the outbox, and the tokens that the mail carries.
import { randomUUID } from 'node:crypto';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { StaffNotice } from '@partner-loyalty/runtime/signin/staff.ts';
import { admitTask } from '../mail/limits.ts';
import { hashToken, type TokenUse } from '../rules/mailedtoken.ts';
import type { MembersStore } from '../store/store.ts';
import { digest } from '../tables/access.ts';
import type { MailTask } from '../tables/outbox.ts';
import { parseText } from './input.ts';

export type EnqueueMail = (task: MailTask, jobId?: string) => Promise<{ accepted: true }>;

/**
 * Puts mail into the outbox, from which the mail worker sends it, and calls `wake`; beyond a limit
 * on asking, it does nothing. Nothing about the response reveals whether there is a recipient.
 */
export function createEnqueueMail(
  { outbox, member }: Pick<MembersStore, 'outbox' | 'member'>,
  wake: () => void,
): EnqueueMail {
  return async (task, jobId = randomUUID()) => {
    const requestedAt = Date.now();
    if (await admitTask(task, outbox, requestedAt)) {
      // A partner can make as many members as it likes, and enroll those of others, unconfirmed.
      const record = 'memberId' in task ? await member(task.memberId) : undefined;
      const active = record?.enrollments.filter(({ status }) => status === 'ACTIVE') ?? [];
      const owner = (active.find(({ unconfirmed }) => !unconfirmed) ?? active[0])?.partnerId;
      await outbox.add({ jobId, task, requestedAt, owner });
      wake();
    }
    return { accepted: true };
  };
}

/** Mails a notice. Each of its mails has an ID of its own, so that mailboxes know a second one. */
export function createMailStaff(enqueueMail: EnqueueMail) {
  return ({ noticeId, recipients, ...notice }: StaffNotice) =>
    Promise.all(
      recipients.map(({ staffId, ...to }) =>
        enqueueMail({ kind: 'notice', ...notice, ...to }, digest(`${noticeId}\n${staffId}`)),
      ),
    );
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
