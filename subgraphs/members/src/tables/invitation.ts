// Invitations that were mailed and may still be accepted, found by the hash of their token.
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { EnrollInput } from '../rules/member.ts';

/** What accepting will enroll; the address is the one to which the invitation was mailed. */
export type Invitation = EnrollInput;

/** Times are in milliseconds since 1970. */
export type InvitationStore = {
  /** Resolves when the invitation is stored. */
  add(hash: string, invitation: Invitation, expiresAt: number): Promise<void>;
  /** The invitation, unless it has expired. */
  find(hash: string, now: number): MaybePromise<Invitation | undefined>;
  /**
   * Gives the invitation to one of any number of concurrent callers. The caller enrolls and then
   * removes it. If the caller crashes in between, it can be claimed again when the lease ends.
   */
  claim(hash: string, now: number, leaseMs: number): Promise<Invitation | undefined>;
  remove(hash: string): Promise<void>;
  /** Those whose canonical address is wanted, expired ones too. */
  select(isWanted: (address: string) => boolean): Promise<KeptInvitation[]>;
  /** Removes those whose canonical address is unwanted. */
  discard(isUnwanted: (address: string) => boolean): Promise<void>;
  /** Removes those that have expired. */
  clean(now: number): Promise<void>;
};

export type KeptInvitation = Invitation & { expiresAt: number };

/** How an invitation is stored. `claimedUntil` is when the last claim ends. */
type StoredInvitation = KeptInvitation & { hash: string; claimedUntil: number };

export const INVITATIONS: TableDefinition<StoredInvitation> = {
  name: 'invitations',
  id: 'hash',
  orders: ['expiresAt'],
};

export async function openInvitations(open: OpenTable): Promise<InvitationStore> {
  const invitations = await open(INVITATIONS);
  return {
    add: (hash, invitation, expiresAt) =>
      invitations.put({ hash, ...invitation, expiresAt, claimedUntil: 0 }),
    find: (hash, now) =>
      mapMaybe(invitations.get(hash), (stored) =>
        stored !== undefined && stored.expiresAt > now ? toInvitation(stored) : undefined,
      ),
    async claim(hash, now, leaseMs) {
      const claimed = await invitations.update(hash, (stored) =>
        stored !== undefined && stored.expiresAt > now && stored.claimedUntil <= now
          ? { ...stored, claimedUntil: now + leaseMs }
          : stored,
      );
      return claimed && toInvitation(claimed);
    },
    remove: invitations.remove,
    async select(isWanted) {
      const found = await invitations.select(({ address }) => isWanted(address.canonical));
      return found.map((stored) => ({ ...toInvitation(stored), expiresAt: stored.expiresAt }));
    },
    discard: (isUnwanted) =>
      invitations.removeWhere(({ address }) => isUnwanted(address.canonical)),
    clean: (now) => invitations.removeUntil('expiresAt', now),
  };
}

/** The invitation without what only the store needs. */
function toInvitation(stored: StoredInvitation): Invitation {
  const { partnerId, address, externalId, firstName, lastName } = stored;
  return { partnerId, address, externalId, firstName, lastName };
}
