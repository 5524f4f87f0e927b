// Signing a member in by a mailed link or code, in the browser that oidc-provider talks to.

import { SIGN_IN_MS } from '@partner-loyalty/members/tables/signins.ts';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import type { SignInCard } from '@partner-loyalty/runtime/pages/cards.ts';
import type { KoaContextWithOIDC as Context } from 'oidc-provider';
import {
  createMailedSignIns,
  type Finished,
  type MailedSignInParts,
  YEAR_MS,
} from './mailedsignin.ts';
import { textsOf } from './render.ts';
import type { Sessions } from './sessions.ts';

export type SignInParts = MailedSignInParts & {
  sessions: Pick<Sessions, 'cookieName' | 'setCookie'>;
};

type CodePage = Extract<SignInCard, { name: 'code' }>;
export type Begun = CodePage | { name?: never; problem?: 'invalid' | 'limited' };

/** The app's request that a sign-in is begun for, and the partner whose view the app has. */
export type SignInOf = {
  interactionId?: string | undefined;
  /** The same request, sealed. */
  request?: string | undefined;
  partnerId?: string | undefined;
};

/** Whoever proved to read the mail of a member. */
export type Proven = Pick<Finished, 'signIn' | 'known' | 'session'> & {
  memberId: string;
  address: string;
  /** The app's request that the sign-in was begun for; none on the member's own page. */
  interactionId: string | undefined;
};

export function createSignIns(parts: SignInParts) {
  const { store, sessions, metrics } = parts;
  const mailed = createMailedSignIns(parts);
  const cookie = sessions.cookieName('sign-in');
  const knownCookie = sessions.cookieName('known');
  const heldBy = (ctx: Context) => ({
    held: ctx.cookies.get(cookie),
    known: ctx.cookies.get(knownCookie),
  });

  function provenBy(ctx: Context, finished: Finished): Proven | undefined {
    const { mailed: to, purpose: interactionId, held } = finished;
    sessions.setCookie(ctx, cookie, held || null, SIGN_IN_MS);
    const { memberId, mailbox: address } = to;
    return memberId === undefined ? undefined : { ...finished, memberId, address, interactionId };
  }

  return {
    /** The same page and the same writes, whether the address is a member's or not. */
    async begin(ctx: Context, email: string, of: SignInOf): Promise<Begun> {
      const { interactionId, request, partnerId } = of;
      const typed = email.trim();
      const canonical = canonicalEmail(typed);
      if (canonical === undefined) return { problem: 'invalid' };
      const browser = { clientAddress: ctx.ip, ...heldBy(ctx) };
      const { language } = textsOf(ctx);
      const beginning = { ...browser, purpose: interactionId, request, partnerId, language };
      const held = await mailed.begin({ typed, canonical }, beginning);
      if (held === undefined) return { problem: 'limited' };
      sessions.setCookie(ctx, cookie, held, SIGN_IN_MS);
      return { name: 'code', address: typed };
    },

    /** By a code, for the request that its sign-in was begun for; else the page again. */
    async byCode(ctx: Context, typed: string, interactionId?: string): Promise<Proven | CodePage> {
      const outcome = await mailed.byCode(heldBy(ctx), typed, interactionId);
      if ('problem' in outcome) return { name: 'code', ...outcome };
      const { typed: address } = outcome.signIn.address;
      return provenBy(ctx, outcome) ?? { name: 'code', address, problem: 'expired' };
    },

    /** By the link, in the browser that the sign-in was begun in; undefined in any other. */
    async byLink(ctx: Context, token: string): Promise<Proven | undefined> {
      const finished = await mailed.byLink(heldBy(ctx), token);
      return finished && provenBy(ctx, finished);
    },

    /**
     * Confirms the address, but no partner: the member may yet refuse the app. False if the address
     * is not the member's any more, or locked.
     */
    async confirm(ctx: Context, proven: Proven): Promise<boolean> {
      const { memberId, address } = proven;
      const member = await store.tokens.confirmSignIn(memberId, { address });
      metrics.signIn(member === undefined ? 'refused' : 'success');
      if (member === undefined) return false;
      await mailed.remember(proven, memberId);
      sessions.setCookie(ctx, knownCookie, proven.known, YEAR_MS);
      return true;
    },
  };
}
