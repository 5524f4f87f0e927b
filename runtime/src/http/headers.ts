// Every HTTP header that this project reads or sends, one row each.

export type HeaderRow = {
  name: string;
  direction: 'request' | 'response' | 'both' | 'subgraph';
  meaning: string;
};

/**
 * A header with direction `subgraph` travels from the gateway to a subgraph in another process,
 * never to or from a client. node:http adds `date`, `keep-alive` and `transfer-encoding` on its
 * own.
 */
export const HEADERS = {
  partnerKey: {
    name: 'x-partner-api-key',
    direction: 'request',
    meaning: "A partner's key: the credential of the partner surface.",
  },
  mcpKey: {
    name: 'x-api-key',
    direction: 'request',
    meaning: 'An MCP key: the credential of `/mcp`, which no other path reads.',
  },
  mcpProtocolVersion: {
    name: 'mcp-protocol-version',
    direction: 'request',
    meaning: 'At `/mcp`: the revision of the protocol that the client speaks, such as 2026-07-28.',
  },
  mcpMethod: {
    name: 'mcp-method',
    direction: 'request',
    meaning: 'At `/mcp`: repeats the `method` of the body; refused if they differ.',
  },
  mcpName: {
    name: 'mcp-name',
    direction: 'request',
    meaning: 'At `/mcp`: repeats the name of the tool; refused if they differ.',
  },
  authorization: {
    name: 'authorization',
    direction: 'request',
    meaning: '`Bearer` and an ID token: the credential of the member surface.',
  },
  host: {
    name: 'host',
    direction: 'request',
    meaning: 'Required in HTTP/1.1. A form sent to a page must come from this host.',
  },
  connection: {
    name: 'connection',
    direction: 'both',
    meaning: '`close` ends the connection after the response.',
  },
  expect: {
    name: 'expect',
    direction: 'request',
    meaning:
      '`100-continue` is answered with 100 before the body is read; anything else is ignored.',
  },
  contentType: {
    name: 'content-type',
    direction: 'both',
    meaning: '`application/json` in a request; the media type of the body in a response.',
  },
  contentEncoding: {
    name: 'content-encoding',
    direction: 'both',
    meaning:
      'Absent or `identity` in a request: compressed bodies are refused. `br` or `gzip` on a page.',
  },
  contentLength: {
    name: 'content-length',
    direction: 'both',
    meaning: 'The length of the body in bytes; more than 65536 is refused unread.',
  },
  accept: {
    name: 'accept',
    direction: 'request',
    meaning:
      'Chooses between `application/json` and `application/graphql-response+json`; `text/html` gets the pages.',
  },
  acceptEncoding: {
    name: 'accept-encoding',
    direction: 'request',
    meaning: 'Whether a page may be compressed with `br` or `gzip`.',
  },
  etag: {
    name: 'etag',
    direction: 'response',
    meaning: 'Identifies the content of a page.',
  },
  ifNoneMatch: {
    name: 'if-none-match',
    direction: 'request',
    meaning: 'The ETags that a browser has; the response is 304 if the page is still the same.',
  },
  requestId: {
    name: 'x-request-id',
    direction: 'both',
    meaning:
      "Identifies the request: the caller's ID if it is 1 to 128 characters of `[A-Za-z0-9._-]` without a key or token, otherwise a new one.",
  },
  traceparent: {
    name: 'traceparent',
    direction: 'request',
    meaning:
      'The trace that the request belongs to (W3C Trace Context). A malformed one is ignored.',
  },
  tracestate: {
    name: 'tracestate',
    direction: 'request',
    meaning: 'What tracing systems add to `traceparent`; passed on.',
  },
  forwardedFor: {
    name: 'x-forwarded-for',
    direction: 'request',
    meaning: "The client's address, trusted only if it comes from TRUSTED_PROXIES.",
  },
  origin: {
    name: 'origin',
    direction: 'request',
    meaning:
      'The origin of the calling page, compared with CORS_ORIGINS; if a form is sent, with `host`.',
  },
  secFetchSite: {
    name: 'sec-fetch-site',
    direction: 'request',
    meaning: "`same-origin` if a form comes from the service's own page.",
  },
  cookie: {
    name: 'cookie',
    direction: 'request',
    meaning: 'The session of a member on the page /sign-in; the API reads none.',
  },
  setCookie: {
    name: 'set-cookie',
    direction: 'response',
    meaning: 'Begins or ends that session.',
  },
  secFetchMode: {
    name: 'sec-fetch-mode',
    direction: 'request',
    meaning: '`navigate` if a browser sends a form, which is then redirected to its result.',
  },
  location: {
    name: 'location',
    direction: 'response',
    meaning: 'Where a browser finds the result of a form.',
  },
  corsRequestMethod: {
    name: 'access-control-request-method',
    direction: 'request',
    meaning: 'The method that a browser asks to use, in a preflight request.',
  },
  corsRequestHeaders: {
    name: 'access-control-request-headers',
    direction: 'request',
    meaning: 'The headers that a browser asks to send, in a preflight request.',
  },
  corsAllowOrigin: {
    name: 'access-control-allow-origin',
    direction: 'response',
    meaning: 'The origin, if CORS_ORIGINS lists it.',
  },
  corsAllowMethods: {
    name: 'access-control-allow-methods',
    direction: 'response',
    meaning: '`POST`, in response to a preflight from a listed origin.',
  },
  corsAllowHeaders: {
    name: 'access-control-allow-headers',
    direction: 'response',
    meaning: 'The request headers that a browser may send.',
  },
  corsExposeHeaders: {
    name: 'access-control-expose-headers',
    direction: 'response',
    meaning: 'The response headers that a page may read.',
  },
  corsMaxAge: {
    name: 'access-control-max-age',
    direction: 'response',
    meaning: 'How many seconds a browser may cache the response to a preflight.',
  },
  vary: {
    name: 'vary',
    direction: 'response',
    meaning: 'The request headers that the response depends on.',
  },
  allow: {
    name: 'allow',
    direction: 'response',
    meaning: 'The methods that the path supports, with 405.',
  },
  retryAfter: {
    name: 'retry-after',
    direction: 'response',
    meaning: 'Seconds until the caller may try again, with 429 and 503.',
  },
  wwwAuthenticate: {
    name: 'www-authenticate',
    direction: 'response',
    meaning: 'With 401: `Bearer`, at `/mcp` `ApiKey`.',
  },
  rateLimitLimit: {
    name: 'ratelimit-limit',
    direction: 'response',
    meaning: 'The budget of the window.',
  },
  rateLimitRemaining: {
    name: 'ratelimit-remaining',
    direction: 'response',
    meaning: 'What is left of the budget.',
  },
  rateLimitReset: {
    name: 'ratelimit-reset',
    direction: 'response',
    meaning: 'Seconds until the window ends.',
  },
  rateLimit: {
    name: 'ratelimit',
    direction: 'response',
    meaning: 'The newer form, `"key";r=…;t=…`: what is left, and seconds until the window ends.',
  },
  rateLimitPolicy: {
    name: 'ratelimit-policy',
    direction: 'response',
    meaning: 'The newer form, `"key";q=…;w=…`: the budget, and the window in seconds.',
  },
  deprecation: {
    name: 'deprecation',
    direction: 'response',
    meaning:
      'The day on which something that the operation uses was deprecated: `@` and seconds since 1970 (RFC 9745).',
  },
  sunset: {
    name: 'sunset',
    direction: 'response',
    meaning: 'The day until which it is kept (RFC 8594).',
  },
  link: {
    name: 'link',
    direction: 'response',
    meaning: 'With these two: the changelog, as `rel="deprecation"` and `rel="sunset"`.',
  },
  contentTypeOptions: {
    name: 'x-content-type-options',
    direction: 'response',
    meaning: '`nosniff`, on every response.',
  },
  cacheControl: {
    name: 'cache-control',
    direction: 'response',
    meaning:
      "`no-store`, on every response but public pages, their parts and the identity provider's documents.",
  },
  contentSecurityPolicy: {
    name: 'content-security-policy',
    direction: 'response',
    meaning: 'On pages: nothing from other origins, and no scripts but those of `/explorer`.',
  },
  referrerPolicy: {
    name: 'referrer-policy',
    direction: 'response',
    meaning: 'On pages: `no-referrer`, so that no token leaks through a link.',
  },
  robotsTag: {
    name: 'x-robots-tag',
    direction: 'response',
    meaning: 'On pages: `noindex`.',
  },
  contentDigest: {
    name: 'content-digest',
    direction: 'subgraph',
    meaning: 'The SHA-256 of the body (RFC 9530).',
  },
  subgraphName: {
    name: 'partner-loyalty-subgraph',
    direction: 'subgraph',
    meaning: 'The name of the subgraph that the request is for.',
  },
  subgraphScope: {
    name: 'partner-loyalty-scope',
    direction: 'subgraph',
    meaning: 'Whose data the operation may see, or `kind=batch` if each operation has a scope.',
  },
  signatureInput: {
    name: 'signature-input',
    direction: 'subgraph',
    meaning: 'What the signature covers, when it was made, and with which secret (RFC 9421).',
  },
  signature: {
    name: 'signature',
    direction: 'subgraph',
    meaning: 'HMAC-SHA256 over what `signature-input` lists.',
  },
} as const satisfies Record<string, HeaderRow>;
