// What the members store does with mailed tokens, on any engine: it reads by a key, and lets a rule act on members as one step.
import type { MaybePromise } from '@partner-loyalty/runtime';
import { type Changed, confirmChange, undoChange } from '../rules/change.ts';
import type { MemberRecords } from '../rules/enrollment.ts';
import { addressKey, enrolledKey, type StoredMember, tokenKey } from '../rules/record.ts';
import {
  keepChange,
  keepSignIn,
  keepUndo,
  type Redeemer,
  takeSignIn,
  usable,
} from '../rules/redeem.ts';
import type { AddressChange, SignInToken, StoredToken } from '../rules/token.ts';
import type { Address, Identity } from './store.ts';

/** A member, and where mail for the member goes. */
export type Mailbox = Identity & { address: string };

/** Times count milliseconds since 1970. Tokens are known by their hash alone. */
export type TokenStore = {
  /** Keeps a sign-in token with the member actively enrolled with its partner under this address, current or historical; undefined where there is none. */
  keepSignIn(
    token: Omit<SignInToken, 'address'>,
    sought: string,
    now: number,
  ): Promise<Mailbox | undefined>;
  /** Keeps a token for a change of address; false where the member may not change it now. */
  keepChange(
    token: StoredToken & { use: 'change' },
    memberId: string,
    now: number,
  ): Promise<boolean>;
  /** Keeps a token that undoes a change of address for 7 days from the change on; undefined where there is no such change. */
  keepUndo(
    hash: string,
    memberId: string,
    changeId: string,
    now: number,
  ): Promise<AddressChange | undefined>;
  /** Uses a sign-in token up, for one of any number of concurrent calls. Undefined where it is not good for this redeemer; then it stays as it is. */
  takeSignIn(hash: string, redeemer: Redeemer, now: number): Promise<Mailbox | undefined>;
  /** The change of address that a token proves, without using it up. */
  provenChange(
    hash: string,
    now: number,
  ): MaybePromise<{ memberId: string; address: Address } | undefined>;
  /** Uses the token of provenChange up and makes its address the current one. `changeId` names the change. */
  confirmChange(hash: string, changeId: string, now: number): Promise<Changed>;
  /** Uses an undo token up: the address from before the change is current again, the one it brought leads nowhere. `undoId` names this call. */
  undoChange(hash: string, undoId: string, now: number): Promise<Changed>;
};

export type Engine = {
  find(key: string): MaybePromise<StoredMember | undefined>;
  /** Lets a rule act on the members of these ids and keys as one step, again where another write came between. */
  change<T>(ids: string[], keys: string[], act: (rows: MemberRecords) => T): Promise<T>;
};

export function createTokenStore({ find, change }: Engine): TokenStore {
  return {
    keepSignIn: (token, sought, now) =>
      change([], [enrolledKey(token.partnerId, sought)], (rows) =>
        keepSignIn(rows, token, sought, now),
      ),
    keepChange: (token, memberId, now) =>
      change([memberId], [], (rows) => keepChange(rows, token, memberId, now)),
    keepUndo: (hash, memberId, changeId, now) =>
      change([memberId], [], (rows) => keepUndo(rows, hash, memberId, changeId, now)),
    async takeSignIn(hash, redeemer, now) {
      // Looked for first, so that trying out tokens costs no write.
      if ((await find(tokenKey(hash))) === undefined) return undefined;
      return change([], [tokenKey(hash)], (rows) => takeSignIn(rows, hash, redeemer, now));
    },
    async provenChange(hash, now) {
      const row = await find(tokenKey(hash));
      const token = row && usable(row, hash, 'change', now);
      return row && token && { memberId: row.memberId, address: token.address };
    },
    async confirmChange(hash, changeId, now) {
      const row = await find(tokenKey(hash));
      const token = row && usable(row, hash, 'change', now);
      if (row === undefined || token === undefined) return { outcome: 'invalid-token' };
      const attempt = { hash, memberId: row.memberId, attemptId: changeId };
      return change([row.memberId], [addressKey(token.address.canonical)], (rows) =>
        confirmChange(rows, attempt, now),
      );
    },
    async undoChange(hash, undoId, now) {
      const row = await find(tokenKey(hash));
      const token = row && usable(row, hash, 'undo', now);
      const changed = row?.changes?.find(({ id }) => id === token?.changeId);
      if (row === undefined || changed === undefined) return { outcome: 'invalid-token' };
      const attempt = { hash, memberId: row.memberId, attemptId: undoId };
      return change([row.memberId], [addressKey(changed.from.canonical)], (rows) =>
        undoChange(rows, attempt, now),
      );
    },
  };
}
