// Lets pages of named origins call the member surface from a browser (Fetch standard, CORS protocol); nothing changes for anyone else.
import { HEADERS, type HttpReply, type HttpRequest } from '@partner-loyalty/runtime';

const ALLOWED_HEADERS = [
  HEADERS.authorization.name,
  HEADERS.contentType.name,
  HEADERS.requestId.name,
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
  /** The answer to a preflight of a named origin; undefined where the request is none. */
  preflight(request: HttpRequest): HttpReply | undefined;
  /** Adds what a page of a named origin needs to read the answer. Never allows cookies, and never a partner key. */
  expose(request: HttpRequest, headers: Record<string, string>): void;
};

/** `origins` are exact, as browsers send them. Without any, no answer has a header of CORS. */
export function createCors(origins: readonly string[]): Cors {
  const known = new Set(origins);
  const named = ({ headers }: HttpRequest) => {
    const origin = headers[HEADERS.origin.name];
    return typeof origin === 'string' && known.has(origin) ? origin : undefined;
  };
  return {
    preflight(request) {
      const origin = named(request);
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
      if (known.size === 0) return;
      headers[HEADERS.vary.name] = 'origin';
      const origin = named(request);
      if (origin === undefined || request.headers[HEADERS.partnerKey.name] !== undefined) return;
      headers[HEADERS.corsAllowOrigin.name] = origin;
      headers[HEADERS.corsExposeHeaders.name] = EXPOSED_HEADERS;
    },
  };
}
