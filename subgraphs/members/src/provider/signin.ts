// Signing a member in by a mailed link or code, in the browser that oidc-provider talks to.
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import type { PageContent } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { KoaContextWithOIDC as Context } from 'oidc-provider';
import type { MembersStore } from '../store/store.ts';
import { type Proof, SIGN_IN_MS, type SignIn } from '../tables/signins.ts';
import {
  CONSOLE,
  createMailedSignIns,
  type MailedSignInParts,
  purposeOf,
  YEAR_MS,
} from './mailedsignin.ts';
import type { Sessions } from './sessions.ts';

export type SignInParts = MailedSignInParts & {
  store: Pick<MembersStore, 'tokens'>;
  sessions: Pick<Sessions, 'cookieName' | 'setCookie'>;
};

type CodePage = Extract<PageContent, { name: 'code' }>;
export type Begun = CodePage | { name?: never; problem?: 'invalid' | 'limited' };

/** The app's request that a sign-in is begun for, and the partner whose view the app has. */
export type SignInOf = { interactionId?: string | undefined; partnerId?: string | undefined };

/** Whoever proved to read the mail of a member. */
export type Proven = {
  memberId: string;
  address: string;
  signIn: SignIn;
  /** The app's request that the sign-in was begun for; none on the own page. */
  interactionId: string | undefined;
};

export function createSignIns(parts: SignInParts) {
  const { store, sessions, metrics } = parts;
  const mailed = createMailedSignIns(parts);
  const cookie = sessions.cookieName('sign-in');
  const knownCookie = sessions.cookieName('known');
  const idOf = (ctx: Context) => ctx.cookies.get(cookie) ?? '';

  function provenBy(ctx: Context, { signIn, mailed: to }: Proof): Proven | undefined {
    sessions.setCookie(ctx, cookie, null, 0);
    const { memberId, mailbox: address } = to;
    if (memberId === undefined) return undefined;
    return { memberId, address, signIn, interactionId: purposeOf(idOf(ctx)) };
  }

  return {
    /** The same page and the same writes, whether the address is a member's or not. */
    async begin(ctx: Context, email: string, of: SignInOf): Promise<Begun> {
      const { interactionId, partnerId } = of;
      const typed = email.trim();
      const canonical = canonicalEmail(typed);
      if (canonical === undefined) return { problem: 'invalid' };
      const known = ctx.cookies.get(knownCookie);
      const beginning = { clientAddress: ctx.ip, known, purpose: interactionId, partnerId };
      const id = await mailed.begin({ typed, canonical }, beginning);
      if (id === undefined) return { problem: 'limited' };
      sessions.setCookie(ctx, cookie, id, SIGN_IN_MS);
      return { name: 'code', address: typed };
    },

    /** By the code, for the request that the sign-in was begun for; else the page again. */
    async byCode(ctx: Context, typed: string, interactionId?: string): Promise<Proven | CodePage> {
      const outcome = await mailed.byCode(idOf(ctx), typed, interactionId);
      if ('problem' in outcome) return { name: 'code', ...outcome };
      const { typed: address } = outcome.signIn.address;
      return provenBy(ctx, outcome) ?? { name: 'code', address, problem: 'expired' };
    },

    /** By the link, in the browser that the sign-in was begun in; undefined in any other. */
    async byLink(ctx: Context, token: string): Promise<Proven | undefined> {
      const id = idOf(ctx);
      const proof = purposeOf(id) === CONSOLE ? undefined : await mailed.byLink(id, token);
      return proof && provenBy(ctx, proof);
    },

    /**
     * Confirms the address, but no partner: the member may yet refuse the app. False if the address
     * is not the member's any more, or locked.
     */
    async confirm(ctx: Context, proven: Proven): Promise<boolean> {
      const { memberId, address, signIn } = proven;
      const member = await store.tokens.confirmSignIn(memberId, { address });
      metrics.signIn(member === undefined ? 'refused' : 'success');
      if (member === undefined) return false;
      const { canonical } = signIn.address;
      const known = await mailed.remember(canonical, ctx.cookies.get(knownCookie), memberId);
      sessions.setCookie(ctx, knownCookie, known, YEAR_MS);
      return true;
    },
  };
}
