// The session of a signed-in member in a cookie, so that the profile page can be reloaded.

import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { parse, serialize } from 'cookie';

export type Sessions = {
  /** The member's ID token in the request's cookie. */
  read(request: Pick<HttpRequest, 'headers'>): string | undefined;
  /** Adds the cookie of a session; it goes when the browser is closed. */
  begin(response: HttpResponse, idToken: string): HttpResponse;
  /** Takes the cookie away. */
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
