// Every HTTP header that this project reads or sends, with its meaning, by the way it travels.
import type { IncomingHttpHeaders } from 'node:http';

type Direction = keyof typeof HEADERS;
export type HeaderName = { [D in Direction]: keyof (typeof HEADERS)[D] }[Direction];

/** The headers of a request as node:http reads them; code can only read those of the table. */
export type RequestHeaders = { readonly [Name in HeaderName]?: IncomingHttpHeaders[Name] };

/** The headers of a response; code can only send those of the table. A list is sent as several. */
export type ResponseHeaders = { [Name in Exclude<HeaderName, 'set-cookie'>]?: string } & {
  'set-cookie'?: string | readonly string[];
};

/**
 * The headers of `subgraph` travel from the gateway to a subgraph in another process, never to or
 * from a client. node:http adds `date`, `keep-alive` and `transfer-encoding` on its own.
 */
export const HEADERS = {
  request: {
    'x-partner-api-key': "A partner's key: the credential of the partner surface.",
    'x-api-key': 'An MCP key: the credential of `/mcp`, which no other path reads.',
    'mcp-protocol-version':
      'At `/mcp`: the revision of the protocol that the client speaks, such as 2026-07-28.',
    'mcp-method': 'At `/mcp`: repeats the `method` of the body; refused if they differ.',
    'mcp-name': 'At `/mcp`: repeats the name of the tool; refused if they differ.',
    authorization:
      "`Bearer` and an ID or access token: the credential of the member surface; at `/oauth/`, `Basic` and an app's secret.",
    host: 'Required in HTTP/1.1.',
    expect:
      '`100-continue` is answered with 100 before the body is read; anything else is ignored.',
    accept:
      'Chooses between `application/json` and `application/graphql-response+json`; `text/html` gets the pages.',
    'accept-encoding': 'Whether a page may be compressed with `br` or `gzip`.',
    'if-none-match':
      'The ETags that a browser has; the response is 304 if the page is still the same.',
    'x-sandbox-now':
      'In a sandbox: a time in RFC 3339, which standings, tiers and years are read as of.',
    'x-sandbox-fault':
      'In a sandbox: the fault to answer with, `rate-limited`, `unavailable`, `timeout` or `error`.',
    traceparent:
      'The trace that the request belongs to (W3C Trace Context). A malformed one is ignored.',
    tracestate: 'What tracing systems add to `traceparent`; passed on.',
    'x-forwarded-for': "The client's address, trusted only if it comes from TRUSTED_PROXIES.",
    origin:
      'The origin of the calling page, compared with CORS_ORIGINS and the registered apps; if a form is sent, with the base URL.',
    'sec-fetch-site':
      "`same-origin` if a form comes from the service's own page; no other value is accepted.",
    cookie:
      'The session of a member on `/account` and `/oauth/`, or of staff, and the browser that sends a form; the API reads none.',
    'accept-language': 'Chooses the language of the pages for members: English or German.',
    'user-agent': 'Names the browser in the list of sessions on `/account`.',
    'sec-fetch-mode':
      '`navigate` if a browser sends a form, which is then redirected to its result.',
    'access-control-request-method':
      'The method that a browser asks to use, in a preflight request.',
    'access-control-request-headers':
      'The headers that a browser asks to send, in a preflight request.',
  },
  response: {
    etag: 'Identifies the content of a page.',
    'set-cookie':
      'Begins or ends the session of a member, or a sign-in; recognizes a browser that was shown a form.',
    location: 'Where a browser finds the result of a form, or the app that it came from.',
    'access-control-allow-origin':
      'The origin, if CORS_ORIGINS lists it or a registered app has it.',
    'access-control-allow-methods':
      'In response to a preflight from such an origin: the methods that a page may use.',
    'access-control-allow-headers': 'The request headers that a browser may send.',
    'access-control-expose-headers': 'The response headers that a page may read.',
    'access-control-max-age': 'How many seconds a browser may cache the response to a preflight.',
    vary: 'The request headers that the response depends on.',
    allow: 'The methods that the path supports, with 405.',
    'retry-after': 'Seconds until the caller may try again, with 429 and 503.',
    'www-authenticate': 'With 401: `Bearer`, at `/mcp` `ApiKey`, at `/oauth/token` `Basic`.',
    'ratelimit-limit': 'The budget of the window.',
    'ratelimit-remaining': 'What is left of the budget.',
    'ratelimit-reset': 'Seconds until the window ends.',
    ratelimit: 'The newer form, `"key";r=…;t=…`: what is left, and seconds until the window ends.',
    'ratelimit-policy': 'The newer form, `"key";q=…;w=…`: the budget, and the window in seconds.',
    deprecation:
      'The day on which something that the operation uses was deprecated: `@` and seconds since 1970 (RFC 9745).',
    sunset: 'The day until which it is kept (RFC 8594).',
    link: 'With these two: the changelog, as `rel="deprecation"` and `rel="sunset"`.',
    'x-content-type-options': '`nosniff`, on every response.',
    'cache-control':
      "`no-store`, on every response but public pages, their parts and the identity provider's documents.",
    'content-security-policy':
      "On pages: nothing from other origins, and no scripts but the service's own.",
    'cross-origin-opener-policy': "On the console's pages: `same-origin`.",
    'referrer-policy':
      'On pages: `same-origin`, or `no-referrer` if the URL has a token, so that none leaks through a link.',
    'x-robots-tag': 'On pages: `noindex`.',
    'partner-loyalty-protocol':
      'From a subgraph that refuses the protocol of a request, with 503: the one it speaks.',
  },
  both: {
    connection: '`close` ends the connection after the response.',
    'content-type': '`application/json` in a request; the media type of the body in a response.',
    'content-encoding':
      'Absent or `identity` in a request: compressed bodies are refused. `br` or `gzip` on a page.',
    'content-length': 'The length of the body in bytes; more than 65536 is refused unread.',
    'x-request-id':
      "Identifies the request: the caller's ID if it is 1 to 128 characters of `[A-Za-z0-9._-]` without a key or token, otherwise a new one.",
  },
  subgraph: {
    'content-digest': 'The SHA-256 of the body (RFC 9530).',
    'partner-loyalty-subgraph': 'The name of the subgraph that the request is for.',
    'partner-loyalty-scope':
      'Whose data the operation may see, or `kind=batch` if each operation has a scope.',
    'signature-input':
      'What the signature covers, when it was made, with which secret, and in which protocol (RFC 9421).',
    signature: 'HMAC-SHA256 over what `signature-input` lists.',
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>;
