// Every HTTP header this project reads or sends, one row each.

export type HeaderRow = {
  name: string;
  direction: 'request' | 'response' | 'both' | 'subgraph';
  meaning: string;
};

/** `subgraph` headers travel between the gateway and a subgraph that runs by itself, never to or from a client. */
export const HEADERS = {
  partnerKey: {
    name: 'x-partner-api-key',
    direction: 'request',
    meaning: "A partner's key; the credential of the partner surface.",
  },
  authorization: {
    name: 'authorization',
    direction: 'request',
    meaning: '`Bearer` and an ID token; the credential of the member surface.',
  },
  contentType: {
    name: 'content-type',
    direction: 'both',
    meaning: '`application/json` in requests; the media type of the answer.',
  },
  contentEncoding: {
    name: 'content-encoding',
    direction: 'request',
    meaning: 'Compressed bodies are refused.',
  },
  contentLength: {
    name: 'content-length',
    direction: 'both',
    meaning: 'The length of the body in bytes; over 65536 is refused unread.',
  },
  accept: {
    name: 'accept',
    direction: 'request',
    meaning: '`application/json` or `application/graphql-response+json`.',
  },
  requestId: {
    name: 'x-request-id',
    direction: 'both',
    meaning:
      "The request's id: the caller's, where it sent 1 to 128 characters of `[A-Za-z0-9._-]`, or a new one.",
  },
  forwardedFor: {
    name: 'x-forwarded-for',
    direction: 'request',
    meaning: 'The client address, believed only from TRUSTED_PROXIES.',
  },
  origin: {
    name: 'origin',
    direction: 'request',
    meaning: "A browser page's origin, compared with CORS_ORIGINS.",
  },
  corsRequestMethod: {
    name: 'access-control-request-method',
    direction: 'request',
    meaning: "A browser's preflight question: the method.",
  },
  corsRequestHeaders: {
    name: 'access-control-request-headers',
    direction: 'request',
    meaning: "A browser's preflight question: the headers.",
  },
  corsAllowOrigin: {
    name: 'access-control-allow-origin',
    direction: 'response',
    meaning: 'The origin, where CORS_ORIGINS names it.',
  },
  corsAllowMethods: {
    name: 'access-control-allow-methods',
    direction: 'response',
    meaning: '`POST`, to a preflight of an allowed origin.',
  },
  corsAllowHeaders: {
    name: 'access-control-allow-headers',
    direction: 'response',
    meaning: 'The request headers a browser may send.',
  },
  corsExposeHeaders: {
    name: 'access-control-expose-headers',
    direction: 'response',
    meaning: 'The response headers a page may read.',
  },
  corsMaxAge: {
    name: 'access-control-max-age',
    direction: 'response',
    meaning: 'Seconds for which a browser may keep the preflight answer.',
  },
  vary: {
    name: 'vary',
    direction: 'response',
    meaning: 'The request headers that change the answer.',
  },
  allow: { name: 'allow', direction: 'response', meaning: 'The methods of the path, with 405.' },
  retryAfter: {
    name: 'retry-after',
    direction: 'response',
    meaning: 'Whole seconds until a refused caller may try again, with 429.',
  },
  rateLimitLimit: {
    name: 'ratelimit-limit',
    direction: 'response',
    meaning: 'The budget of the window.',
  },
  rateLimitRemaining: {
    name: 'ratelimit-remaining',
    direction: 'response',
    meaning: 'What is left of it.',
  },
  rateLimitReset: {
    name: 'ratelimit-reset',
    direction: 'response',
    meaning: 'Whole seconds until the window ends.',
  },
  rateLimit: {
    name: 'ratelimit',
    direction: 'response',
    meaning: 'The newer form: `"key";r=…;t=…`, what is left and the seconds.',
  },
  rateLimitPolicy: {
    name: 'ratelimit-policy',
    direction: 'response',
    meaning: 'The newer form: `"key";q=…;w=…`, the budget and its window in seconds.',
  },
  contentTypeOptions: {
    name: 'x-content-type-options',
    direction: 'response',
    meaning: '`nosniff`, on every answer.',
  },
  cacheControl: {
    name: 'cache-control',
    direction: 'response',
    meaning: '`no-store`, on every answer that does not say otherwise.',
  },
  subgraphScopes: {
    name: 'x-subgraph-scopes',
    direction: 'subgraph',
    meaning: 'The scopes of the operations in the body, as a JSON array in ASCII.',
  },
  subgraphTime: {
    name: 'x-subgraph-time',
    direction: 'subgraph',
    meaning: 'When the request was signed, in milliseconds since 1970.',
  },
  subgraphNonce: {
    name: 'x-subgraph-nonce',
    direction: 'subgraph',
    meaning: 'Makes two otherwise equal requests differ.',
  },
  subgraphSignature: {
    name: 'x-subgraph-signature',
    direction: 'subgraph',
    meaning: 'HMAC-SHA256 over method, path, time, nonce, scopes and body, in hexadecimal.',
  },
} as const satisfies Record<string, HeaderRow>;
