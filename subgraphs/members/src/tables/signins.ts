// Sign-ins that were begun with an address and are not finished.
import { hash } from 'node:crypto';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { Address } from '../rules/member.ts';

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

/** The sign-ins that a client address has begun, the oldest first. */
type Begun = {
  client: string;
  open: Pick<SignIn, 'signInId' | 'expiresAt'>[];
  /** The lower, the more there are; of as many, the older. */
  rank: number;
  until: number;
};

/** What a code or a link makes of a sign-in. */
type Outcome = 'wrong' | 'ended' | Proof;
export type Proof = { signIn: SignIn; mailed: Mailed };

export const SIGN_INS: TableDefinition<SignIn> = {
  name: 'signins',
  id: 'signInId',
  orders: ['expiresAt'],
};
export const BEGUN: TableDefinition<Begun> = {
  name: 'signinsbegun',
  id: 'client',
  orders: ['rank', 'until'],
};

export type SignInStore = Awaited<ReturnType<typeof openSignIns>>;

/** `mostOfAll` is how many there may be at the same time. */
export async function openSignIns(open: OpenTable, mostOfAll = MAX_OF_ALL) {
  const signIns = await open(SIGN_INS);
  const begun = await open(BEGUN);

  /** Takes the oldest of a client address out that are too many, before one is added. */
  async function makeRoom(client: string, most: number, added?: Begun['open'][0]): Promise<void> {
    let removed: string[] = [];
    await begun.update(client, (before) => {
      const now = Date.now();
      const still = (before?.open ?? []).filter(({ expiresAt }) => expiresAt > now);
      const cut = Math.max(0, still.length - most);
      removed = still.slice(0, cut).map(({ signInId }) => signInId);
      return begunOf(client, [...still.slice(cut), ...(added ? [added] : [])]);
    });
    for (const signInId of removed) await signIns.remove(signInId);
  }

  async function forgetBegun({ client, signInId }: SignIn): Promise<void> {
    await begun.update(client, (before) => {
      const open = before?.open.filter((one) => one.signInId !== signInId) ?? [];
      return begunOf(client, open);
    });
  }

  const isFull = async () => (await signIns.count('expiresAt')) >= mostOfAll;

  async function clean(now: number): Promise<void> {
    await signIns.removeUntil('expiresAt', now);
    await begun.removeUntil('until', now);
  }

  return {
    /** Always the same writes, whoever has the address. */
    async begin(signIn: SignIn): Promise<void> {
      if (await isFull()) await clean(Date.now());
      // More than once if those of that address have expired meanwhile.
      while (await isFull()) {
        const [most] = await begun.range('rank', 0, 1);
        if (most === undefined) break;
        await makeRoom(most.client, most.open.length - 1);
      }
      const { signInId, client, expiresAt } = signIn;
      await makeRoom(client, MAX_OF_CLIENT - 1, { signInId, expiresAt });
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
      if (ended !== undefined) await forgetBegun(ended);
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
    clean,
  };
}

function begunOf(client: string, open: Begun['open']): Begun | undefined {
  const [oldest, newest] = [open[0], open.at(-1)];
  if (oldest === undefined || newest === undefined) return undefined;
  const rank = (MAX_OF_CLIENT - open.length) * 1e13 + oldest.expiresAt;
  return { client, open, rank, until: newest.expiresAt };
}

/** The form in which a code or token is stored. */
export function secretHash(signInId: string, secret: string): string {
  return hash('sha256', `${signInId}\n${secret}`);
}
