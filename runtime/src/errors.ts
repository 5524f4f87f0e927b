// The error codes that callers branch on, one row each, with status and message.

export type ErrorRow = {
  status: number;
  message: string;
  when: string;
  /** What `extensions.reason` can be, if it has one. */
  reasons?: readonly string[];
  /** The subgraphs of this repository whose errors have the code. */
  subgraphs?: readonly string[];
  /**
   * Which requests to send again: all, or those that are safe to repeat, until a deadline or once
   * (docs/callers/guides/errors-and-retries.md). None if it is missing.
   */
  retry?: 'always' | 'repeatable' | 'once';
};

/**
 * Every `extensions.code` of this API (docs/callers/errors.md). `status` is the HTTP status,
 * `message` the text that callers read, `when` the text of the documentation.
 */
export const ERRORS = {
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'this method is not allowed here',
    when: 'The method on `/graphql` is neither GET nor POST, or it is GET and the operation is a mutation; or the method on `/mcp` is not POST. `Allow` has the methods that are.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'no such path',
    when: 'The service has no such path, or `/mcp` no such method.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'the content-type must be application/json',
    when: 'The `content-type` is not `application/json`, its charset is not UTF-8, or the body is compressed.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'the body is larger than 64 KiB',
    when: 'The body is larger than 64 KiB, with or without a `content-length`.',
  },
  BAD_REQUEST: {
    status: 400,
    message: 'the request is malformed',
    when: 'The HTTP or the JSON is malformed, the body is not an object, `query` is not a string, `variables` is not an object, or it is unclear which operation to run. At `/mcp`: the message breaks a rule of the protocol.',
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    status: 400,
    message: 'PersistedQueryNotSupported',
    when: 'The request has `extensions.persistedQuery` and no `query`. Clients with automatic persisted queries then send the query.',
  },
  UNAUTHENTICATED: {
    status: 401,
    message:
      'send a valid partner key as x-partner-api-key, or an ID token as authorization: Bearer',
    when: 'No credential is sent, or it is unknown, malformed, revoked or expired, or a key is used from an address that is not on its list. The message is the same in each case.',
  },
  INTROSPECTION_DISABLED: {
    status: 400,
    message: 'introspection needs a valid x-partner-api-key',
    when: 'The operation contains `__schema` or `__type`, and no valid partner key is sent.',
  },
  KEY_ENVIRONMENT_MISMATCH: {
    status: 403,
    message: 'this key belongs to the other environment',
    when: 'A well-formed key is sent to the wrong environment; `correctEndpoint` is the right address.',
  },
  PARTNER_SUSPENDED: {
    status: 403,
    message: 'this partner is suspended',
    when: 'The partner of the key, or the one that holds the ID token, is [suspended](keys.md#suspended-partners). Nothing else about the request is checked.',
  },
  AMBIGUOUS_CREDENTIALS: {
    status: 400,
    message: 'send either x-partner-api-key or a bearer token, not both',
    when: 'Both a partner key and a bearer token are sent.',
  },
  FORBIDDEN: {
    status: 403,
    message: 'this key lacks a scope that the operation needs',
    when: 'A root field needs a [scope](keys.md#scopes) that the key does not have, or an ID token of an [app](openid.md#apps) is used for a mutation, or a field that only a sandbox has is asked of production: nothing ran (403). Or a [token that a partner holds](openid.md#member-tokens) is used to change the address (200). Or a page whose origin `CORS_ORIGINS` does not list calls [`/mcp`](mcp.md) (403).',
    subgraphs: ['members'],
  },
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    message: 'the document has a syntax error',
    when: 'The document has a syntax error.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    message: 'the document does not fit the schema',
    when: "The document is not valid in the caller's schema.",
  },
  BAD_USER_INPUT: {
    status: 400,
    message: 'an argument has an unusable value',
    when: 'A variable has the wrong type (400), or an argument is empty, too long, or contains control characters or lone surrogates, or format characters, line separators, invisible characters or more than 4 marks on a character in a name (200). If a cursor of `events` is older than an event that was dropped, `extensions.reason` is `EXPIRED`.',
    reasons: ['EXPIRED'],
    subgraphs: ['members', 'standings'],
  },
  OPERATION_TOO_COMPLEX: {
    status: 400,
    message: 'the operation asks for too much',
    when: 'The operation exceeds one of the [limits](limits.md#limits-of-an-operation), or its response is too large (400). Or what a field of it asks for is (200).',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'the budget is used up',
    when: 'The budget of the window is used up, or the client address sent too many requests without a [valid credential](limits.md#budget); `Retry-After` says when the next window starts.',
    retry: 'always',
  },
  MEMBER_NOT_FOUND: {
    status: 200,
    message: 'member not found',
    when: 'The look-up finds no member that the caller may see.',
    subgraphs: ['members'],
  },
  EXTERNAL_ID_CONFLICT: {
    status: 200,
    message: 'the external ID conflicts with another enrollment',
    when: 'The external ID is active for another member of this partner (`extensions.reason` is `TAKEN`), or this member is active with another external ID (`MEMBER_HAS_ANOTHER`).',
    reasons: ['TAKEN', 'MEMBER_HAS_ANOTHER'],
    subgraphs: ['members'],
  },
  CONSENT_REQUIRED: {
    status: 200,
    message: 'this partner enrolls by invitation only: use inviteMember',
    when: 'The partner calls `enrollMember` but can only invite members. The response is the same for every address.',
    subgraphs: ['members'],
  },
  INVALID_TOKEN: {
    status: 200,
    message: 'the token is not valid',
    when: "A magic-link or change token is unknown, used, expired or another partner's.",
    subgraphs: ['members'],
  },
  EMAIL_IN_USE: {
    status: 200,
    message: 'the address belongs to another member',
    when: "The new address is another member's current address, which is reported only after the caller has proved that they receive its mail; or the address to change to or to enroll is locked.",
    subgraphs: ['members'],
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'the service is unavailable for the moment',
    when: 'A part of the service is down or misses its deadline: 503 if every root field is null for this reason, otherwise 200.',
    retry: 'repeatable',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    message: 'something went wrong on our side',
    when: 'An unexpected error: 500 if every root field is null for this reason, otherwise 200.',
    retry: 'once',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** What the `extensions` of some errors have beside the code. */
export type ErrorDetails = {
  /** The path of the argument at fault, such as `input.email` or `keys.3`. */
  argument?: string | undefined;
  /** Which of the causes of a code it is, in capitals. */
  reason?: string | undefined;
  /** In how many seconds to try again. */
  retryAfter?: number | undefined;
};

type ApiErrorOptions = ErrorOptions & ErrorDetails & { status?: number };

/**
 * An expected error with a code from the table. Its message and details are safe to show to the
 * caller; `cause` goes to the log only. One that callers cause has no stack: nobody would read it,
 * and writing it takes longer than a look-up.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** The status of the code, unless the error has another. */
  readonly status: number;
  readonly details: ErrorDetails;
  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].message,
    { cause, status = ERRORS[code].status, ...details }: ApiErrorOptions = {},
  ) {
    const { stackTraceLimit } = Error;
    if (status < 500) Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

/**
 * Throws the ApiError of a code. `message` replaces the message from the table and must not mention
 * anything internal.
 */
export function fail(code: ErrorCode, message?: string, options?: ApiErrorOptions): never {
  throw new ApiError(code, message, options);
}

/** Throws BAD_USER_INPUT for the argument at a path: `input.email` `is empty`. */
export function failInput(argument: string, what: string): never {
  return fail('BAD_USER_INPUT', `${argument} ${what}`, { argument });
}

/**
 * The extensions of an error in a response. One that passes has `retryAfter`, as the header
 * `Retry-After` of the response has it: 1 if nothing says how long it takes.
 */
export function extensionsOf(
  code: string,
  requestId: string,
  { retryAfter = 1, ...details }: ErrorDetails = {},
) {
  const passes = code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE';
  return { code, requestId, ...(passes && { retryAfter }), ...details };
}

const OWN_CODE = /^[A-Z][A-Z0-9_]{0,63}$/;
const ARGUMENT = /^\w{1,128}(?:\.\w{1,128}){0,9}$/;

/** The details in the extensions of an error from elsewhere; what does not look like one is not. */
export function detailsIn({ argument, reason }: Record<string, unknown>): ErrorDetails {
  return {
    ...(typeof argument === 'string' && ARGUMENT.test(argument) && { argument }),
    ...(typeof reason === 'string' && OWN_CODE.test(reason) && { reason }),
  };
}

/**
 * Whether errors of a subgraph may have a code that callers get to see: a code of its own, or one
 * that subgraphs of this repository share. What the gateway itself decides is never among them.
 */
export function isSubgraphCode(code: string): boolean {
  return isErrorCode(code) ? 'subgraphs' in ERRORS[code] : OWN_CODE.test(code);
}

/** Whether the error is one of this side: no caller can avoid it. */
export function isServerError(code: string | undefined): boolean {
  return isErrorCode(code) && ERRORS[code].status >= 500;
}

/** Whether a value is a code from the table. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}
