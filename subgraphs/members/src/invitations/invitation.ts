// Invitations that were mailed and may still be accepted, found by the hash of their token.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { EnrollInput } from '../rules/member.ts';

/** What accepting will enroll; the address is the one to which the invitation was mailed. */
export type Invitation = EnrollInput;

/** Implemented by invitation.{lmdb,mongo}.ts. Times are in milliseconds since 1970. */
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
export type StoredInvitation = Invitation & { expiresAt: number; claimedUntil: number };

/** The invitation without what only the store needs. */
export function toInvitation(stored: StoredInvitation): Invitation {
  const { partnerId, address, externalId, firstName, lastName } = stored;
  return { partnerId, address, externalId, firstName, lastName };
}
