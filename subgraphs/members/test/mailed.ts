// Mailed tokens of a members store, as mail makes and pages redeem them.
import { randomUUID } from 'node:crypto';
import type { MembersStore } from '../src/index.ts';
import { makeToken, TOKEN_USES } from '../src/rules/mailedtoken.ts';
import { address } from './engine.ts';

/** Everything happens at `now`, and is of ada and of inn, unless it is said. */
export function mailedTokens(storeNow: () => MembersStore, now: number) {
  const mailed = {
    /** The hash of a link's token; undefined if nobody gets it. */
    async link(sought: string, { partnerId = 'inn', ownPage = true, at = now } = {}) {
      const { hash } = makeToken('sign-in');
      const expiresAt = at + TOKEN_USES['sign-in'].lifetimeMs;
      const token = { use: 'sign-in', hash, expiresAt, partnerId, ownPage } as const;
      return (await storeNow().tokens.addSignIn(token, sought, at)) && hash;
    },
    /** The hash of a change's token; undefined if it is refused. */
    async change(email: string, memberId = 'ada', at = now) {
      const { hash } = makeToken('change');
      const expiresAt = at + TOKEN_USES.change.lifetimeMs;
      const token = { use: 'change', hash, expiresAt, address: address(email) } as const;
      return (await storeNow().tokens.addChange(token, memberId, at)) ? hash : undefined;
    },
    async changeTo(email: string, memberId = 'ada', at = now) {
      const [hash = '', changeId] = [await mailed.change(email, memberId, at), randomUUID()];
      return { ...(await storeNow().tokens.confirmChange(hash, changeId, at)), changeId };
    },
    async undoLink(changeId: string, memberId = 'ada', at = now) {
      const { hash } = makeToken('undo');
      await storeNow().tokens.addUndo(hash, memberId, changeId, at);
      return hash;
    },
    async undo(hash: string, at = now) {
      const taken = (await storeNow().tokens.findUndo(hash, at))?.taken ?? [];
      const undoId = randomUUID();
      return {
        ...(await storeNow().tokens.undoChange(hash, { undoId, taken }, at)),
        undoId,
        taken,
      };
    },
  };
  return mailed;
}
