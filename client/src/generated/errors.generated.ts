// The service's error codes, generated from its table by `npm run generate`.

/**
 * Each code with the HTTP status of a request that fails with it, its reasons, and which requests
 * are sent again.
 */
export const SERVICE_CODES = {
  /**
   * The method on `/graphql` is neither GET nor POST, or it is GET and the operation is a mutation; or the method on `/mcp` is not POST. `Allow` has the methods that are.
   * HTTP status 405.
   */
  METHOD_NOT_ALLOWED: { status: 405, reasons: [], retry: 'never' },
  /**
   * The service has no such path, or `/mcp` no such method.
   * HTTP status 404.
   */
  NOT_FOUND: { status: 404, reasons: [], retry: 'never' },
  /**
   * The `content-type` is not `application/json`, its charset is not UTF-8, or the body is compressed.
   * HTTP status 415.
   */
  UNSUPPORTED_MEDIA_TYPE: { status: 415, reasons: [], retry: 'never' },
  /**
   * The body is larger than 64 KiB, with or without a `content-length`.
   * HTTP status 413.
   */
  PAYLOAD_TOO_LARGE: { status: 413, reasons: [], retry: 'never' },
  /**
   * The HTTP or the JSON is malformed, the body is not an object, `query` is not a string, `variables` is not an object, or it is unclear which operation to run. At `/mcp`: the message breaks a rule of the protocol.
   * HTTP status 400.
   */
  BAD_REQUEST: { status: 400, reasons: [], retry: 'never' },
  /**
   * The request has `extensions.persistedQuery` and no `query`. Clients with automatic persisted queries then send the query.
   * HTTP status 400.
   */
  PERSISTED_QUERY_NOT_SUPPORTED: { status: 400, reasons: [], retry: 'never' },
  /**
   * No credential is sent, or it is unknown, malformed, revoked or expired, or a key is used from an address that is not on its list. The message is the same in each case.
   * HTTP status 401.
   */
  UNAUTHENTICATED: { status: 401, reasons: [], retry: 'never' },
  /**
   * The operation contains `__schema` or `__type`, and no valid partner key is sent.
   * HTTP status 400.
   */
  INTROSPECTION_DISABLED: { status: 400, reasons: [], retry: 'never' },
  /**
   * A well-formed key is sent to the wrong environment; `correctEndpoint` is the right address.
   * HTTP status 403.
   */
  KEY_ENVIRONMENT_MISMATCH: { status: 403, reasons: [], retry: 'never' },
  /**
   * The partner of the key, or the one that holds the ID token, is suspended. Nothing else about the request is checked.
   * HTTP status 403.
   */
  PARTNER_SUSPENDED: { status: 403, reasons: [], retry: 'never' },
  /**
   * Both a partner key and a bearer token are sent.
   * HTTP status 400.
   */
  AMBIGUOUS_CREDENTIALS: { status: 400, reasons: [], retry: 'never' },
  /**
   * A root field needs a scope that the key does not have, or an ID token of an app is used for a mutation, or a field that only a sandbox has is asked of production: nothing ran (403). Or a token that a partner holds is used to change the address (200). Or a page whose origin `CORS_ORIGINS` does not list calls `/mcp` (403).
   * HTTP status 403.
   */
  FORBIDDEN: { status: 403, reasons: [], retry: 'never' },
  /**
   * The document has a syntax error.
   * HTTP status 400.
   */
  GRAPHQL_PARSE_FAILED: { status: 400, reasons: [], retry: 'never' },
  /**
   * The document is not valid in the caller's schema.
   * HTTP status 400.
   */
  GRAPHQL_VALIDATION_FAILED: { status: 400, reasons: [], retry: 'never' },
  /**
   * A variable has the wrong type (400), or an argument is empty, too long, or contains control characters or lone surrogates, or format characters, line separators, invisible characters or more than 4 marks on a character in a name (200). If a cursor of `events` is older than an event that was dropped, `extensions.reason` is `EXPIRED`.
   * HTTP status 400.
   */
  BAD_USER_INPUT: { status: 400, reasons: ["EXPIRED"], retry: 'never' },
  /**
   * The operation exceeds one of the limits, or its response is too large (400). Or what a field of it asks for is (200).
   * HTTP status 400.
   */
  OPERATION_TOO_COMPLEX: { status: 400, reasons: [], retry: 'never' },
  /**
   * The budget of the window is used up, or the client address sent too many requests without a valid credential; `Retry-After` says when the next window starts.
   * HTTP status 429.
   */
  RATE_LIMITED: { status: 429, reasons: [], retry: 'always' },
  /**
   * The look-up finds no member that the caller may see.
   * HTTP status 200.
   */
  MEMBER_NOT_FOUND: { status: 200, reasons: [], retry: 'never' },
  /**
   * The external ID is active for another member of this partner (`extensions.reason` is `TAKEN`), or this member is active with another external ID (`MEMBER_HAS_ANOTHER`).
   * HTTP status 200.
   */
  EXTERNAL_ID_CONFLICT: { status: 200, reasons: ["TAKEN","MEMBER_HAS_ANOTHER"], retry: 'never' },
  /**
   * The partner calls `enrollMember` but can only invite members. The response is the same for every address.
   * HTTP status 200.
   */
  CONSENT_REQUIRED: { status: 200, reasons: [], retry: 'never' },
  /**
   * A magic-link or change token is unknown, used, expired or another partner's.
   * HTTP status 200.
   */
  INVALID_TOKEN: { status: 200, reasons: [], retry: 'never' },
  /**
   * The new address is another member's current address, which is reported only after the caller has proved that they receive its mail; or the address to change to or to enroll is locked.
   * HTTP status 200.
   */
  EMAIL_IN_USE: { status: 200, reasons: [], retry: 'never' },
  /**
   * A part of the service is down or misses its deadline: 503 if every root field is null for this reason, otherwise 200.
   * HTTP status 503.
   */
  SERVICE_UNAVAILABLE: { status: 503, reasons: [], retry: 'repeatable' },
  /**
   * An unexpected error: 500 if every root field is null for this reason, otherwise 200.
   * HTTP status 500.
   */
  INTERNAL_SERVER_ERROR: { status: 500, reasons: [], retry: 'once' },
} as const;
