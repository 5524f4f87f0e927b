// Invitations that were mailed and may still be accepted, found by the hash of their token.
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { EnrollInput } from '../rules/member.ts';

/** What accepting will enroll; the address is the one to which the invitation was mailed. */
export type Invitation = EnrollInput;

export type KeptInvitation = Invitation & { expiresAt: number };

/** How an invitation is stored. `claimedUntil` is when the last claim ends. */
type StoredInvitation = KeptInvitation & { hash: string; claimedUntil: number };

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
    /** The invitation, unless it has expired. */
    find: (hash: string, now: number) =>
      mapMaybe(invitations.get(hash), (stored) =>
        stored !== undefined && stored.expiresAt > now ? toInvitation(stored) : undefined,
      ),
    /**
     * Gives the invitation to one of any number of concurrent callers. The caller enrolls and then
     * removes it. If the caller crashes in between, it can be claimed again when the lease ends.
     */
    async claim(hash: string, now: number, leaseMs: number): Promise<Invitation | undefined> {
      const claimed = await invitations.update(hash, (stored) =>
        stored !== undefined && stored.expiresAt > now && stored.claimedUntil <= now
          ? { ...stored, claimedUntil: now + leaseMs }
          : stored,
      );
      return claimed && toInvitation(claimed);
    },
    remove: invitations.remove,
    /** Those whose canonical address is wanted, expired ones too. */
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
