// Redeems a mailed link: signs the member in, or confirms, undoes or contests a change of address.
import type { ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Limiter } from '../budget/limiter.ts';
import { pageResponse, textPage } from '../pages/layout.ts';
import { ADDRESS_IN_USE, ADDRESS_LOCKED, INVALID_LINK, TOO_MANY_ATTEMPTS } from './cards.ts';
import { linkKind } from './links.ts';
import type { ConfirmedChange, MembersClient, Outcome } from './membersclient.ts';
import type { ProfilePage } from './profile.ts';
import type { Sessions } from './session.ts';

export type RedeemParts = {
  members: Pick<MembersClient, 'signIn' | 'confirmChange' | 'undoChange' | 'contestUndo'>;
  profile: ProfilePage;
  sessions: Sessions;
  limiter: Pick<Limiter, 'consumeRefusal'>;
};

/** The returned function rejects with an ApiError if the members subgraph is unavailable. */
export function createRedeemer({
  members,
  profile,
  sessions,
  limiter,
}: RedeemParts): (request: HttpRequest, token: string) => Promise<HttpResponse> {
  async function signIn(request: HttpRequest, token: string): Promise<HttpResponse> {
    const outcome = await members.signIn(token, request.requestId);
    if ('refused' in outcome) return refuse(request, outcome.refused);
    const { idToken } = outcome.value;
    // A browser is sent on, so that reloading the profile does not send the used token again.
    const isBrowser = request.headers['sec-fetch-mode'] === 'navigate';
    const response = isBrowser
      ? pageResponse(303, '', { location: '/sign-in' })
      : await profile.show(request, idToken);
    return sessions.begin(response, idToken);
  }

  async function showChange(
    request: HttpRequest,
    title: string,
    outcome: Outcome<ConfirmedChange>,
  ): Promise<HttpResponse> {
    if ('refused' in outcome) return refuse(request, outcome.refused);
    const text = `From now on, we write to ${outcome.value.email}.`;
    return pageResponse(200, textPage(title, text));
  }

  async function refuse(request: HttpRequest, code: ErrorCode): Promise<HttpResponse> {
    if (code === 'EMAIL_IN_USE') return pageResponse(409, ADDRESS_IN_USE);
    return refuseLink(limiter, request);
  }

  return async (request, token) => {
    const { requestId } = request;
    switch (linkKind(token)) {
      case 'signIn':
        return signIn(request, token);
      case 'confirmChange': {
        const outcome = await members.confirmChange(token, requestId);
        return showChange(request, 'Your email address is changed', outcome);
      }
      case 'undoChange': {
        const outcome = await members.undoChange(token, requestId);
        return showChange(request, 'Your former email address is back', outcome);
      }
      case 'contestUndo': {
        const outcome = await members.contestUndo(token, requestId);
        if ('refused' in outcome) return refuse(request, outcome.refused);
        return pageResponse(200, ADDRESS_LOCKED);
      }
      case undefined:
        return refuse(request, 'INVALID_TOKEN');
    }
  };
}

/** The page for a token that is not valid. Guessing tokens is limited as guessing keys is. */
export async function refuseLink(
  limiter: Pick<Limiter, 'consumeRefusal'>,
  { address }: HttpRequest,
): Promise<HttpResponse> {
  const verdict = await limiter.consumeRefusal(address);
  return verdict.allowed ? pageResponse(410, INVALID_LINK) : pageResponse(429, TOO_MANY_ATTEMPTS);
}
