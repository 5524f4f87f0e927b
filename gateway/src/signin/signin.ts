// The route /sign-in: a mailed link opens a page with a button, and pressing it redeems the link.
import type { HttpReply, HttpRequest, Log } from '@partner-loyalty/runtime';
import { pageReply } from '../html/layout.ts';
import { createApiClient } from './apiclient.ts';
import { createFormPage } from './form.ts';
import { isWellFormed, LINKS, linkKind } from './links.ts';
import { INVALID_LINK, SIGN_IN_ELSEWHERE } from './notices.ts';
import { linkPage } from './pages.ts';
import { createProfilePage, type PartnerName } from './profile.ts';
import { createRedeemer, type RedeemParts } from './redeem.ts';

export const SIGN_IN_PATH = '/sign-in';

export type SignInParts = Omit<RedeemParts, 'profile'> & {
  /**
   * Whether members sign in here, which they do if the API accepts the service's own ID tokens.
   * Links confirm and undo changes of address in any case.
   */
  offersSignIn: boolean;
  partnerName: PartnerName;
  /** The handler of /graphql. */
  graphql: (request: HttpRequest) => Promise<HttpReply>;
  log: Log;
};

/**
 * Handles `/sign-in`; never rejects. Opening a link does not redeem it, because mail scanners open
 * links too.
 */
export function createSignIn({
  members,
  offersSignIn,
  partnerName,
  graphql,
  limiter,
  log,
}: SignInParts): (request: HttpRequest) => Promise<HttpReply> {
  const profile = createProfilePage(createApiClient(graphql), partnerName);
  const redeem = createRedeemer({ members, profile, limiter });

  function show(_: HttpRequest, token: string): HttpReply {
    const kind = linkKind(token);
    if (kind === 'signIn' && !offersSignIn) return pageReply(404, SIGN_IN_ELSEWHERE);
    return kind && isWellFormed(token)
      ? pageReply(200, linkPage(LINKS[kind], token, SIGN_IN_PATH))
      : pageReply(404, INVALID_LINK);
  }

  async function submit(request: HttpRequest, form: URLSearchParams): Promise<HttpReply> {
    const token = form.get('token') ?? '';
    const session = form.get('session');
    const email = form.get('email');
    if (!offersSignIn && (linkKind(token) === 'signIn' || session !== null))
      return pageReply(404, SIGN_IN_ELSEWHERE);
    if (session === null) return redeem(request, token);
    return email === null
      ? profile.show(request, session)
      : profile.requestEmailChange(request, session, email);
  }

  return createFormPage({ path: SIGN_IN_PATH, show, submit, log });
}
