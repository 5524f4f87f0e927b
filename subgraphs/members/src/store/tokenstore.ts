// Stores mailed tokens and changes of address, on any engine.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import { addChangeToken, addSignInToken, addUndoToken } from '../rules/addtoken.ts';
import {
  confirmChange,
  type EmailChangeResult,
  findUndoing,
  type UndoResult,
  undoChange,
} from '../rules/emailchange.ts';
import type { AddressChange, ChangeToken, SignInToken } from '../rules/mailedtoken.ts';
import type { Address, Identity } from '../rules/member.ts';
import {
  addressKey,
  enrolledKey,
  type MemberRecord,
  type MemberRecords,
  tokenKey,
} from '../rules/record.ts';
import { findToken, type Redeemer, redeemSignInToken } from '../rules/redeem.ts';

/** A member with the canonical address that mail goes to. */
export type Mailbox = Identity & { address: string };

/** Times are in milliseconds since 1970. Tokens are identified by their hashes. */
export type TokenStore = {
  /**
   * Adds a sign-in token to the member who has this address, current or historical, and is actively
   * enrolled with the token's partner; undefined if there is none.
   */
  addSignIn(
    token: Omit<SignInToken, 'address'>,
    canonical: string,
    now: number,
  ): Promise<Mailbox | undefined>;
  /** Adds a token for a change of address; false if the member cannot change it now. */
  addChange(token: ChangeToken, memberId: string, now: number): Promise<boolean>;
  /**
   * Adds a token that undoes a change of address, valid for 7 days from the change on, and returns
   * the change; undefined if there is no such change.
   */
  addUndo(
    hash: string,
    memberId: string,
    changeId: string,
    now: number,
  ): Promise<AddressChange | undefined>;
  /**
   * Redeems a sign-in token, for one of any number of concurrent calls. Undefined if it is not
   * valid for this redeemer; then it stays as it is.
   */
  redeemSignIn(hash: string, redeemer: Redeemer, now: number): Promise<Mailbox | undefined>;
  /** The change of address that a token proves, without redeeming it. */
  findChange(
    hash: string,
    now: number,
  ): MaybePromise<{ memberId: string; address: Address } | undefined>;
  /**
   * Redeems a change token and makes its address the current one. `changeId` becomes the ID of the
   * change.
   */
  confirmChange(hash: string, changeId: string, now: number): Promise<EmailChangeResult>;
  /**
   * The member whose change a token would undo, and the addresses that this would take away,
   * without redeeming it.
   */
  findUndo(
    hash: string,
    now: number,
  ): MaybePromise<{ memberId: string; taken: string[] } | undefined>;
  /**
   * Redeems an undo token: the address from before the change is current again, and the new one no
   * longer leads to the member. `undoId` identifies the call. Nothing changes if it would take away
   * more than `taken`, because the member's address has changed since findUndo.
   */
  undoChange(
    hash: string,
    undo: { undoId: string; taken: readonly string[] },
    now: number,
  ): Promise<UndoResult>;
};

/**
 * Applies a rule to the members with these IDs and keys as one step. It may call the rule again if
 * another write comes between; the rule must ask for no other members.
 */
export type ApplyRule = <T>(
  ids: string[],
  keys: string[],
  rule: (records: MemberRecords) => T,
) => Promise<T>;

/** What an engine provides for tokens and locks. */
export type Engine = {
  find(key: string): MaybePromise<MemberRecord | undefined>;
  apply: ApplyRule;
};

export function createTokenStore({ find, apply }: Engine): TokenStore {
  return {
    addSignIn: (token, canonical, now) =>
      apply([], [enrolledKey(token.partnerId, canonical)], (records) =>
        addSignInToken(records, token, canonical, now),
      ),
    addChange: (token, memberId, now) =>
      apply([memberId], [addressKey(token.address.canonical)], (records) =>
        addChangeToken(records, token, memberId, now),
      ),
    addUndo: (hash, memberId, changeId, now) =>
      apply([memberId], [], (records) => addUndoToken(records, hash, memberId, changeId, now)),
    async redeemSignIn(hash, redeemer, now) {
      // A read first, so that guessing tokens costs no write.
      if ((await find(tokenKey(hash))) === undefined) return undefined;
      return apply([], [tokenKey(hash)], (records) =>
        redeemSignInToken(records, hash, redeemer, now),
      );
    },
    async findChange(hash, now) {
      const record = await find(tokenKey(hash));
      const token = record && findToken(record, hash, 'change', now);
      return record && token && { memberId: record.memberId, address: token.address };
    },
    async confirmChange(hash, changeId, now) {
      const record = await find(tokenKey(hash));
      const token = record && findToken(record, hash, 'change', now);
      if (record === undefined || token === undefined) return { outcome: 'invalid-token' };
      const { memberId } = record;
      return apply([memberId], [addressKey(token.address.canonical)], (records) =>
        confirmChange(records, { hash, memberId, attemptId: changeId }, now),
      );
    },
    async findUndo(hash, now) {
      const record = await find(tokenKey(hash));
      const undoing = record && findUndoing(record, hash, now);
      return record && undoing && { memberId: record.memberId, taken: undoing.taken };
    },
    async undoChange(hash, { undoId, taken }, now) {
      const record = await find(tokenKey(hash));
      const [change] = (record && findUndoing(record, hash, now)?.changes) ?? [];
      if (record === undefined || change === undefined) return { outcome: 'invalid-token' };
      const { memberId } = record;
      return apply([memberId], [addressKey(change.from.canonical)], (records) =>
        undoChange(records, { hash, memberId, attemptId: undoId }, taken, now),
      );
    },
  };
}
