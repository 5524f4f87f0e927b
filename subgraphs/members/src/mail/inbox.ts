// What only a sandbox has: an inbox for addresses at inbox.test, which partners read by the API.
import type { MembersStore } from '../store/store.ts';
import type { Job } from '../tables/outbox.ts';
import type { Email } from './template.ts';

const DOMAIN = '@inbox.test';

export type Inbox = ReturnType<typeof createInbox>;

export function createInbox({ sandboxMails }: Pick<MembersStore, 'sandboxMails'>) {
  const has = (canonical: string) => canonical.endsWith(DOMAIN);
  return {
    /** Whether mail to the address stays here. */
    has,
    /**
     * Keeps the mail, whose `to` is canonical, for the partner whose call caused it; nobody reads
     * any other one.
     */
    async keep({ jobId, task, requestedAt }: Job, email: Email, now: number): Promise<void> {
      if (task.kind === 'notice' || !('partnerId' in task) || task.partnerId === undefined) return;
      const mail = { ...email, id: jobId, partnerId: task.partnerId, sentAt: now };
      await sandboxMails.add(mail, requestedAt);
    },
    async list(partnerId: string, canonical: string) {
      if (!has(canonical)) return [];
      const mails = await sandboxMails.list(partnerId, canonical, Date.now());
      return mails.map((mail) => ({ ...mail, sentAt: new Date(mail.sentAt) }));
    },
    /** Whose mail began a sign-in, if others than the member could read it. */
    readerOf: (canonical: string, partnerId: string | undefined) =>
      has(canonical) ? partnerId : undefined,
  };
}
