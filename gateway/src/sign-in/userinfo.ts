// The userinfo endpoint: the claims that an app may see (OpenID Connect Core, section 5.3).
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { USERINFO_PATH } from '@partner-loyalty/runtime/signin/exchange.ts';
import { type CallApi, claimsIn } from './apiclient.ts';
import type { MembersClient } from './membersclient.ts';
import { oauthError } from './oautherror.ts';

/**
 * The API verifies and counts the access token of the request; then the provider gives the claims.
 * Rejects if one of them fails.
 */
export function createUserinfo(
  callApi: CallApi,
  members: Pick<MembersClient, 'identityRequest'>,
): (request: HttpRequest) => Promise<HttpResponse> {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'POST')
      return oauthError(405, 'invalid_request', { allow: 'GET, POST' });
    const bearer = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const { typ, ...claims } = claimsIn(bearer);
    // The API takes ID tokens too.
    const token = typ === 'at+jwt' ? bearer : '';
    const { errors } = await callApi(request, token, '{ __typename }', {});
    switch (errors?.[0]?.extensions.code) {
      case undefined:
        return claimsOf(request, claims);
      case 'RATE_LIMITED':
        return oauthError(429, 'temporarily_unavailable', { 'retry-after': '60' });
      case 'PARTNER_SUSPENDED':
        return oauthError(403, 'access_denied');
      case 'SERVICE_UNAVAILABLE':
        return oauthError(503, 'temporarily_unavailable');
      case 'INTERNAL_SERVER_ERROR':
        return oauthError(500, 'server_error');
      default:
        return invalidToken();
    }
  };

  async function claimsOf(request: HttpRequest, claims: object): Promise<HttpResponse> {
    const { requestId, address: clientAddress } = request;
    const answer = await members.identityRequest(
      {
        ...{ method: 'GET', path: USERINFO_PATH, search: '', headers: {}, language: 'en' },
        ...{ clientAddress, body: JSON.stringify(claims) },
      },
      requestId,
    );
    return answer.status === 200
      ? { status: 200, headers: {}, body: answer.body ?? '' }
      : invalidToken();
  }
}

function invalidToken(): HttpResponse {
  return oauthError(401, 'invalid_token', { 'www-authenticate': 'Bearer error="invalid_token"' });
}
