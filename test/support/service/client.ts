// A client of the API as partners write one: real HTTP, one function to ask with.

export type Ask = {
  query?: unknown;
  variables?: unknown;
  operationName?: unknown;
  /** Sent as x-partner-api-key. */
  key?: string;
  /** Sent as a bearer token. */
  token?: string;
  requestId?: string;
  /** Added to the headers, or in place of them; undefined leaves one out. */
  headers?: Record<string, string | undefined>;
  method?: string;
  path?: string;
  /** In place of the JSON of query, variables and operationName. */
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
};

export type AnswerError = {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; requestId: string };
};

export type Answer = {
  status: number;
  headers: Headers;
  /** The body as it came. */
  text: string;
  /** The same as JSON; empty where it is none. */
  body: { data?: Record<string, unknown> | null; errors?: AnswerError[]; correctEndpoint?: string };
  /** The code of the first error. */
  code?: string;
};

export type Client = (ask: Ask) => Promise<Answer>;

/** A client of the service at `url`, an origin. `key` is sent where a call names no credential of its own. */
export function createClient(url: string, key?: string): Client {
  return async ({
    query,
    variables,
    operationName,
    method = 'POST',
    path = '/graphql',
    ...ask
  }) => {
    const own = ask.key ?? (ask.token === undefined ? key : undefined);
    const headers = Object.entries({
      'content-type': 'application/json',
      'x-partner-api-key': own,
      authorization: ask.token === undefined ? undefined : `Bearer ${ask.token}`,
      'x-request-id': ask.requestId,
      ...ask.headers,
    }).filter((header): header is [string, string] => header[1] !== undefined);
    const body = ask.body ?? JSON.stringify({ query, variables, operationName });
    const bodiless = method === 'GET' || method === 'HEAD';
    // Cast: fetch takes a stream where duplex is told, which its types do not know.
    const init = {
      method,
      headers,
      redirect: 'manual',
      duplex: 'half',
      ...(!bodiless && { body: asBytes(body) }),
    } as RequestInit;
    const response = await fetch(url + path, init);
    const text = await response.text();
    const parsed = parse(text);
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: parsed,
      code: parsed.errors?.[0]?.extensions?.code,
    };
  };
}

/** The headers of a budget, in both generations. */
export const BUDGET_HEADERS = [
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
];

/** The names of the budget's headers that an answer has. */
export function budgetHeaders({ headers }: Answer): string[] {
  return BUDGET_HEADERS.filter((name) => headers.has(name));
}

// A string would have fetch add a content-type of its own.
function asBytes(body: NonNullable<Ask['body']>): Exclude<NonNullable<Ask['body']>, string> {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function parse(text: string): Answer['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
