// Sign-ins that were begun with an address and are not finished.
import { hash } from 'node:crypto';
import type { Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { firstUseOf, REPEAT_MS } from '../rules/mailedtoken.ts';
import type { Address } from '../rules/member.ts';

export const SIGN_IN_MS = 15 * 60_000;
const MAX_OF_CLIENT = 20;
/** Of 50,000 in all. Those whose hashes begin with the same character stand for the others. */
const SLICE = { size: 50_000 / 64, characters: 1 };
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
  /** The app's request, sealed for the browser; none on the member's own page. */
  request?: string | undefined;
  /** Set once mail is composed. */
  mailed?: Mailed | undefined;
  /**
   * Once the code or the link has been used, which the same browser may do again for a minute: the
   * hash of what that browser was known by, empty if by nothing.
   */
  usedBy?: string;
};

/** `mailbox` is canonical, and staff need not be members; the codes are hashes. */
type Mailed = { memberId?: string | undefined; mailbox: string; code: string; token: string };

/** What a code or a link makes of a sign-in. */
type Outcome = 'wrong' | 'ended' | Proof;
export type Proof = { signIn: SignIn & { usedAt: number }; mailed: Mailed };

export const SIGN_INS: TableDefinition<SignIn> = {
  name: 'signins',
  id: 'signInId',
  orders: ['expiresAt'],
};

type Open = Pick<SignIn, 'expiresAt'> & { id: string };
/** The sign-ins of a client address, the oldest first. */
type Begun = {
  client: string;
  open: Open[];
  /** The lower, the more there are; of as many, the older. */
  rank: number;
  until: number;
};

export const BEGUN: TableDefinition<Begun> = {
  name: 'signinsbegun',
  id: 'client',
  orders: ['rank', 'until'],
};

export type SignInStore = Awaited<ReturnType<typeof openSignIns>>;

export async function openSignIns(open: OpenTable, slice = SLICE) {
  const signIns = await open(SIGN_INS);
  const begun = await open(BEGUN);

  /** Replaces the sign-ins of a client address, and removes those that are missing then. */
  function change(tx: Transaction, client: string, next: (still: Open[]) => Open[]): void {
    let gone: Open[] = [];
    begun.change(tx, client, (before) => {
      const now = Date.now();
      const still = (before?.open ?? []).filter(({ expiresAt }) => expiresAt > now);
      const open = next(still);
      gone = still.filter((one) => !open.some(({ id }) => id === one.id));
      const [oldest] = open;
      if (oldest === undefined) return undefined;
      const rank = (MAX_OF_CLIENT - open.length) * 1e13 + oldest.expiresAt;
      return { client, open, rank, until: Math.max(...open.map((one) => one.expiresAt)) };
    });
    for (const { id } of gone) signIns.change(tx, id, () => undefined);
  }

  const isOver = async (signInId: string) =>
    (await signIns.countStarting(signInId.slice(0, slice.characters))) > slice.size;

  async function clean(now: number): Promise<void> {
    await signIns.removeUntil('expiresAt', now);
    await begun.removeUntil('until', now);
  }

  return {
    /** After one has begun: if there are too many, the oldest of the address with most goes. */
    async trim(signInId: string): Promise<void> {
      if (!(await isOver(signInId))) return;
      await clean(Date.now());
      const [first] = (await isOver(signInId)) ? await begun.range('rank', 0, 1) : [];
      if (first !== undefined)
        await open.transact((tx) => change(tx, first.client, (still) => still.slice(1)));
    },
    /** Always the same writes, whoever has the address. A client address keeps its newest 20. */
    begin(tx: Transaction, signIn: SignIn): void {
      const { signInId: id, client, expiresAt } = signIn;
      change(tx, client, (still) => [...still.slice(1 - MAX_OF_CLIENT), { id, expiresAt }]);
      signIns.change(tx, id, () => signIn);
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
     * the answer may be lost, and `usedBy` stays that of the first use. The fifth wrong code ends
     * the sign-in too.
     */
    async finish(
      signInId: string,
      kind: 'code' | 'token',
      typed: string,
      by: string,
    ): Promise<Outcome> {
      let ended: { client: string; left: Open[] } | undefined;
      let outcome: Outcome = 'ended';
      await signIns.update(signInId, (before) => {
        [ended, outcome] = [undefined, 'ended'];
        const now = Date.now();
        if (before === undefined || before.expiresAt <= now) return before;
        const { mailed, tries, usedBy = by } = before;
        const usedAt = firstUseOf(before) ?? now;
        const isRight = mailed?.[kind] === secretHash(signInId, typed);
        const used = { ...before, usedBy, expiresAt: usedAt + REPEAT_MS };
        if (isRight) outcome = { signIn: { ...used, usedAt }, mailed };
        if (before.usedBy !== undefined) return before;
        if (!isRight && tries + 1 < MAX_TRIES) {
          outcome = 'wrong';
          return { ...before, tries: tries + 1 };
        }
        const left = isRight ? [{ id: signInId, expiresAt: used.expiresAt }] : [];
        ended = { client: before.client, left };
        return isRight ? used : undefined;
      });
      if (ended !== undefined) {
        const { client, left } = ended;
        await open.transact((tx) =>
          change(tx, client, (still) => still.flatMap((one) => (one.id === signInId ? left : one))),
        );
      }
      return outcome;
    },
    /** The sign-ins with an address that is wanted. */
    async select(isWanted: (canonical: string) => boolean) {
      const found = await signIns.select(({ address }) => isWanted(address.canonical));
      return found.map(({ address, client, expiresAt }) => ({ address, client, expiresAt }));
    },
    /** Removes those with an address that is unwanted. */
    discard: (isUnwanted: (canonical: string) => boolean) =>
      signIns.removeWhere(({ address }) => isUnwanted(address.canonical)),
    clean,
  };
}

/** The form in which a code or token is stored. */
export function secretHash(signInId: string, secret: string): string {
  return hash('sha256', `${signInId}\n${secret}`);
}
