// Signing a member in by a mailed link or code: from the address to the proof.
import { randomBytes, randomUUID } from 'node:crypto';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { PageContent } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { KoaContextWithOIDC as Context } from 'oidc-provider';
import { codeLimits } from '../mail/limits.ts';
import { readCode } from '../rules/mailedcode.ts';
import type { MembersStore } from '../store/store.ts';
import { digest } from '../tables/access.ts';
import { SIGN_IN_MS, type SignIn, secretHash } from '../tables/signins.ts';
import type { Sessions } from './sessions.ts';

const YEAR_MS = 365 * 24 * 3_600_000;

export type SignInParts = {
  store: Pick<MembersStore, 'outbox' | 'payloads' | 'signIns' | 'tokens'>;
  sessions: Pick<Sessions, 'cookieName' | 'setCookie'>;
  metrics: Pick<Metrics, 'signIn'>;
  /** Called when there is mail to send. */
  wake(): void;
};

type CodePage = Extract<PageContent, { name: 'code' }>;
export type Begun = CodePage | { name?: never; problem?: 'invalid' | 'limited' };

/** Whoever proved to read the mail of a member. */
export type Proven = { memberId: string; address: string; signIn: SignIn };

export function createSignIns({ store, sessions, metrics, wake }: SignInParts) {
  const { outbox, payloads, signIns } = store;
  const cookie = sessions.cookieName('sign-in');
  const knownCookie = sessions.cookieName('known');
  const idOf = (ctx: Context) => digest(ctx.cookies.get(cookie) ?? '');

  /** The row of a browser that has signed in with the address before. */
  const knownKey = (id: string, address: string) => `Known:${digest(`${id}\n${address}`)}`;

  async function isLimited(ctx: Context, address: string): Promise<boolean> {
    const id = ctx.cookies.get(knownCookie) ?? '';
    const isKnown = (await payloads.find(knownKey(id, address))) !== undefined;
    const browser = isKnown ? digest(id) : undefined;
    for (const limit of codeLimits(address, addressBlock(ctx.ip), browser))
      if (!(await outbox.admit(limit, Date.now()))) return true;
    return false;
  }

  async function prove(ctx: Context, kind: 'code' | 'token', typed: string) {
    const outcome = await signIns.finish(idOf(ctx), kind, typed);
    if (typeof outcome === 'string') {
      metrics.signIn(outcome === 'wrong' ? 'wrong_code' : 'expired');
      return outcome;
    }
    sessions.setCookie(ctx, cookie, null, 0);
    const { signIn, mailed } = outcome;
    return { signIn, memberId: mailed.memberId, address: mailed.mailbox } satisfies Proven;
  }

  return {
    /** The same page and the same writes, whether the address is a member's or not. */
    async begin(ctx: Context, email: string, interactionId?: string): Promise<Begun> {
      const typed = email.trim();
      const canonical = canonicalEmail(typed);
      if (canonical === undefined) return { problem: 'invalid' };
      if (await isLimited(ctx, canonical)) {
        metrics.signIn('limited');
        return { problem: 'limited' };
      }
      const id = randomBytes(32).toString('base64url');
      const signInId = digest(id);
      const address = { typed, canonical };
      const [now, client] = [Date.now(), addressBlock(ctx.ip)];
      const expiresAt = now + SIGN_IN_MS;
      await signIns.begin({ signInId, address, client, interactionId, expiresAt, tries: 0 });
      const task = { kind: 'code', signInId, address } as const;
      await outbox.add({ jobId: randomUUID(), task, requestedAt: now });
      wake();
      sessions.setCookie(ctx, cookie, id, SIGN_IN_MS);
      return { name: 'code', address: typed };
    },

    /** By the code, for the request that the sign-in was begun for; else the page again. */
    async byCode(ctx: Context, typed: string, interactionId?: string): Promise<Proven | CodePage> {
      const signIn = await signIns.find(idOf(ctx));
      const address = signIn?.address.typed ?? '';
      if (signIn === undefined || signIn.interactionId !== interactionId)
        return { name: 'code', address, problem: 'expired' };
      const proven = await prove(ctx, 'code', readCode(typed));
      if (proven === 'wrong') return { name: 'code', address, problem: 'wrong' };
      return proven === 'ended' ? { name: 'code', address, problem: 'expired' } : proven;
    },

    /** By the link, in the browser that the sign-in was begun in; undefined in any other. */
    async byLink(ctx: Context, token: string): Promise<Proven | undefined> {
      const signInId = idOf(ctx);
      const signIn = await signIns.find(signInId);
      if (signIn?.mailed?.token !== secretHash(signInId, token)) return undefined;
      const proven = await prove(ctx, 'token', token);
      return typeof proven === 'string' ? undefined : proven;
    },

    /**
     * Confirms the address, and the partner of the app. False if the address is not the member's
     * any more, or locked.
     */
    async confirm(ctx: Context, proven: Proven, partnerId?: string): Promise<boolean> {
      const { memberId, address, signIn } = proven;
      const member = await store.tokens.confirmSignIn(memberId, { address, partnerId });
      metrics.signIn(member === undefined ? 'refused' : 'success');
      if (member === undefined) return false;
      const known = ctx.cookies.get(knownCookie) ?? randomBytes(32).toString('base64url');
      const key = knownKey(known, signIn.address.canonical);
      await payloads.put(key, { accountId: memberId }, Date.now() + YEAR_MS);
      sessions.setCookie(ctx, knownCookie, known, YEAR_MS);
      return true;
    },
  };
}
