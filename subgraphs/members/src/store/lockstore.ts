// Locks addresses in dispute, on any engine.
import {
  contest,
  lockAddress,
  type UnlockAttempt,
  type UnlockResult,
  unlockAddress,
} from '../rules/lock.ts';
import type { TakenAddress } from '../rules/mailedtoken.ts';
import type { Address } from '../rules/member.ts';
import { addressKey, isLocked, tokenKey } from '../rules/record.ts';
import { addContestToken, findToken } from '../rules/token.ts';
import type { Engine } from './engine.ts';

export type LockStore = ReturnType<typeof createLockStore>;

/** Addresses are canonical; times are in milliseconds since 1970. */
export function createLockStore({ find, apply }: Engine) {
  const tokenOf = async (hash: string, now: number) => {
    const record = await find(tokenKey(hash));
    const token = record && findToken(record, hash, 'contest', now);
    return record && token && { memberId: record.memberId, address: token.address };
  };
  return {
    /**
     * Adds a token that contests that undoing took an address away, valid for 7 days from the
     * undoing on, and returns what it contests; undefined if nothing was taken away.
     */
    addContest: (
      hash: string,
      loss: { memberId: string; undoId: string; address: string },
      now: number,
    ): Promise<TakenAddress | undefined> =>
      apply([loss.memberId], [], (records) => addContestToken(records, hash, loss, now)),

    /** The member whose token this is, without redeeming it. */
    async findContest(hash: string, now: number): Promise<string | undefined> {
      return (await tokenOf(hash, now))?.memberId;
    },

    /**
     * Redeems a token, for one of any number of concurrent calls, and locks the address that was
     * taken away and the member's current one. False if the token is not valid.
     */
    async contest(hash: string, now: number): Promise<boolean> {
      const token = await tokenOf(hash, now);
      if (token === undefined) return false;
      const { memberId, address } = token;
      return apply([memberId], [addressKey(address)], (records) =>
        contest(records, hash, memberId, now),
      );
    },

    /** The member that an address leads to, current or earlier. */
    async holder(canonical: string): Promise<string | undefined> {
      return (await find(addressKey(canonical)))?.memberId;
    },

    /**
     * Where mail for an address goes: to the current address of the member that it leads to, or
     * else to itself. Undefined if one of the two is locked.
     */
    async mailbox(address: Address): Promise<{ address: Address; memberId?: string } | undefined> {
      const { canonical } = address;
      const record = await find(addressKey(canonical));
      if (record === undefined) return { address };
      if (isLocked(record, canonical) || isLocked(record, record.address)) return undefined;
      const { memberId, email, address: current } = record;
      return { address: { typed: email, canonical: current }, memberId };
    },

    /** Locks an address; undefined if it leads to nobody, otherwise its member. */
    lock: (canonical: string, now: number): Promise<string | undefined> =>
      apply([], [addressKey(canonical)], (records) => lockAddress(records, canonical, now)),

    /** Unlocks an address. With `to`, it becomes the current one of the member with this ID. */
    unlock(address: Address, to: string | undefined): Promise<UnlockResult> {
      const attempt: UnlockAttempt = { isFreed: false };
      return apply(to === undefined ? [] : [to], [addressKey(address.canonical)], (records) =>
        unlockAddress(records, address, to, attempt),
      );
    },
  };
}
