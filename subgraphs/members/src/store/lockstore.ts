// Locks addresses in dispute.
import { contest, lockAddress, unlockAddress } from '../rules/lock.ts';
import type { Address } from '../rules/member.ts';
import { addressKey, isLocked, tokenKey } from '../rules/record.ts';
import { addContestToken, findToken } from '../rules/token.ts';
import { type ApplyRule, applied } from './apply.ts';
import type { FindRecord } from './tokenstore.ts';

/**
 * The rules of rules/lock.ts and rules/token.ts, each applied in one transaction, and the reads for
 * them. Addresses are canonical; times are in milliseconds since 1970.
 */
export function createLockStore(find: FindRecord, apply: ApplyRule) {
  const tokenOf = async (hash: string, now: number, formId?: string) => {
    const record = await find(tokenKey(hash));
    const token = record && findToken(record, hash, 'contest', now, formId);
    return record && token && { memberId: record.memberId };
  };
  return {
    addContest: applied(apply, addContestToken),

    /** The member whose token this is, without redeeming it. */
    async findContest(hash: string, now: number, formId?: string): Promise<string | undefined> {
      return (await tokenOf(hash, now, formId))?.memberId;
    },

    async contest(hash: string, now: number, formId?: string): Promise<boolean> {
      const token = await tokenOf(hash, now, formId);
      if (token === undefined) return false;
      const { memberId } = token;
      return apply((records) => contest(records, hash, memberId, now, formId));
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

    lock: applied(apply, lockAddress),
    unlock: applied(apply, unlockAddress),
  };
}
