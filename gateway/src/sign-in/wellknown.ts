// The public documents of the built-in identity provider (OpenID Connect Discovery 1.0; RFC 7517).
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { MembersClient } from './membersclient.ts';

export const JWKS_PATH = '/.well-known/jwks.json';
export const DISCOVERY_PATH = '/.well-known/openid-configuration';

// Short enough for verifiers to see a new key long before the old one disappears.
const CACHE_CONTROL = 'public, max-age=300';

/**
 * Serves both documents to anyone, by GET and HEAD. `issuer` is the environment's base address.
 * Where members sign in with another provider, the configuration names no endpoints.
 */
export function createWellKnown(
  members: Pick<MembersClient, 'signingKeys'>,
  issuer: string,
  offersSignIn: boolean,
): (request: HttpRequest) => Promise<HttpResponse> {
  const discovery = JSON.stringify({
    ...documentOf(issuer),
    ...(offersSignIn && endpointsOf(issuer)),
  });
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': CACHE_CONTROL,
  };
  return async ({ method, path, requestId }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return errorResponse('METHOD_NOT_ALLOWED', requestId, { allow: 'GET, HEAD' });
    if (path === DISCOVERY_PATH) return { status: 200, headers, body: discovery };
    try {
      return { status: 200, headers, body: JSON.stringify(await members.signingKeys()) };
    } catch {
      return errorResponse('SERVICE_UNAVAILABLE', requestId);
    }
  };
}

/** Of the tokens that partners exchange links for. */
function documentOf(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}${JWKS_PATH}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'aud', 'sub', 'iat', 'exp', 'email', 'azp'],
  };
}

/** What apps sign members in with; a test compares it with what oidc-provider says. */
function endpointsOf(issuer: string) {
  return {
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    end_session_endpoint: `${issuer}/oauth/end-session`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    scopes_supported: ['openid', 'offline_access', 'profile', 'email'],
    claims_supported: [
      'sub',
      'partner_id',
      'first_party_of',
      'email',
      'email_verified',
      'name',
      'given_name',
      'family_name',
      'sid',
      'auth_time',
      'iss',
    ],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'none',
    ],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}
