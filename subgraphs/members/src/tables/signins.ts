// Sign-ins that were begun with an address and are not finished.
import { hash } from 'node:crypto';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { Address } from '../rules/member.ts';
import { begunTable, openBegun } from './begun.ts';

export const SIGN_IN_MS = 15 * 60_000;
const MAX_OF_CLIENT = 20;
const MAX_OF_ALL = 50_000;
const MAX_TRIES = 5;
const REPEAT_MS = 60_000;

/** Times are in milliseconds since 1970. */
export type SignIn = {
  /** The hash of what the browser holds that began it. */
  signInId: string;
  address: Address;
  /** The client address that began it. */
  client: string;
  expiresAt: number;
  /** How many wrong codes were typed. */
  tries: number;
  /** The app's request, sealed for the browser; none on the own page. */
  request?: string | undefined;
  /** Set once mail is composed. */
  mailed?: Mailed | undefined;
  /** The code or the link has been used, which the same browser may do again for a minute. */
  isUsed?: true;
};

/** `mailbox` is canonical, and staff need not be members; the codes are hashes. */
type Mailed = { memberId?: string | undefined; mailbox: string; code: string; token: string };

/** What a code or a link makes of a sign-in. */
type Outcome = 'wrong' | 'ended' | Proof;
export type Proof = { signIn: SignIn; mailed: Mailed };

export const SIGN_INS: TableDefinition<SignIn> = {
  name: 'signins',
  id: 'signInId',
  orders: ['expiresAt'],
};
export const BEGUN = begunTable('signinsbegun');

export type SignInStore = Awaited<ReturnType<typeof openSignIns>>;

/** `ofAll` is how many there may be at the same time. */
export async function openSignIns(open: OpenTable, ofAll = MAX_OF_ALL) {
  const signIns = await open(SIGN_INS);
  const begun = await openBegun(open, {
    definition: BEGUN,
    most: { ofClient: MAX_OF_CLIENT, ofAll },
    total: () => signIns.count('expiresAt'),
    remove: signIns.remove,
    removeUntil: (now) => signIns.removeUntil('expiresAt', now),
  });

  return {
    /** Always the same writes, whoever has the address. */
    async begin(signIn: SignIn): Promise<void> {
      const { signInId: id, client, expiresAt } = signIn;
      await begun.add(client, { id, expiresAt });
      await signIns.put(signIn);
    },
    async find(signInId: string): Promise<SignIn | undefined> {
      const signIn = await signIns.get(signInId);
      return signIn !== undefined && signIn.expiresAt > Date.now() ? signIn : undefined;
    },
    /** False if it is over. */
    async mailed(signInId: string, mailed: Mailed): Promise<boolean> {
      const written = await signIns.update(signInId, (before) => before && { ...before, mailed });
      return written !== undefined;
    },
    /**
     * Ends the sign-in if the code or token is the mailed one. For a minute, it can be used again:
     * the answer may be lost. The fifth wrong code ends the sign-in too.
     */
    async finish(signInId: string, kind: 'code' | 'token', typed: string): Promise<Outcome> {
      let ended: { client: string; until: number | undefined } | undefined;
      let outcome: Outcome = 'ended';
      await signIns.update(signInId, (before) => {
        [ended, outcome] = [undefined, 'ended'];
        const now = Date.now();
        if (before === undefined || before.expiresAt <= now) return before;
        const { mailed, tries, isUsed, expiresAt } = before;
        const isRight = mailed?.[kind] === secretHash(signInId, typed);
        if (isRight) outcome = { signIn: before, mailed };
        if (isUsed) return before;
        if (!isRight && tries + 1 < MAX_TRIES) {
          outcome = 'wrong';
          return { ...before, tries: tries + 1 };
        }
        const until = isRight ? Math.min(expiresAt, now + REPEAT_MS) : undefined;
        ended = { client: before.client, until };
        return until === undefined ? until : { ...before, isUsed: true, expiresAt: until };
      });
      if (ended !== undefined) await begun.finish(ended.client, signInId, ended.until);
      return outcome;
    },
    /** Those with an address that is wanted. */
    async select(isWanted: (canonical: string) => boolean) {
      const found = await signIns.select(({ address }) => isWanted(address.canonical));
      return found.map(({ address, client, expiresAt }) => ({ address, client, expiresAt }));
    },
    /** Removes those with an address that is unwanted. */
    discard: (isUnwanted: (canonical: string) => boolean) =>
      signIns.removeWhere(({ address }) => isUnwanted(address.canonical)),
    clean: begun.clean,
  };
}

/** The form in which a code or token is stored. */
export function secretHash(signInId: string, secret: string): string {
  return hash('sha256', `${signInId}\n${secret}`);
}
