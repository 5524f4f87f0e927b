// Lets browser pages of configured origins use the member surface (Fetch standard, CORS protocol).
import { HEADERS, type HttpReply, type HttpRequest } from '@partner-loyalty/runtime';

const ALLOWED_HEADERS = [
  HEADERS.authorization.name,
  HEADERS.contentType.name,
  HEADERS.requestId.name,
  HEADERS.traceparent.name,
  // Apollo Client names the application by these two; they are not read.
  'apollographql-client-name',
  'apollographql-client-version',
].join(', ');
const EXPOSED_HEADERS = [
  HEADERS.requestId,
  HEADERS.rateLimitLimit,
  HEADERS.rateLimitRemaining,
  HEADERS.rateLimitReset,
  HEADERS.rateLimit,
  HEADERS.rateLimitPolicy,
  HEADERS.retryAfter,
]
  .map(({ name }) => name)
  .join(', ');
const PREFLIGHT_SECONDS = '600';

export type Cors = {
  /** The reply to a preflight of a configured origin; undefined for any other request. */
  preflight(request: HttpRequest): HttpReply | undefined;
  /**
   * Adds the headers that let a page of a configured origin read the response. Never allows cookies
   * or partner keys.
   */
  expose(request: HttpRequest, headers: Record<string, string>): void;
};

/** `origins` are exact, as browsers send them. Without origins, no response has CORS headers. */
export function createCors(origins: readonly string[]): Cors {
  const configured = new Set(origins);
  const allowedOrigin = ({ headers }: HttpRequest) => {
    const origin = headers[HEADERS.origin.name];
    return origin !== undefined && configured.has(origin) ? origin : undefined;
  };
  return {
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
        [HEADERS.corsAllowHeaders.name]: ALLOWED_HEADERS,
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
      if (origin === undefined || request.headers[HEADERS.partnerKey.name] !== undefined) return;
      headers[HEADERS.corsAllowOrigin.name] = origin;
      headers[HEADERS.corsExposeHeaders.name] = EXPOSED_HEADERS;
    },
  };
}
