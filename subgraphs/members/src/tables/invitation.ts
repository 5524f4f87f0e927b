// Invitations that were mailed and may still be accepted, found by the hash of their token.
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { EnrollInput } from '../rules/member.ts';

/** What accepting will enroll; the address is the one to which the invitation was mailed. */
export type Invitation = EnrollInput;

type KeptInvitation = Invitation & { expiresAt: number };

/**
 * How an invitation is stored. `claimedUntil` is when the last claim ends, and `claimedBy` the form
 * that has it, which has accepted if `isAccepted`.
 */
type StoredInvitation = KeptInvitation & {
  hash: string;
  claimedUntil: number;
  claimedBy?: string | undefined;
  isAccepted?: true;
};

/** How long the form that has accepted can be sent again: its answer may be lost. */
const REPEAT_MS = 60_000;

export const INVITATIONS: TableDefinition<StoredInvitation> = {
  name: 'invitations',
  id: 'hash',
  orders: ['expiresAt'],
};

export type InvitationStore = Awaited<ReturnType<typeof openInvitations>>;

/** Times are in milliseconds since 1970. */
export async function openInvitations(open: OpenTable) {
  const invitations = await open(INVITATIONS);
  return {
    /** Resolves when the invitation is stored. */
    add: (hash: string, invitation: Invitation, expiresAt: number) =>
      invitations.put({ hash, ...invitation, expiresAt, claimedUntil: 0 }),
    /** The invitation, unless it has expired, or another form has accepted it. */
    find: (hash: string, now: number, formId?: string) =>
      mapMaybe(invitations.get(hash), (stored) => {
        if (stored === undefined || stored.expiresAt <= now) return undefined;
        const isOpen = !stored.isAccepted || stored.claimedBy === formId;
        return isOpen ? toInvitation(stored) : undefined;
      }),
    /**
     * Gives the invitation to one of any number of concurrent callers. The caller enrolls and then
     * ends it. If the caller crashes in between, another form can claim it when the lease ends.
     */
    async claim(
      hash: string,
      now: number,
      leaseMs: number,
      formId?: string,
    ): Promise<Invitation | undefined> {
      const claimed = await invitations.update(hash, (stored) => {
        if (stored === undefined || stored.expiresAt <= now) return stored;
        const isAgain = formId !== undefined && stored.claimedBy === formId;
        return isAgain || stored.claimedUntil <= now
          ? { ...stored, claimedUntil: now + leaseMs, claimedBy: formId }
          : stored;
      });
      return claimed && toInvitation(claimed);
    },
    /** Once a form has accepted the invitation, nothing else can. */
    async accepted(hash: string, now: number, formId?: string): Promise<void> {
      await invitations.update(hash, (stored) => {
        if (stored === undefined || formId === undefined) return undefined;
        const expiresAt = Math.min(stored.expiresAt, now + REPEAT_MS);
        return { ...stored, isAccepted: true, claimedUntil: expiresAt, expiresAt };
      });
    },
    remove: invitations.remove,
    /** The invitations whose canonical address is wanted, expired ones too. */
    async select(isWanted: (address: string) => boolean): Promise<KeptInvitation[]> {
      const found = await invitations.select(({ address }) => isWanted(address.canonical));
      return found.map((stored) => ({ ...toInvitation(stored), expiresAt: stored.expiresAt }));
    },
    /** Removes those whose canonical address is unwanted. */
    discard: (isUnwanted: (address: string) => boolean) =>
      invitations.removeWhere(({ address }) => isUnwanted(address.canonical)),
    /** Removes those that have expired. */
    clean: (now: number) => invitations.removeUntil('expiresAt', now),
  };
}

/** The invitation without what only the store needs. */
function toInvitation(stored: StoredInvitation): Invitation {
  const { partnerId, address, externalId, firstName, lastName } = stored;
  return { partnerId, address, externalId, firstName, lastName };
}
