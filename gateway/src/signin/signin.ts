// The route /sign-in: a mailed link opens a page with a button, and pressing it redeems the link.
import {
  ApiError,
  HEADERS,
  type HttpReply,
  type HttpRequest,
  type Log,
} from '@partner-loyalty/runtime';
import { createApiClient } from './apiclient.ts';
import { pageReply } from './layout.ts';
import { isWellFormed, LINKS, linkKind } from './links.ts';
import {
  FOREIGN_FORM,
  INVALID_LINK,
  SIGN_IN_ELSEWHERE,
  UNAVAILABLE,
  WRONG_METHOD,
} from './notices.ts';
import { linkPage } from './pages.ts';
import { createProfilePage, type PartnerName } from './profile.ts';
import { createRedeemer, type RedeemParts } from './redeem.ts';

export const SIGN_IN_PATH = '/sign-in';

const FORM_LIMIT = 16 * 1024;

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

  function showLink({ search }: HttpRequest): HttpReply {
    const token = new URLSearchParams(search).get('token') ?? '';
    const kind = linkKind(token);
    if (kind === 'signIn' && !offersSignIn) return pageReply(404, SIGN_IN_ELSEWHERE);
    return kind && isWellFormed(token)
      ? pageReply(200, linkPage(LINKS[kind], token))
      : pageReply(404, INVALID_LINK);
  }

  async function submitForm(request: HttpRequest): Promise<HttpReply> {
    if (!isSameOrigin(request)) return pageReply(403, FOREIGN_FORM);
    const form = new URLSearchParams((await request.body(FORM_LIMIT)).toString());
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

  return async (request) => {
    try {
      if (request.method === 'GET' || request.method === 'HEAD') return showLink(request);
      if (request.method === 'POST') return await submitForm(request);
      return pageReply(405, WRONG_METHOD, { [HEADERS.allow.name]: 'GET, HEAD, POST' });
    } catch (error) {
      return errorPage(error, request, log);
    }
  };
}

function errorPage(error: unknown, { requestId }: HttpRequest, log: Log): HttpReply {
  const code = error instanceof ApiError ? error.code : 'INTERNAL_SERVER_ERROR';
  if (code === 'PAYLOAD_TOO_LARGE' || code === 'BAD_REQUEST') return pageReply(400, INVALID_LINK);
  if (code === 'INTERNAL_SERVER_ERROR') log.error({ requestId, err: error }, 'masked an error');
  return pageReply(code === 'SERVICE_UNAVAILABLE' ? 503 : 500, UNAVAILABLE);
}

// Because of `no-referrer`, browsers send `Origin: null` with the form. Sec-Fetch-Site still says
// whether the form comes from this site.
function isSameOrigin({ headers }: HttpRequest): boolean {
  const site = headers[HEADERS.secFetchSite.name];
  if (site !== undefined) return site === 'same-origin';
  const origin = headers[HEADERS.origin.name];
  const host = headers[HEADERS.host.name];
  return host !== undefined && (origin === `https://${host}` || origin === `http://${host}`);
}
