// Redeems a mailed link: signs the member in, or confirms, undoes or contests a change of address.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Limiter } from '../budget/limiter.ts';
import { pageResponse, textPage } from '../pages/layout.ts';
import { ADDRESS_IN_USE, ADDRESS_LOCKED, INVALID_LINK, TOO_MANY_ATTEMPTS } from './cards.ts';
import { type LinkKind, linkKind } from './links.ts';
import type { MembersClient } from './membersclient.ts';
import type { ProfilePage } from './profile.ts';
import type { Sessions } from './session.ts';

export type RedeemParts = {
  members: Pick<MembersClient, 'redeem'>;
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
    const outcome = await members.redeem('signIn', token, request.requestId);
    if ('refused' in outcome) return refuseLink(limiter, request);
    const { idToken } = outcome.value;
    // A browser is sent on, so that reloading the profile does not send the used token again.
    const isBrowser = request.headers['sec-fetch-mode'] === 'navigate';
    const response = isBrowser
      ? pageResponse(303, '', { location: '/sign-in' })
      : await profile.show(request, idToken);
    return sessions.begin(response, idToken);
  }

  async function redeem(
    request: HttpRequest,
    token: string,
    field: Exclude<LinkKind, 'signIn'>,
  ): Promise<HttpResponse> {
    const outcome = await members.redeem(field, token, request.requestId);
    if ('refused' in outcome)
      return outcome.refused === 'EMAIL_IN_USE'
        ? pageResponse(409, ADDRESS_IN_USE)
        : refuseLink(limiter, request);
    const { value } = outcome;
    // The member's ID: the change is contested.
    if (typeof value === 'string') return pageResponse(200, ADDRESS_LOCKED);
    const text = `From now on, we write to ${value.email}.`;
    const isNew = field === 'confirmChange';
    const title = isNew ? 'Your email address is changed' : 'Your former email address is back';
    return pageResponse(200, textPage(title, text));
  }

  return async (request, token) => {
    const kind = linkKind(token);
    if (kind === undefined) return refuseLink(limiter, request);
    return kind === 'signIn' ? signIn(request, token) : redeem(request, token, kind);
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
