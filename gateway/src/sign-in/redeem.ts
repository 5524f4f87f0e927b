// Redeems a mailed link: signs the member in, or confirms, undoes or contests a change of address.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { pageResponse, textPage } from '../pages/layout.ts';
import { ADDRESS_LOCKED } from './cards.ts';
import { isWellFormed, type LinkKind, linkKind } from './links.ts';
import type { ProfilePage } from './profile.ts';
import type { Sessions } from './session.ts';
import type { Tokens } from './tokens.ts';

export type RedeemParts = {
  tokens: Tokens;
  profile: ProfilePage;
  sessions: Sessions;
};

/** The returned function rejects with an ApiError if the members subgraph is unavailable. */
export function createRedeemer({
  tokens,
  profile,
  sessions,
}: RedeemParts): (request: HttpRequest, token: string) => Promise<HttpResponse> {
  async function signIn(request: HttpRequest, token: string): Promise<HttpResponse> {
    const outcome = await tokens.redeem('signIn', token, request);
    if ('page' in outcome) return outcome.page;
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
    const outcome = await tokens.redeem(field, token, request);
    if ('page' in outcome) return outcome.page;
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
    if (kind === undefined || !isWellFormed(token)) return tokens.refuse(request);
    return kind === 'signIn' ? signIn(request, token) : redeem(request, token, kind);
  };
}
