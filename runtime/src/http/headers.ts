// Every HTTP header that this project reads or sends, one row each.
import type { IncomingHttpHeaders } from 'node:http';

export type HeaderRow = {
  direction: 'request' | 'response' | 'both' | 'subgraph';
  meaning: string;
};

export type HeaderName = keyof typeof HEADERS;

/** The headers of a request as node:http reads them; code can read those of the table alone. */
export type RequestHeaders = { readonly [Name in HeaderName]?: IncomingHttpHeaders[Name] };

/** The headers of a response; code can send those of the table alone. A list is sent as several. */
export type ResponseHeaders = { [Name in Exclude<HeaderName, 'set-cookie'>]?: string } & {
  'set-cookie'?: string | readonly string[];
};

/**
 * A header with direction `subgraph` travels from the gateway to a subgraph in another process,
 * never to or from a client. node:http adds `date`, `keep-alive` and `transfer-encoding` on its
 * own.
 */
export const HEADERS = {
  'x-partner-api-key': {
    direction: 'request',
    meaning: "A partner's key: the credential of the partner surface.",
  },
  'x-api-key': {
    direction: 'request',
    meaning: 'An MCP key: the credential of `/mcp`, which no other path reads.',
  },
  'mcp-protocol-version': {
    direction: 'request',
    meaning: 'At `/mcp`: the revision of the protocol that the client speaks, such as 2026-07-28.',
  },
  'mcp-method': {
    direction: 'request',
    meaning: 'At `/mcp`: repeats the `method` of the body; refused if they differ.',
  },
  'mcp-name': {
    direction: 'request',
    meaning: 'At `/mcp`: repeats the name of the tool; refused if they differ.',
  },
  authorization: {
    direction: 'request',
    meaning:
      "`Bearer` and an ID or access token: the credential of the member surface; at `/oauth/`, `Basic` and an app's secret.",
  },
  host: {
    direction: 'request',
    meaning: 'Required in HTTP/1.1. A form sent to a page must come from this host.',
  },
  connection: { direction: 'both', meaning: '`close` ends the connection after the response.' },
  expect: {
    direction: 'request',
    meaning:
      '`100-continue` is answered with 100 before the body is read; anything else is ignored.',
  },
  'content-type': {
    direction: 'both',
    meaning: '`application/json` in a request; the media type of the body in a response.',
  },
  'content-encoding': {
    direction: 'both',
    meaning:
      'Absent or `identity` in a request: compressed bodies are refused. `br` or `gzip` on a page.',
  },
  'content-length': {
    direction: 'both',
    meaning: 'The length of the body in bytes; more than 65536 is refused unread.',
  },
  accept: {
    direction: 'request',
    meaning:
      'Chooses between `application/json` and `application/graphql-response+json`; `text/html` gets the pages.',
  },
  'accept-encoding': {
    direction: 'request',
    meaning: 'Whether a page may be compressed with `br` or `gzip`.',
  },
  etag: { direction: 'response', meaning: 'Identifies the content of a page.' },
  'if-none-match': {
    direction: 'request',
    meaning: 'The ETags that a browser has; the response is 304 if the page is still the same.',
  },
  'x-request-id': {
    direction: 'both',
    meaning:
      "Identifies the request: the caller's ID if it is 1 to 128 characters of `[A-Za-z0-9._-]` without a key or token, otherwise a new one.",
  },
  traceparent: {
    direction: 'request',
    meaning:
      'The trace that the request belongs to (W3C Trace Context). A malformed one is ignored.',
  },
  tracestate: {
    direction: 'request',
    meaning: 'What tracing systems add to `traceparent`; passed on.',
  },
  'x-forwarded-for': {
    direction: 'request',
    meaning: "The client's address, trusted only if it comes from TRUSTED_PROXIES.",
  },
  origin: {
    direction: 'request',
    meaning:
      'The origin of the calling page, compared with CORS_ORIGINS and the registered apps; if a form is sent, with `host`.',
  },
  'sec-fetch-site': {
    direction: 'request',
    meaning: "`same-origin` if a form comes from the service's own page.",
  },
  cookie: {
    direction: 'request',
    meaning: 'The session of a member on `/account` and `/oauth/`; the API reads none.',
  },
  'set-cookie': { direction: 'response', meaning: 'Begins or ends that session, or a sign-in.' },
  'accept-language': {
    direction: 'request',
    meaning: 'Chooses the language of the pages for members: English or German.',
  },
  'user-agent': {
    direction: 'request',
    meaning: 'Names the browser in the list of sessions on `/account`.',
  },
  'sec-fetch-mode': {
    direction: 'request',
    meaning: '`navigate` if a browser sends a form, which is then redirected to its result.',
  },
  location: {
    direction: 'response',
    meaning: 'Where a browser finds the result of a form, or the app that it came from.',
  },
  'access-control-request-method': {
    direction: 'request',
    meaning: 'The method that a browser asks to use, in a preflight request.',
  },
  'access-control-request-headers': {
    direction: 'request',
    meaning: 'The headers that a browser asks to send, in a preflight request.',
  },
  'access-control-allow-origin': {
    direction: 'response',
    meaning: 'The origin, if CORS_ORIGINS lists it or a registered app has it.',
  },
  'access-control-allow-methods': {
    direction: 'response',
    meaning:
      'In response to a preflight from such an origin: `POST`, and at the identity provider `GET`.',
  },
  'access-control-allow-headers': {
    direction: 'response',
    meaning: 'The request headers that a browser may send.',
  },
  'access-control-expose-headers': {
    direction: 'response',
    meaning: 'The response headers that a page may read.',
  },
  'access-control-max-age': {
    direction: 'response',
    meaning: 'How many seconds a browser may cache the response to a preflight.',
  },
  vary: { direction: 'response', meaning: 'The request headers that the response depends on.' },
  allow: { direction: 'response', meaning: 'The methods that the path supports, with 405.' },
  'retry-after': {
    direction: 'response',
    meaning: 'Seconds until the caller may try again, with 429 and 503.',
  },
  'www-authenticate': {
    direction: 'response',
    meaning: 'With 401: `Bearer`, at `/mcp` `ApiKey`, at `/oauth/token` `Basic`.',
  },
  'ratelimit-limit': { direction: 'response', meaning: 'The budget of the window.' },
  'ratelimit-remaining': { direction: 'response', meaning: 'What is left of the budget.' },
  'ratelimit-reset': { direction: 'response', meaning: 'Seconds until the window ends.' },
  ratelimit: {
    direction: 'response',
    meaning: 'The newer form, `"key";r=…;t=…`: what is left, and seconds until the window ends.',
  },
  'ratelimit-policy': {
    direction: 'response',
    meaning: 'The newer form, `"key";q=…;w=…`: the budget, and the window in seconds.',
  },
  deprecation: {
    direction: 'response',
    meaning:
      'The day on which something that the operation uses was deprecated: `@` and seconds since 1970 (RFC 9745).',
  },
  sunset: { direction: 'response', meaning: 'The day until which it is kept (RFC 8594).' },
  link: {
    direction: 'response',
    meaning: 'With these two: the changelog, as `rel="deprecation"` and `rel="sunset"`.',
  },
  'x-content-type-options': { direction: 'response', meaning: '`nosniff`, on every response.' },
  'cache-control': {
    direction: 'response',
    meaning:
      "`no-store`, on every response but public pages, their parts and the identity provider's documents.",
  },
  'content-security-policy': {
    direction: 'response',
    meaning: 'On pages: nothing from other origins, and no scripts but those of `/explorer`.',
  },
  'referrer-policy': {
    direction: 'response',
    meaning: 'On pages: `no-referrer`, so that no token leaks through a link.',
  },
  'x-robots-tag': { direction: 'response', meaning: 'On pages: `noindex`.' },
  'content-digest': { direction: 'subgraph', meaning: 'The SHA-256 of the body (RFC 9530).' },
  'partner-loyalty-subgraph': {
    direction: 'subgraph',
    meaning: 'The name of the subgraph that the request is for.',
  },
  'partner-loyalty-scope': {
    direction: 'subgraph',
    meaning: 'Whose data the operation may see, or `kind=batch` if each operation has a scope.',
  },
  'partner-loyalty-protocol': {
    direction: 'response',
    meaning: 'From a subgraph that refuses the protocol of a request, with 503: the one it speaks.',
  },
  'signature-input': {
    direction: 'subgraph',
    meaning:
      'What the signature covers, when it was made, with which secret, and in which protocol (RFC 9421).',
  },
  signature: { direction: 'subgraph', meaning: 'HMAC-SHA256 over what `signature-input` lists.' },
} as const satisfies Record<string, HeaderRow>;
