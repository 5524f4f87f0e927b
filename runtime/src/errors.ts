// The error codes callers branch on: one row each, the only place where a code, its status and its text stand.

export type ErrorRow = { status: number; message: string; when: string };

/** Every `extensions.code` this API answers with (contract, section 1). `status` is the HTTP status, `message` the text a client reads. */
export const ERRORS = {
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'only POST is allowed here',
    when: 'The method on `/graphql` is not POST.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'no such path',
    when: 'The path is not one this service has.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'the content-type has to be application/json',
    when: 'The `content-type` is not `application/json`, its charset is not UTF-8, or the body is compressed.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'the body is larger than 64 KiB',
    when: 'The body is over 64 KiB, with or without a `content-length`.',
  },
  BAD_REQUEST: {
    status: 400,
    message: 'the request is malformed',
    when: 'Malformed HTTP or JSON, no `query` string, `variables` that are no object, a JSON array, or an operation that cannot be picked.',
  },
  UNAUTHENTICATED: {
    status: 401,
    message: 'a valid credential is needed',
    when: 'No credential, or one that is unknown, malformed, revoked or expired: one and the same message.',
  },
  INTROSPECTION_DISABLED: {
    status: 400,
    message: 'introspection needs a valid x-partner-api-key',
    when: '`__schema` or `__type` anywhere in the operation, without a valid partner key.',
  },
  KEY_ENVIRONMENT_MISMATCH: {
    status: 403,
    message: 'this key belongs to the other environment',
    when: 'A well-formed key is sent to the wrong environment; `correctEndpoint` names the right address.',
  },
  AMBIGUOUS_CREDENTIALS: {
    status: 400,
    message: 'send either x-partner-api-key or a bearer token, not both',
    when: 'Both a partner key and a bearer token are sent.',
  },
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    message: 'the document has a syntax error',
    when: 'The document is not GraphQL.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    message: 'the document does not fit the schema',
    when: "The document does not fit the caller's schema.",
  },
  BAD_USER_INPUT: {
    status: 400,
    message: 'an argument is not usable',
    when: 'A variable of the wrong type (400); an argument that is empty, over-long or holds control characters or lone surrogates (200).',
  },
  OPERATION_TOO_COMPLEX: {
    status: 400,
    message: 'the operation asks for too much',
    when: 'The operation passes a limit on tokens, root fields, depth, selections or introspection.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'the budget is used up',
    when: 'The budget of the window is used up; `Retry-After` says when the next one starts.',
  },
  MEMBER_NOT_FOUND: {
    status: 200,
    message: 'member not found',
    when: 'A look-up does not resolve to a member the caller may see.',
  },
  EXTERNAL_ID_CONFLICT: {
    status: 200,
    message: 'the external ID conflicts with another enrollment',
    when: 'The external ID is active for another member of this partner, or this member is active with another one.',
  },
  INVALID_TOKEN: {
    status: 200,
    message: 'the token is not valid',
    when: "A magic-link or change token is unknown, used, expired or another partner's; or an ID token that a partner exchanged is to change the address.",
  },
  EMAIL_IN_USE: {
    status: 200,
    message: 'the address belongs to another member',
    when: "The new address is another member's current one; said only after the proof.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'the service is unavailable for the moment',
    when: 'A part of the service is down or slower than its deadline: 503 when every root field is null for it, else 200.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    message: 'something went wrong on our side',
    when: 'Anything unforeseen: 500 when every root field is null for it, else 200.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected failure with a code of the table; its message is safe to show to the caller. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string = ERRORS[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Throws the Failure of a code. `message` replaces the table's text and must name nothing internal; `cause` is for the log alone. */
export function fail(code: ErrorCode, message?: string, cause?: unknown): never {
  throw new ApiError(code, message, cause === undefined ? undefined : { cause });
}

/** Whether a string is a code of the table. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}
