// An HTTP client of the API, as a partner would write one, and what no response to it may contain.
export type ApiRequest = {
  query?: unknown;
  variables?: unknown;
  operationName?: unknown;
  /** Sent as x-partner-api-key. */
  key?: string | undefined;
  /** Sent as a bearer token. */
  token?: string | undefined;
  requestId?: string;
  /** Added to the headers, or replacing them; undefined omits one. */
  headers?: Record<string, string | undefined>;
  method?: string;
  path?: string;
  /** Replaces the JSON of query, variables and operationName. */
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
};

export type ResponseError = {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; requestId: string; retryAfter?: number };
};

export type ApiResponse = {
  status: number;
  headers: Headers;
  /** The body as received. */
  text: string;
  /** The body as JSON, or empty if it is not JSON. */
  body: {
    data?: Record<string, unknown> | null;
    errors?: ResponseError[];
    correctEndpoint?: string;
  };
  /** The code of the first error. */
  code?: string | undefined;
};

export type Client = (request: ApiRequest) => Promise<ApiResponse>;

/** A client of the service at `url`, an origin. It sends `key` if a request has no credential. */
export function createClient(url: string, key?: string): Client {
  return async ({
    query,
    variables,
    operationName,
    method = 'POST',
    path = '/graphql',
    ...request
  }) => {
    const partnerKey = request.key ?? (request.token === undefined ? key : undefined);
    const headers = Object.entries({
      'content-type': 'application/json',
      'x-partner-api-key': partnerKey,
      authorization: request.token === undefined ? undefined : `Bearer ${request.token}`,
      'x-request-id': request.requestId,
      ...request.headers,
    }).filter((header): header is [string, string] => header[1] !== undefined);
    const body = request.body ?? JSON.stringify({ query, variables, operationName });
    const hasBody = method !== 'GET' && method !== 'HEAD';
    // Cast: fetch needs duplex to send a stream, but its types do not have it.
    const init = {
      method,
      headers,
      redirect: 'manual',
      duplex: 'half',
      ...(hasBody && { body: asBytes(body) }),
    } as RequestInit;
    const response = await fetch(url + path, init);
    const text = await response.text();
    const parsed = parse(text);
    requireRetryAfter(response, parsed);
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: parsed,
      code: parsed.errors?.[0]?.extensions?.code,
    };
  };
}

const PASSING = ['RATE_LIMITED', 'SERVICE_UNAVAILABLE'];

/** Throws unless errors that pass, and no others, say after how many seconds to try again. */
function requireRetryAfter({ status, headers }: Response, { errors }: ApiResponse['body']): void {
  if (!Array.isArray(errors)) return;
  const seconds = status === 200 ? 1 : Number(headers.get('retry-after'));
  for (const { extensions: { code = '', retryAfter } = {} } of errors as Partial<ResponseError>[])
    if (retryAfter !== (PASSING.includes(code) ? seconds : undefined) || retryAfter === 0)
      throw new Error(`${status} ${code} has the retryAfter ${retryAfter}, and not ${seconds}`);
}

/** The headers that report a budget, in both generations. */
export const BUDGET_HEADERS = [
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
];

/** The names of the budget headers in a response. */
export function budgetHeaders({ headers }: ApiResponse): string[] {
  return BUDGET_HEADERS.filter((name) => headers.has(name));
}

// For a string, fetch would add a content-type.
function asBytes(
  body: NonNullable<ApiRequest['body']>,
): Exclude<NonNullable<ApiRequest['body']>, string> {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function parse(text: string): ApiResponse['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const LEAKS: Record<string, RegExp> = {
  'a stack trace': /\n\s+at |\.[cm]?[jt]s:\d|node:internal|node_modules/,
  // Fields have the names `members` and `standings`, in quotes.
  'the name of a subgraph': /(?<!")\b(?:members|standings)\b|subgraph/i,
  'the name of an engine': /mongo|lmdb|redis|documentdb|postgres|apollo|undici/i,
  'an internal field': /activePartnerIds|_entities|_service|join__|@tag|signingKeys/,
};

/** The leaks in a response, by name. */
export function leaksIn(text: string): string[] {
  return Object.entries(LEAKS).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));
}
