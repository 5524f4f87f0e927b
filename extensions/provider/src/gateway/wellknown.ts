// The public documents of the built-in identity provider (OpenID Connect Discovery 1.0; RFC 7517).
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import endpoints from './discovery.json' with { type: 'json' };

const JWKS_PATH = '/.well-known/jwks.json';
const DISCOVERY_PATH = '/.well-known/openid-configuration';

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  // Short enough for verifiers to see a new key long before the old one disappears.
  'cache-control': 'public, max-age=300',
};

export function isWellKnown(path: string): boolean {
  return path === JWKS_PATH || path === DISCOVERY_PATH;
}

/** Serves both documents to anyone, by GET and HEAD. */
export async function wellKnown(
  core: Pick<Core, 'apps' | 'own' | 'ownProvider'>,
  { method, path, requestId }: HttpRequest,
): Promise<HttpResponse> {
  if (method !== 'GET' && method !== 'HEAD')
    return errorResponse('METHOD_NOT_ALLOWED', requestId, { allow: 'GET, HEAD' });
  if (path === DISCOVERY_PATH)
    return { status: 200, headers: HEADERS, body: JSON.stringify(discoveryOf(core)) };
  try {
    const keys = await core.ownProvider.signingKeys();
    return { status: 200, headers: HEADERS, body: JSON.stringify(keys) };
  } catch {
    return errorResponse('SERVICE_UNAVAILABLE', requestId);
  }
}

/** Where members sign in with another provider, the configuration names no endpoints. */
function discoveryOf({ own, apps }: Pick<Core, 'apps' | 'own'>): object {
  return {
    issuer: own,
    jwks_uri: `${own}${JWKS_PATH}`,
    // For the tokens that partners exchange links for.
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'aud', 'sub', 'iat', 'exp', 'email', 'azp'],
    ...(apps && endpointsOf(own)),
  };
}

/** What apps sign members in with; a test compares it with what oidc-provider says. */
function endpointsOf(issuer: string): object {
  const entries = Object.entries(endpoints).map(([name, value]) =>
    name.endsWith('_endpoint') ? [name, `${issuer}${value}`] : [name, value],
  );
  return Object.fromEntries(entries);
}
