// The gateway's own cookies, which browsers send only to this host.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';

export type Cookies = {
  /** What the browser holds; empty if it is nothing. */
  read(request: Pick<HttpRequest, 'headers'>, name: string): string;
  /** A value for `set-cookie`; without a lifetime it removes the cookie. */
  write(name: string, value: string, lifetimeMs?: number): string;
};

/** `__Host-` makes browsers refuse a cookie without TLS (RFC 6265bis, section 4.1.3). */
export function createCookies(baseUrl: string): Cookies {
  const isSecure = baseUrl.startsWith('https:');
  const nameOf = (name: string) => (isSecure ? `__Host-${name}` : name);
  return {
    read({ headers }, name) {
      const wanted = `${nameOf(name)}=`;
      const pairs = headers.cookie?.split(';').map((pair) => pair.trim()) ?? [];
      return pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) ?? '';
    },
    write(name, value, lifetimeMs = 0) {
      const maxAge = Math.floor(lifetimeMs / 1_000);
      const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`;
      return `${nameOf(name)}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`;
    },
  };
}
