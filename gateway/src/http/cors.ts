// Lets browser pages of configured origins use an endpoint (Fetch standard, CORS protocol).
import { HEADERS } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpReply } from '@partner-loyalty/runtime/http/reply.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';

/** What the pages of configured origins may do at an endpoint. */
export type CorsRules = {
  /** The request headers that they may send. */
  allowed: readonly string[];
  /** A request header that keeps them from reading the response. */
  withheldWith?: string;
};

/** Pages use the member surface, never a partner key. */
export const GRAPHQL_CORS: CorsRules = {
  allowed: [
    HEADERS.authorization.name,
    HEADERS.contentType.name,
    HEADERS.requestId.name,
    HEADERS.traceparent.name,
    // Apollo Client sends these two to name the application; they are not read.
    'apollographql-client-name',
    'apollographql-client-version',
  ],
  withheldWith: HEADERS.partnerKey.name,
};

/** Pages of assistants hold a key of their own. */
export const MCP_CORS: CorsRules = {
  allowed: [
    HEADERS.mcpKey.name,
    HEADERS.contentType.name,
    HEADERS.requestId.name,
    HEADERS.traceparent.name,
    HEADERS.mcpProtocolVersion.name,
    HEADERS.mcpMethod.name,
    HEADERS.mcpName.name,
  ],
};

/** The response headers that callers may rely on. */
export const EXPOSED_HEADERS = [
  HEADERS.requestId,
  HEADERS.rateLimitLimit,
  HEADERS.rateLimitRemaining,
  HEADERS.rateLimitReset,
  HEADERS.rateLimit,
  HEADERS.rateLimitPolicy,
  HEADERS.retryAfter,
  HEADERS.deprecation,
  HEADERS.sunset,
  HEADERS.link,
];
const EXPOSED_NAMES = EXPOSED_HEADERS.map(({ name }) => name).join(', ');
const PREFLIGHT_SECONDS = '600';

export type Cors = {
  /** Whether the request comes from no page, or from one of a configured origin. */
  admits(request: HttpRequest): boolean;
  /** The reply to a preflight of a configured origin; undefined for any other request. */
  preflight(request: HttpRequest): HttpReply | undefined;
  /**
   * Adds the headers that let a page of a configured origin read the response. Never allows
   * cookies.
   */
  expose(request: HttpRequest, headers: Record<string, string>): void;
};

/** `origins` are exact, as browsers send them. Without origins, no response has CORS headers. */
export function createCors(origins: readonly string[], rules: CorsRules): Cors {
  const { withheldWith } = rules;
  const allowedHeaders = rules.allowed.join(', ');
  const configured = new Set(origins);
  const allowedOrigin = ({ headers }: HttpRequest) => {
    const origin = headers[HEADERS.origin.name];
    return origin !== undefined && configured.has(origin) ? origin : undefined;
  };
  return {
    admits: (request) =>
      request.headers[HEADERS.origin.name] === undefined || allowedOrigin(request) !== undefined,
    preflight(request) {
      const origin = allowedOrigin(request);
      if (
        request.method !== 'OPTIONS' ||
        origin === undefined ||
        request.headers[HEADERS.corsRequestMethod.name] === undefined
      )
        return undefined;
      const headers = {
        [HEADERS.corsAllowOrigin.name]: origin,
        [HEADERS.corsAllowMethods.name]: 'POST',
        [HEADERS.corsAllowHeaders.name]: allowedHeaders,
        [HEADERS.corsMaxAge.name]: PREFLIGHT_SECONDS,
        [HEADERS.vary.name]:
          'origin, access-control-request-method, access-control-request-headers',
      };
      return { status: 204, headers, body: '' };
    },
    expose(request, headers) {
      if (configured.size === 0) return;
      headers[HEADERS.vary.name] = 'origin';
      const origin = allowedOrigin(request);
      if (origin === undefined) return;
      if (withheldWith !== undefined && request.headers[withheldWith] !== undefined) return;
      headers[HEADERS.corsAllowOrigin.name] = origin;
      headers[HEADERS.corsExposeHeaders.name] = EXPOSED_NAMES;
    },
  };
}
