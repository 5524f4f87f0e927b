// Forms of the service's own pages: whether one of our pages sends one, and from which browser.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { KeyStore } from '../identity/keystore.ts';
import { createOnce, type SentForm } from '../identity/outcomes.ts';

/** The name of the cookie that recognizes a browser, and of the field that is bound to it. */
export const FORM_COOKIE = 'form';
/** Removes the cookie. */
const REMOVED = /^(?:__Host-)?form=;/;
const COOKIE_MS = 30 * 24 * 3_600_000;
/** The HTML of a form. What people typed is in no page unescaped. */
export const POSTING = /<form [^>]*method="post"[^>]*>/g;

export type Forms = ReturnType<typeof createForms>;

/** `baseUrl` is where browsers find the service. */
export function createForms(baseUrl: string, keyStore: Pick<KeyStore, 'staffTables'>) {
  const cookies = createCookies(baseUrl);
  const { origin: own, protocol } = new URL(baseUrl);

  function secretOf(request: HttpRequest): string | undefined {
    const held = cookies.read(request, FORM_COOKIE);
    return /^[\w-]{43}$/.test(held) ? held : undefined;
  }

  return {
    /** Whether the headers say that one of our pages sends a form; undefined if they do not say. */
    isAccepted({ headers }: HttpRequest): boolean | undefined {
      const { 'sec-fetch-site': site, origin = 'null', host } = headers;
      if (site !== undefined) return site === 'same-origin';
      if (origin === 'null') return undefined;
      return origin === own || (protocol === 'http:' && origin === `http://${host}`);
    },

    /** Undefined unless the form was on a page of this browser. */
    sent(request: HttpRequest, form: URLSearchParams): SentForm | undefined {
      const secret = secretOf(request);
      const token = form.get(FORM_COOKIE) ?? '';
      if (secret === undefined) return undefined;
      const expected = tokenOf(secret, token.split('.', 1)[0]);
      if (!timingSafeEqual(macOf(secret, token), macOf(secret, expected))) return undefined;
      // Includes what was typed: a form that was corrected is another one.
      return requestOf(request, secret, `${form}`);
    },

    /** A GET that changes something. Undefined if the browser has seen no form of ours. */
    followed(request: HttpRequest): SentForm | undefined {
      const secret = secretOf(request);
      return secret === undefined ? undefined : requestOf(request, secret, 'GET');
    },

    once: createOnce(async () => (await keyStore.staffTables()).outcomes),

    /** A page whose forms are bound to the browser, which gets the cookie with its first one. */
    bound(request: HttpRequest, response: HttpResponse): HttpResponse {
      const { body, headers } = response;
      const isRemoved = [headers['set-cookie'] ?? []].flat().some((each) => REMOVED.test(each));
      const held = isRemoved ? undefined : secretOf(request);
      if (typeof body !== 'string' || body.search(POSTING) === -1) return response;
      if (held === undefined && request.method === 'POST' && !isRemoved) return response;
      const secret = held ?? randomBytes(32).toString('base64url');
      const token = tokenOf(secret, randomBytes(16).toString('base64url'));
      const field = `$&<input type="hidden" name="${FORM_COOKIE}" value="${token}">`;
      const set = [headers['set-cookie'] ?? [], cookies.write(FORM_COOKIE, secret, COOKIE_MS)];
      return {
        ...response,
        headers: held === undefined ? { ...headers, 'set-cookie': set.flat() } : headers,
        body: body.replaceAll(POSTING, field),
      };
    },
  };
}

function requestOf(
  { path, search, address, person }: HttpRequest,
  secret: string,
  body: string,
): SentForm {
  const content = `${path}${search}\n${body}`;
  const formId = macOf(secret, `id ${content}`).toString('hex');
  const key = macOf(secret, `key ${content}`).toString('base64');
  const client = person ?? addressBlock(address);
  return { formId, key, client, isSignedIn: person !== undefined };
}

/** The ID of a page's forms, and proof that they are for the browser. */
function tokenOf(secret: string, id = ''): string {
  return `${id}.${macOf(secret, `form ${id}`).toString('base64url')}`;
}

function macOf(secret: string, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

export type Cookies = ReturnType<typeof createCookies>;

/**
 * The gateway's cookies, which browsers send only to this host. `__Host-` makes browsers refuse a
 * cookie without TLS (RFC 6265bis, section 4.1.3).
 */
export function createCookies(baseUrl: string) {
  const isSecure = baseUrl.startsWith('https:');
  const nameOf = (name: string) => (isSecure ? `__Host-${name}` : name);
  return {
    /** What the browser holds; empty if it is nothing. */
    read({ headers }: Pick<HttpRequest, 'headers'>, name: string): string {
      const wanted = `${nameOf(name)}=`;
      const pairs = headers.cookie?.split(';').map((pair) => pair.trim()) ?? [];
      return pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) ?? '';
    },
    /** A value for `set-cookie`; without a lifetime it removes the cookie. */
    write(name: string, value: string, lifetimeMs = 0): string {
      const maxAge = Math.floor(lifetimeMs / 1_000);
      const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`;
      return `${nameOf(name)}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`;
    },
  };
}
