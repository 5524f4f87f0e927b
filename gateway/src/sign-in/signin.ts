// The route /sign-in: a mailed link opens a page with a button, and pressing it redeems the link.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { pageResponse } from '../pages/layout.ts';
import { INVALID_LINK, linkPage, SIGN_IN_ELSEWHERE, SIGNED_OUT } from './cards.ts';
import { createFormPage } from './form.ts';
import { isWellFormed, LINKS, linkKind } from './links.ts';
import { createProfilePage, type PartnerName } from './profile.ts';
import { createRedeemer, type RedeemParts } from './redeem.ts';
import { createApiClient, createSessions } from './session.ts';

export const SIGN_IN_PATH = '/sign-in';

export type SignInParts = Omit<RedeemParts, 'profile' | 'sessions'> & {
  /**
   * Whether members sign in here, which they do if the API accepts the service's own ID tokens.
   * Links confirm and undo changes of address in any case.
   */
  offersSignIn: boolean;
  /** Whether members reach the page by TLS. */
  isSecure: boolean;
  partnerName: PartnerName;
  graphql: (request: HttpRequest) => Promise<HttpResponse>;
  log: Log;
};

/**
 * Handles `/sign-in`; never rejects. Opening a link does not redeem it, because mail scanners open
 * links too.
 */
export function createSignIn({
  tokens,
  offersSignIn,
  isSecure,
  partnerName,
  graphql,
  log,
}: SignInParts): (request: HttpRequest) => Promise<HttpResponse> {
  const sessions = createSessions(isSecure);
  const profile = createProfilePage(createApiClient(graphql), partnerName, sessions);
  const redeem = createRedeemer({ tokens, profile, sessions });

  function show(request: HttpRequest, token: string): HttpResponse | Promise<HttpResponse> {
    const session = request.search === '' && offersSignIn ? sessions.read(request) : undefined;
    if (session !== undefined) return profile.show(request, session);
    const kind = linkKind(token);
    if (kind === 'signIn' && !offersSignIn) return pageResponse(404, SIGN_IN_ELSEWHERE);
    if (kind === undefined || !isWellFormed(token)) return pageResponse(404, INVALID_LINK);
    const refusal = tokens.refusal(request);
    return refusal ?? pageResponse(200, linkPage(LINKS[kind], token, SIGN_IN_PATH));
  }

  async function submit(request: HttpRequest, form: URLSearchParams): Promise<HttpResponse> {
    const token = form.get('token') ?? '';
    const session = form.get('session');
    const email = form.get('email');
    if (form.has('sign-out')) return sessions.end(pageResponse(200, SIGNED_OUT));
    if (!offersSignIn && (linkKind(token) === 'signIn' || session !== null))
      return pageResponse(404, SIGN_IN_ELSEWHERE);
    if (session === null) return redeem(request, token);
    return email === null
      ? profile.show(request, session)
      : profile.requestEmailChange(request, session, email);
  }

  return createFormPage({ show, submit, log });
}
