// Signing in by a mailed link or code, from the address to the proof: of members, and of staff.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { codeLimits } from '@partner-loyalty/members/mail/limits.ts';
import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import { readCode } from '@partner-loyalty/members/rules/mailedtoken.ts';
import type { Address } from '@partner-loyalty/members/rules/member.ts';
import { digest } from '@partner-loyalty/members/tables/access.ts';
import type { MailTask } from '@partner-loyalty/members/tables/outbox.ts';
import { knownId, type Payload } from '@partner-loyalty/members/tables/payloads.ts';
import {
  type Proof,
  SIGN_IN_MS,
  type SignIn,
  secretHash,
} from '@partner-loyalty/members/tables/signins.ts';
import { addressBlock, addressSite } from '@partner-loyalty/runtime/http/address.ts';

/** For how long a browser is known. */
export const YEAR_MS = 365 * 24 * 3_600_000;

export type MailedSignInParts = Pick<MembersCore, 'store' | 'metrics' | 'wake'>;

/**
 * What a browser holds: the IDs of the sign-ins that it has begun, the newest last; and what it is
 * known by that has signed in before.
 */
type Held = { held: string | undefined; known: string | undefined };

type Beginning = Held & {
  clientAddress: string;
  /** An app's request or CONSOLE; none on the member's own page. */
  purpose: string | undefined;
  /** The app's request, sealed for the browser. */
  request?: string | undefined;
} & Pick<Extract<MailTask, { kind: 'code' }>, 'partnerId' | 'language' | 'staff'>;

type Problem = { problem: 'wrong' | 'expired'; address: string };

/**
 * `purpose` is that of the sign-in; the browser is to hold `held` and `known` from now on, and
 * `session` for its session. Whoever repeats it gets the same secrets.
 */
export type Finished = Proof & {
  purpose: string | undefined;
  held: string;
  known: string;
  session: string;
};

/** How many pending sign-ins a browser can finish. */
const KEPT = 5;
/** How many browsers an address knows: those that signed in last. */
const MAX_KNOWN = 10;

/** The purpose of a sign-in of staff. */
export const CONSOLE = 'console';

type Pending = { id: string; signIn: SignIn };

const has =
  (kind: 'code' | 'token', secret: string) =>
  ({ signIn: { signInId, mailed } }: Pending) =>
    mailed?.[kind] === secretHash(signInId, secret);

/** Whether a sign-in is one of members, or of staff, as the purpose is. */
const isOf =
  (purpose: string | undefined) =>
  ({ id }: Pending) =>
    (purposeOf(id) === CONSOLE) === (purpose === CONSOLE);

const idsIn = (held: string) => (held.match(/[^~]+/g) ?? []).slice(-KEPT);

/** What a sign-in was begun for. */
function purposeOf(id: string): string | undefined {
  return id.split('.')[1] || undefined;
}

/** The digests of the browsers that an address knows. Cast: only `remember` writes such rows. */
const browsersIn = (row: Payload | undefined) => (row?.browsers ?? []) as string[];

/**
 * The secrets that a sign-in gives the browser. Only who has both the browser's ID of it and the
 * mail can know them, and the store has neither.
 */
function secretsOf(id: string, { signIn, mailed }: Proof, known: string | undefined) {
  const secret = (use: string) =>
    createHmac('sha256', id).update(`${use}\n${mailed.token}`).digest('base64url');
  const isSame = known !== undefined && digest(known) === signIn.usedBy;
  return { known: isSame ? known : secret('known'), session: secret('session') };
}

/**
 * An ID of a sign-in is hashed as a whole, so that no other purpose can take the place of the one
 * in it.
 */
