// Lets browser pages of configured origins use an endpoint (Fetch standard, CORS protocol).
import type { HeaderName, ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';

/** What the pages of configured origins may do at an endpoint. */
export type CorsRules = {
  /** The request headers that they may send. */
  allowed: readonly string[];
  /** A request header that keeps them from reading the response. */
  withheldWith?: HeaderName;
};

/** Pages use the member surface, never a partner key. */
export const GRAPHQL_CORS: CorsRules = {
  allowed: [
    'authorization',
    'content-type',
    'x-request-id',
    'traceparent',
    // Apollo Client sends these two to name the application; they are not read.
    'apollographql-client-name',
    'apollographql-client-version',
  ],
  withheldWith: 'x-partner-api-key',
};

/** Pages of assistants hold a key of their own. */
export const MCP_CORS: CorsRules = {
  allowed: [
    'x-api-key',
    'content-type',
    'x-request-id',
    'traceparent',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
  ],
};

/** The response headers that callers may rely on. */
export const EXPOSED_HEADERS = [
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'deprecation',
  'sunset',
  'link',
] as const;
const EXPOSED_NAMES = EXPOSED_HEADERS.join(', ');
const PREFLIGHT_SECONDS = '600';

export type Cors = {
  /** Whether the request comes from no page, or from one of a configured origin. */
  admits(request: HttpRequest): boolean;
  /** The response to a preflight of a configured origin; undefined for any other request. */
  preflight(request: HttpRequest): HttpResponse | undefined;
  /**
   * Adds the headers that let a page of a configured origin read the response. Never allows
   * cookies.
   */
  expose(request: HttpRequest, headers: ResponseHeaders): void;
};

/** `origins` are exact, as browsers send them. Without origins, no response has CORS headers. */
export function createCors(origins: readonly string[], rules: CorsRules): Cors {
  const { withheldWith } = rules;
  const allowedHeaders = rules.allowed.join(', ');
  const configured = new Set(origins);
  const allowedOrigin = ({ headers }: HttpRequest) => {
    const origin = headers.origin;
    return origin !== undefined && configured.has(origin) ? origin : undefined;
  };
  return {
    admits: (request) =>
      request.headers.origin === undefined || allowedOrigin(request) !== undefined,
    preflight(request) {
      const origin = allowedOrigin(request);
      if (
        request.method !== 'OPTIONS' ||
        origin === undefined ||
        request.headers['access-control-request-method'] === undefined
      )
        return undefined;
      const headers = {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': allowedHeaders,
        'access-control-max-age': PREFLIGHT_SECONDS,
        vary: 'origin, access-control-request-method, access-control-request-headers',
      };
      return { status: 204, headers, body: '' };
    },
    expose(request, headers) {
      if (configured.size === 0) return;
      headers.vary = 'origin';
      const origin = allowedOrigin(request);
      if (origin === undefined) return;
      if (withheldWith !== undefined && request.headers[withheldWith] !== undefined) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] = EXPOSED_NAMES;
    },
  };
}
