// The userinfo endpoint: the claims that an app may see (OpenID Connect Core, section 5.3).
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { USERINFO_PATH } from '@partner-loyalty/runtime/signin/exchange.ts';
import { callApi, claimsIn } from './apiclient.ts';
import { forward } from './provider.ts';

/**
 * The API verifies and counts the access token of the request; then the provider gives the claims.
 * Rejects if one of them fails.
 */
export async function userinfo(
  core: Pick<Core, 'graphql' | 'graphs'>,
  request: HttpRequest,
): Promise<HttpResponse> {
  const bearer = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const { typ, ...claims } = claimsIn(bearer);
  // The API takes ID tokens too.
  const token = typ === 'at+jwt' ? bearer : '';
  const { errors } = await callApi(core, request, token, '{ __typename }', {});
  const { code, retryAfter } = errors?.[0]?.extensions ?? {};
  if (code === 'RATE_LIMITED')
    return oauthError(429, 'temporarily_unavailable', { 'retry-after': `${retryAfter}` });
  if (code === 'PARTNER_SUSPENDED') return oauthError(403, 'access_denied');
  if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
  if (code !== undefined) return refuse(401, 'invalid_token');
  if (!String(claims.scope).split(' ').includes('openid')) return refuse(403, 'insufficient_scope');
  const { requestId, address: clientAddress } = request;
  const asked = { method: 'GET', path: USERINFO_PATH, search: '', headers: {}, language: 'en' };
  const body = JSON.stringify(claims);
  const answer = await forward(core.graphs, { ...asked, clientAddress, body }, requestId);
  return answer.status === 200
    ? { status: 200, headers: {}, body: answer.body ?? '' }
    : refuse(401, 'invalid_token');
}

/** The response to a bad token (RFC 6750, section 3). */
function refuse(status: number, error: string): HttpResponse {
  const scope = status === 403 ? ', scope="openid"' : '';
  return oauthError(status, error, { 'www-authenticate': `Bearer error="${error}"${scope}` });
}

/** An error of an endpoint that is no page (RFC 6749, section 5.2; RFC 6750). */
export function oauthError(
  status: number,
  error: string,
  headers: ResponseHeaders = {},
): HttpResponse {
  return { status, headers, body: JSON.stringify({ error }) };
}
