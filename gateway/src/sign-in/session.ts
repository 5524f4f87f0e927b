// The session of a signed-in member in a cookie, so that the profile page can be reloaded.
import type { HttpReply } from '@partner-loyalty/runtime/http/reply.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { parse, serialize } from 'cookie';

export type Sessions = {
  /** The member's ID token in the request's cookie. */
  read(request: Pick<HttpRequest, 'headers'>): string | undefined;
  /** Adds the cookie of a session; it goes when the browser is closed. */
  begin(reply: HttpReply, idToken: string): HttpReply;
  /** Takes the cookie away. */
  end(reply: HttpReply): HttpReply;
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
  const withCookie = (reply: HttpReply, value: string): HttpReply => ({
    ...reply,
    headers: { ...reply.headers, 'set-cookie': value },
  });
  return {
    read({ headers }) {
      const cookies = headers.cookie;
      return cookies === undefined ? undefined : parse(cookies)[name];
    },
    begin: (reply, idToken) => withCookie(reply, serialize(name, idToken, attributes)),
    end: (reply) => withCookie(reply, serialize(name, '', { ...attributes, maxAge: 0 })),
  };
}
