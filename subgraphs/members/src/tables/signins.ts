// Sign-ins that were begun with an address and are not finished.
import { hash } from 'node:crypto';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { Address } from '../rules/member.ts';
import { begunTable, openBegun } from './begun.ts';

export const SIGN_IN_MS = 15 * 60_000;
const MAX_OF_CLIENT = 20;
const MAX_OF_ALL = 50_000;
const MAX_TRIES = 5;

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
  /** Set once mail is composed. */
  mailed?: Mailed | undefined;
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
     * Ends the sign-in if the code or token is the mailed one, for one of any number of concurrent
     * callers. The fifth wrong code ends it too.
     */
    async finish(signInId: string, kind: 'code' | 'token', typed: string): Promise<Outcome> {
      let ended: SignIn | undefined;
      let outcome: Outcome = 'ended';
      await signIns.update(signInId, (before) => {
        [ended, outcome] = [undefined, 'ended'];
        if (before === undefined || before.expiresAt <= Date.now()) return before;
        const { mailed, tries } = before;
        if (mailed?.[kind] === secretHash(signInId, typed)) outcome = { signIn: before, mailed };
        else if (tries + 1 < MAX_TRIES) {
          outcome = 'wrong';
          return { ...before, tries: tries + 1 };
        }
        ended = before;
        return undefined;
      });
      if (ended !== undefined) await begun.finish(ended.client, signInId);
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