export function createMailedSignIns({ store, metrics, wake }: MailedSignInParts) {
  const { outbox, payloads, signIns } = store;

  async function limitsOf(kind: 'code' | 'console', address: string, client: string, known = '') {
    const browser = digest(known);
    const isKnown = browsersIn(await payloads.find(knownId(address))).includes(browser);
    return codeLimits(kind, address, client, isKnown ? browser : undefined);
  }

  /** The pending sign-ins of a browser, the newest first. */
  async function pendingIn({ held = '' }: Held): Promise<Pending[]> {
    const ids = idsIn(held).reverse();
    const found = await Promise.all(ids.map((id) => signIns.find(digest(id))));
    return found.flatMap((signIn, index) => (signIn ? { id: ids[index] ?? '', signIn } : []));
  }

  async function finish(
    { held = '', known }: Held,
    tried: readonly Pending[],
    kind: 'code' | 'token',
    secret: string,
  ): Promise<Finished | 'wrong' | 'ended'> {
    let outcome: Finished | 'wrong' | 'ended' = 'ended';
    const by = known === undefined ? '' : digest(known);
    for (const { id, signIn } of tried) {
      const one = await signIns.finish(signIn.signInId, kind, secret, by);
      const left = idsIn(held).filter((other) => other !== id);
      const of = { purpose: purposeOf(id), held: left.join('~') };
      if (typeof one !== 'string') outcome = { ...one, ...secretsOf(id, one, known), ...of };
      else if (one === 'wrong') outcome = one;
    }
    if (typeof outcome === 'string') metrics.signIn(outcome === 'wrong' ? 'wrong_code' : 'expired');
    return outcome;
  }

  return {
    /**
     * The same writes, whether mail will be sent or not. Resolves with what the browser is to hold.
     */
    async begin(address: Address, beginning: Beginning) {
      const { clientAddress, held = '', known, purpose, request, partnerId, ...more } = beginning;
      const client = addressBlock(clientAddress);
      const kind = purpose === CONSOLE ? CONSOLE : 'code';
      const limits = await limitsOf(kind, address.canonical, client, known);
      // Whoever knows the ID of a request could go on with it, so the store does not have it.
      const id = `${randomBytes(32).toString('base64url')}.${purpose ?? ''}`;
      const signInId = digest(id);
      const requestedAt = Date.now();
      const asked = request === undefined ? {} : { request };
      const times = { expiresAt: requestedAt + SIGN_IN_MS, tries: 0 };
      const signIn = { signInId, address, client, ...times, ...asked };
      const of = { ...(partnerId !== undefined && { partnerId }), ...more };
      const task = { kind: 'code' as const, signInId, address, ...of };
      const owner = addressSite(clientAddress);
      const job = { jobId: randomUUID(), task, requestedAt, owner };
      const isBegun = await outbox.addWithin(limits, job, (tx) => signIns.begin(tx, signIn));
      if (!isBegun) {
        metrics.signIn('limited');
        return undefined;
      }
      await signIns.trim(signInId);
      wake();
      return [...idsIn(held).slice(1 - KEPT), id].join('~');
    },

    /**
     * By the code of any sign-in that the browser began, for members or staff. A wrong code counts
     * for each of them. A problem has the address of the newest one for the purpose, or of all.
     */
    async byCode(browser: Held, typed: string, purpose?: string): Promise<Finished | Problem> {
      const all = await pendingIn(browser);
      const newest = all.find(({ id }) => purposeOf(id) === purpose) ?? all[0];
      const address = newest?.signIn.address.typed ?? '';
      const pending = all.filter(isOf(purpose));
      if (pending.length === 0) return { problem: 'expired', address };
      const code = readCode(typed);
      const found = pending.filter(has('code', code));
      const outcome = await finish(browser, found.length > 0 ? found : pending, 'code', code);
      if (typeof outcome !== 'string') return outcome;
      return { problem: outcome === 'wrong' ? 'wrong' : 'expired', address };
    },

    /** By the link, in the browser that the sign-in was begun in; undefined in any other. */
    async byLink(browser: Held, token: string, purpose?: string): Promise<Finished | undefined> {
      const pending = (await pendingIn(browser)).filter(isOf(purpose)).filter(has('token', token));
      if (pending.length === 0) return undefined;
      const outcome = await finish(browser, pending, 'token', token);
      return typeof outcome === 'string' ? undefined : outcome;
    },

    /** The address knows the browser for a year. */
    remember({ signIn, known }: Pick<Finished, 'signIn' | 'known'>, memberId?: string) {
      const browser = digest(known);
      return payloads.change(knownId(signIn.address.canonical), (before, now) => {
        const row = before && before.expiresAt > now ? before.payload : undefined;
        const others = browsersIn(row).filter((one) => one !== browser);
        const browsers = [...others, browser].slice(-MAX_KNOWN);
        const of = memberId === undefined ? {} : { accountId: memberId };
        return { payload: { ...row, ...of, browsers }, expiresAt: now + YEAR_MS };
      });
    },
  };
}
