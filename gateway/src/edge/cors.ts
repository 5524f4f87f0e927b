// Lets browser pages of listed origins use an endpoint (Fetch standard, CORS protocol).
import type { HeaderName, ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Origins } from '../identity/ownprovider.ts';

/** What the pages of listed origins may do at an endpoint. */
export type CorsRules = {
  methods: string;
  /** The request headers that they may send. */
  allowed: readonly string[];
  /** A request header that keeps them from reading the response. */
  withheldWith?: HeaderName;
};

/** Pages use the member surface, never a partner key. */
export const GRAPHQL_CORS: CorsRules = {
  methods: 'GET, POST',
  allowed: [
    'authorization',
    'content-type',
    'x-request-id',
    'traceparent',
    // Apollo Client sends these two to name the application; they are not read.
    'apollographql-client-name',
    'apollographql-client-version',
    'x-sandbox-now',
    'x-sandbox-fault',
  ],
  withheldWith: 'x-partner-api-key',
};

/** The response headers that callers may rely on. */
const EXPOSED_HEADERS = [
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
].join(', ');
const PREFLIGHT_SECONDS = '600';

export type Cors = ReturnType<typeof createCors>;

type Handle = () => Promise<HttpResponse>;

/**
 * `apps` are origins that change while the service runs. Without these and without configured ones,
 * no response has CORS headers.
 */
export function createCors(
  configured: readonly string[],
  rules: CorsRules,
  apps?: Origins | undefined,
) {
  const { withheldWith } = rules;
  const allowedHeaders = rules.allowed.join(', ');
  const always = new Set(configured);
  const allowedOrigin = ({ headers: { origin } }: HttpRequest) =>
    origin !== undefined && (always.has(origin) || apps?.has(origin)) ? origin : undefined;

  function allow(origin: string): HttpResponse {
    const headers = {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': rules.methods,
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': PREFLIGHT_SECONDS,
      vary: 'origin, access-control-request-method, access-control-request-headers',
    };
    return { status: 204, headers, body: '' };
  }

  async function answer(request: HttpRequest, handle: Handle): Promise<HttpResponse> {
    if (!isPreflight(request)) return handle();
    await apps?.update();
    const origin = allowedOrigin(request);
    return origin === undefined ? handle() : allow(origin);
  }

  function expose(request: HttpRequest, headers: ResponseHeaders): void {
    if (always.size === 0 && apps === undefined) return;
    headers.vary = 'origin';
    const origin = allowedOrigin(request);
    if (origin === undefined) return;
    if (withheldWith !== undefined && request.headers[withheldWith] !== undefined) return;
    headers['access-control-allow-origin'] = origin;
    headers['access-control-expose-headers'] = EXPOSED_HEADERS;
  }

  return {
    /** Whether the request comes from no page, or from one of a listed origin. */
    admits: (request: HttpRequest) =>
      request.headers.origin === undefined || allowedOrigin(request) !== undefined,
    /** Answers a preflight of a listed origin; `handle` answers any other request. */
    answer,
    /** Like `answer`, and lets a page of a listed origin read the response. */
    async around(request: HttpRequest, handle: Handle): Promise<HttpResponse> {
      const response = await answer(request, handle);
      if (request.headers.origin !== undefined && !isPreflight(request)) await apps?.update();
      const headers = { ...response.headers };
      expose(request, headers);
      return { ...response, headers };
    },
    /** Lets a page of a listed origin read the response. Never allows cookies. */
    expose,
  };
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}
