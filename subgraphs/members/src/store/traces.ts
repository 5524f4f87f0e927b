// Where a member can be found beside the member's own record.

import type { MemberRecord } from '../rules/record.ts';
import { type MailTask, mailboxOf } from '../tables/outbox.ts';

/** Canonical addresses that are or were the member's, and that lead to nobody else. */
export type Traces = { memberId: string; addresses: ReadonlySet<string> };

/**
 * The addresses that the member has or had, as far as anybody knows. Whoever asks to change to an
 * address, or had one until that was undone, may have nothing to do with it.
 */
export function ownAddresses(record: MemberRecord): Set<string> {
  const { address, earlier, locked = [], tokens = [], changes = [] } = record;
  const mailed = tokens.flatMap((token) => (token.use === 'sign-in' ? [token.address] : []));
  const changed = changes.flatMap(({ from, to }) => [from.canonical, to]);
  return new Set([address, ...earlier, ...locked, ...mailed, ...changed]);
}

/** Every address that a record has. Some may be other members' by now. */
export function addressesIn(record: MemberRecord): Set<string> {
  const { released, tokens = [], takenAway = [] } = record;
  const mailed = tokens.flatMap((token) =>
    'address' in token ? [canonicalOf(token.address)] : [],
  );
  const taken = takenAway.map((one) => one.address);
  return new Set([...ownAddresses(record), ...released, ...mailed, ...taken]);
}

/** Whether mail is about the member, or goes to the member. */
export function isAbout(task: MailTask, { memberId, addresses }: Traces): boolean {
  if ('memberId' in task && task.memberId === memberId) return true;
  return 'address' in task && addresses.has(canonicalOf(task.address));
}

/** Whether a limit on mail counts mail to the member. */
export function isLimitOf(key: string, { memberId, addresses }: Traces): boolean {
  const mailbox = mailboxOf(key);
  return mailbox !== undefined && (mailbox === memberId || addresses.has(mailbox));
}

/** The record of another member without these addresses, which that member had before. */
export function withoutAddresses(
  record: MemberRecord,
  addresses: ReadonlySet<string>,
): MemberRecord {
  const { released, tokens, changes, takenAway } = record;
  const kept = changes?.filter(
    ({ from, to }) => !addresses.has(from.canonical) && !addresses.has(to),
  );
  const gone = new Set(changes?.filter((one) => !kept?.includes(one)).map(({ id }) => id));
  return {
    ...record,
    released: released.filter((one) => !addresses.has(one)),
    ...(kept !== undefined && { changes: kept }),
    ...(takenAway !== undefined && {
      takenAway: takenAway.filter(({ address }) => !addresses.has(address)),
    }),
    ...(tokens !== undefined && {
      tokens: tokens.filter((token) =>
        token.use === 'undo'
          ? !gone.has(token.changeId)
          : !addresses.has(canonicalOf(token.address)),
      ),
    }),
  };
}

function canonicalOf(address: string | { canonical: string }): string {
  return typeof address === 'string' ? address : address.canonical;
}
