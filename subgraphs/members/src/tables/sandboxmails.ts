// The mails of a sandbox to addresses at inbox.test, which never leave: each is a partner's.
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

/** `to` is canonical; `sentAt` is in milliseconds since 1970. */
type SandboxMail = {
  id: string;
  /** The partner whose call caused it. */
  partnerId: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  sentAt: number;
};

type StoredMail = SandboxMail & { key: string };

const KEPT_MS = 24 * 3_600_000;
/** The maximum of mails of a partner to one address. */
const SHOWN = 100;

export const SANDBOX_MAILS: TableDefinition<StoredMail> = {
  name: 'sandboxmails',
  id: 'key',
  orders: ['sentAt'],
};

export async function openSandboxMails(open: OpenTable) {
  const mails = await open(SANDBOX_MAILS);
  const prefix = (partnerId: string, to: string) => `${partnerId}\n${to}\n`;
  return {
    /** Repeated with the same ID and request, it replaces the mail. */
    add(mail: SandboxMail, requestedAt: number): Promise<void> {
      // The newest is the first one in the order of keys.
      const key = `${prefix(mail.partnerId, mail.to)}${1e14 - requestedAt} ${mail.id}`;
      return mails.put({ ...mail, key });
    },
    /** The mails of the last 24 hours, the newest first: the last 100 that were asked for. */
    async list(partnerId: string, to: string, now: number): Promise<SandboxMail[]> {
      const found = await mails.startingWith(prefix(partnerId, to), SHOWN);
      return found
        .filter(({ sentAt }) => sentAt > now - KEPT_MS)
        .sort((one, other) => other.sentAt - one.sentAt);
    },
    /** The mails to an address that is wanted. */
    async select(isWanted: (canonical: string) => boolean): Promise<SandboxMail[]> {
      return (await mails.select(({ to }) => isWanted(to))).map(({ key: _, ...mail }) => mail);
    },
    /** Removes those to an address that is unwanted. */
    discard: (isUnwanted: (canonical: string) => boolean) =>
      mails.removeWhere(({ to }) => isUnwanted(to)),
    clean: (now: number) => mails.removeUntil('sentAt', now - KEPT_MS),
  };
}
