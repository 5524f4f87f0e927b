// Sign-ins that were begun with an address and are not finished.
import { hash } from 'node:crypto';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { Address } from '../rules/member.ts';

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
  /** The app's request, sealed for the browser; none on the member's own page. */
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

/** `ofAll` is how many there may be at the same time. */
export async function openSignIns(open: OpenTable, ofAll = MAX_OF_ALL) {
  const signIns = await open(SIGN_INS);
  const begun = await open(BEGUN);

  /** Replaces the sign-ins of a client address, and removes those that are missing then. */
  async function change(client: string, next: (still: Open[]) => Open[]): Promise<void> {
    let gone: Open[] = [];
    await begun.update(client, (before) => {
      const now = Date.now();
      const still = (before?.open ?? []).filter(({ expiresAt }) => expiresAt > now);
      const open = next(still);
      gone = still.filter((one) => !open.some(({ id }) => id === one.id));
      const [oldest] = open;
      if (oldest === undefined) return undefined;
      const rank = (MAX_OF_CLIENT - open.length) * 1e13 + oldest.expiresAt;
      return { client, open, rank, until: Math.max(...open.map((one) => one.expiresAt)) };
    });
    for (const { id } of gone) await signIns.remove(id);
  }

  const isFull = async () => (await signIns.count('expiresAt')) >= ofAll;

  async function clean(now: number): Promise<void> {
    await signIns.removeUntil('expiresAt', now);
    await begun.removeUntil('until', now);
  }

  return {
    /**
     * Always the same writes, whoever has the address. If there are too many sign-ins, the oldest
     * of the client address goes, or of the one with most.
     */
    async begin(signIn: SignIn): Promise<void> {
      const { signInId: id, client, expiresAt } = signIn;
      if (await isFull()) await clean(Date.now());
      // More than once if those of that address have expired meanwhile.
      while (await isFull()) {
        const [first] = await begun.range('rank', 0, 1);
        if (first === undefined) break;
        await change(first.client, (still) => still.slice(1));
      }
      await change(client, (still) => [...still.slice(1 - MAX_OF_CLIENT), { id, expiresAt }]);
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
      let ended: { client: string; left: Open[] } | undefined;
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
        const left = until === undefined ? [] : [{ id: signInId, expiresAt: until }];
        ended = { client: before.client, left };
        return until === undefined ? until : { ...before, isUsed: true, expiresAt: until };
      });
      if (ended !== undefined) {
        const { client, left } = ended;
        await change(client, (still) => still.flatMap((one) => (one.id === signInId ? left : one)));
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
