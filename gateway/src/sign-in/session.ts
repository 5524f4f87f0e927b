// The session of a signed-in member: its cookie, and calls of the API here with its token.
import type { ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { parse, serialize } from 'cookie';

export type ApiResponse<T> = {
  data?: T | null;
  errors?: { extensions: { code: ErrorCode } }[];
};

/** `request` is the one that is being handled: its id, address and abort signal pass through. */
export type CallApi = <T>(
  request: HttpRequest,
  idToken: string,
  query: string,
  variables: Record<string, unknown>,
) => Promise<ApiResponse<T>>;

export function createApiClient(graphql: (request: HttpRequest) => Promise<HttpResponse>): CallApi {
  return async (request, idToken, query, variables) => {
    const { address, requestId, signal } = request;
    const turn = () => request.turn();
    const body = Buffer.from(JSON.stringify({ query, variables }));
    const response = await graphql({
      method: 'POST',
      path: '/graphql',
      search: '',
      headers: {
        authorization: `Bearer ${idToken}`,
        'content-type': 'application/json',
      },
      address,
      requestId,
      signal,
      body: async () => body,
      // The page is in progress already.
      admit: turn,
      turn,
      reserve: (bytes) => request.reserve(bytes),
    });
    const text = String(response.body);
    response.observer?.ended(Buffer.byteLength(text), true);
    return JSON.parse(text);
  };
}

export type Sessions = {
  /** The member's ID token in the request's cookie. */
  read(request: Pick<HttpRequest, 'headers'>): string | undefined;
  /** Adds the cookie of a session; it goes when the browser is closed. */
  begin(response: HttpResponse, idToken: string): HttpResponse;
  end(response: HttpResponse): HttpResponse;
};

/** `__Host-` makes browsers refuse the cookie without TLS (RFC 6265bis, section 4.1.3). */
export function createSessions(isSecure: boolean): Sessions {
  const name = isSecure ? '__Host-session' : 'session';
  const attributes = {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure,
  } as const;
  const withCookie = (response: HttpResponse, value: string): HttpResponse => ({
    ...response,
    headers: { ...response.headers, 'set-cookie': value },
  });
  return {
    read({ headers }) {
      const cookies = headers.cookie;
      return cookies === undefined ? undefined : parse(cookies)[name];
    },
    begin: (response, idToken) => withCookie(response, serialize(name, idToken, attributes)),
    end: (response) => withCookie(response, serialize(name, '', { ...attributes, maxAge: 0 })),
  };
}
