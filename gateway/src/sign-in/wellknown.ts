// The public documents of the built-in identity provider (OpenID Connect Discovery 1.0; RFC 7517).
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { OwnProvider } from '../identity/ownprovider.ts';
import endpoints from './discovery.json' with { type: 'json' };

export const JWKS_PATH = '/.well-known/jwks.json';
export const DISCOVERY_PATH = '/.well-known/openid-configuration';

// Short enough for verifiers to see a new key long before the old one disappears.
const CACHE_CONTROL = 'public, max-age=300';

/**
 * Serves both documents to anyone, by GET and HEAD. `issuer` is the environment's base address.
 * Where members sign in with another provider, the configuration names no endpoints.
 */
export function createWellKnown(
  provider: Pick<OwnProvider, 'signingKeys'>,
  issuer: string,
  offersSignIn: boolean,
): (request: HttpRequest) => Promise<HttpResponse> {
  const discovery = JSON.stringify({
    issuer,
    jwks_uri: `${issuer}${JWKS_PATH}`,
    // For the tokens that partners exchange links for.
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'aud', 'sub', 'iat', 'exp', 'email', 'azp'],
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
      return { status: 200, headers, body: JSON.stringify(await provider.signingKeys()) };
    } catch {
      return errorResponse('SERVICE_UNAVAILABLE', requestId);
    }
  };
}

/** What apps sign members in with; a test compares it with what oidc-provider says. */
function endpointsOf(issuer: string): object {
  const entries = Object.entries(endpoints).map(([name, value]) =>
    name.endsWith('_endpoint') ? [name, `${issuer}${value}`] : [name, value],
  );
  return Object.fromEntries(entries);
}
