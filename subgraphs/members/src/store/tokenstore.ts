// Stores mailed tokens and changes of address.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import {
  confirmChange,
  type EmailChangeResult,
  findUndoing,
  type UndoResult,
  undoChange,
} from '../rules/emailchange.ts';
import {
  enrolledKey,
  isConfirmed,
  isLocked,
  type MemberRecord,
  tokenKey,
} from '../rules/record.ts';
import {
  addChangeToken,
  addSignInToken,
  addUndoToken,
  confirmSignIn,
  findToken,
  type Redeemer,
  redeemSignInToken,
  takeBack,
} from '../rules/token.ts';
import { type ApplyRule, applied } from './apply.ts';
import { CONFIRMATIONS } from './rows.ts';

/** Reads the member that a key leads to. */
export type FindRecord = (key: string) => MaybePromise<MemberRecord | undefined>;

/**
 * The rules of rules/token.ts and rules/emailchange.ts, each applied in one transaction, and the
 * reads for them. Times are in milliseconds since 1970. Tokens are identified by their hashes.
 */
export function createTokenStore(
  store: Store,
  find: FindRecord,
  apply: ApplyRule,
  apps: { find(clientId: string): MaybePromise<object | undefined> },
) {
  const changeOf = async (hash: string, now: number, formId?: string) => {
    const record = await find(tokenKey(hash));
    const token = record && findToken(record, hash, 'change', now, formId);
    if (record === undefined || token === undefined) return undefined;
    const { memberId } = record;
    return { memberId, address: token.address, isMade: token.usedBy !== undefined };
  };
  const undoingOf = async (hash: string, now: number, formId?: string) => {
    const record = await find(tokenKey(hash));
    const undoing = record && findUndoing(record, hash, now, formId);
    return record && undoing && { memberId: record.memberId, ...undoing };
  };
  return {
    /** The address and the partner of a link, without redeeming it. */
    async findSignIn(hash: string, now: number, formId?: string) {
      const record = await find(tokenKey(hash));
      return record && findToken(record, hash, 'sign-in', now, formId);
    },
    /**
     * The member that `addSignIn` would add a token to, and whether the address that its mail goes
     * to is confirmed.
     */
    async findRecipient(partnerId: string, canonical: string) {
      const record = await find(enrolledKey(partnerId, canonical));
      if (record === undefined || isLocked(record, record.address)) return undefined;
      return { memberId: record.memberId, isConfirmed: isConfirmed(record) };
    },
    addSignIn: applied(apply, addSignInToken),
    addChange: applied(apply, addChangeToken),
    addUndo: applied(apply, addUndoToken),

    async redeemSignIn(hash: string, redeemer: Redeemer, now: number, formId?: string) {
      // A read first, so that guessing tokens costs no write.
      if ((await find(tokenKey(hash))) === undefined) return undefined;
      return apply((records) => redeemSignInToken(records, hash, redeemer, now, formId));
    },
    confirmSignIn: applied(apply, confirmSignIn),
    takeBack: applied(apply, takeBack),

    /** Takes back what apps that have been removed have confirmed at all members. */
    async takeBackRemoved(stopping?: AbortSignal): Promise<void> {
      for (let from = ''; ; await nextTurn()) {
        const [next] = await store.keys(CONFIRMATIONS, { prefix: [], from: [from], limit: 1 });
        if (next === undefined || stopping?.aborted) return;
        const clientId = String(next[0]);
        // The first ID after it.
        from = `${clientId}\0`;
        if ((await apps.find(clientId)) !== undefined) continue;
        for await (const page of pagesOf(store, CONFIRMATIONS, { prefix: [clientId] }))
          for (const { key } of page) {
            if (stopping?.aborted) return;
            await apply((records) => takeBack(records, String(key[1]), [clientId]));
          }
      }
    },

    /**
     * The change of address that a token proves, without redeeming it. `isMade` says that the form
     * has redeemed it.
     */
    findChange: changeOf,

    /** `changeId` becomes the ID of the change. */
    async confirmChange(
      hash: string,
      changeId: string,
      now: number,
      formId?: string,
    ): Promise<EmailChangeResult> {
      const change = await changeOf(hash, now, formId);
      if (change === undefined) return { outcome: 'invalid-token' };
      const { memberId } = change;
      return apply((records) =>
        confirmChange(records, { hash, memberId, attemptId: changeId, formId }, now),
      );
    },

    /**
     * The member whose change a token would undo, and the addresses that this would take away,
     * without redeeming it.
     */
    findUndo: undoingOf,

    /** `undoId` identifies the call, and `taken` is what `findUndo` has returned. */
    async undoChange(
      hash: string,
      { undoId, taken }: { undoId: string; taken: readonly string[] },
      now: number,
      formId?: string,
    ): Promise<UndoResult> {
      const undoing = await undoingOf(hash, now, formId);
      if (undoing === undefined) return { outcome: 'invalid-token' };
      const { memberId } = undoing;
      return apply((records) =>
        undoChange(records, { hash, memberId, attemptId: undoId, formId }, taken, now),
      );
    },
  };
}
